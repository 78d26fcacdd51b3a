import { channel } from 'node:diagnostics_channel';

/**
 * Every fact that a room publishes about its own work, by name. telemetry/ listens, no room imports it; publishing
 * costs one property read while nobody listens.
 */
export interface DiagnosticEvents {
  /** One answered HTTP request. `route` is the pattern, never the raw path, so that label sets stay bounded. */
  'http.request': { method: string; route: string; status: number; durationMs: number };
  /** One routed intent. Stages are milliseconds; a stage that did not run is absent. */
  'route.decided': {
    decision: 'route' | 'queue' | 'no_match';
    reason: string | null;
    matchedBy: string | null;
    cache: 'hit' | 'miss' | 'coalesced' | 'bypass';
    degraded: boolean;
    stages: Readonly<Record<string, number>>;
    totalMs: number;
  };
  'embedding.batch': { texts: number; durationMs: number; waiting: number };
  'embedding.state': { state: 'starting' | 'ready' | 'degraded' | 'stopped'; reason: string | null };
  'index.version': {
    version: string;
    count: number;
    why: string;
    embedded: number;
    reused: number;
    durationMs: number;
  };
  'index.failed': { why: string; reason: string };
  'agent.changed': { agentId: string; change: string; state: string };
  log: { level: 'debug' | 'info' | 'warn' | 'error'; message: string; fields?: Readonly<Record<string, unknown>> };
}

export type DiagnosticName = keyof DiagnosticEvents;

const PREFIX = 'agent-reach:';
const channels = new Map<string, ReturnType<typeof channel>>();

function channelOf(name: DiagnosticName): ReturnType<typeof channel> {
  let found = channels.get(name);
  if (found === undefined) {
    found = channel(PREFIX + name);
    channels.set(name, found);
  }
  return found;
}

export function publish<Name extends DiagnosticName>(name: Name, event: DiagnosticEvents[Name]): void {
  const target = channelOf(name);
  if (target.hasSubscribers) target.publish(event);
}

/** Listens until the returned function is called. A listener must not throw. */
export function subscribe<Name extends DiagnosticName>(
  name: Name,
  listener: (event: DiagnosticEvents[Name]) => void,
): () => void {
  const target = channelOf(name);
  const wrapped = (message: unknown): void => listener(message as DiagnosticEvents[Name]);
  target.subscribe(wrapped);
  return () => {
    target.unsubscribe(wrapped);
  };
}

export function log(
  level: DiagnosticEvents['log']['level'],
  message: string,
  fields?: Readonly<Record<string, unknown>>,
): void {
  publish('log', fields === undefined ? { level, message } : { level, message, fields });
}
