import { channel } from 'node:diagnostics_channel';

/**
 * Points of a rebuild and of a registration between which the process may die, in their order. Whoever dies right
 * after one of them must find everything acknowledged, and a whole version, at the next start.
 */
export type StepName =
  | 'rebuild.texts_embedded'
  | 'rebuild.vectors_stored'
  | 'rebuild.build_started'
  | 'rebuild.graph_built'
  | 'rebuild.files_written'
  | 'rebuild.sidecar_written'
  | 'rebuild.loaded'
  | 'rebuild.checked'
  | 'rebuild.renamed'
  | 'rebuild.swapped'
  | 'register.admitted'
  | 'register.prepared'
  | 'register.committed'
  | 'register.applied';

/**
 * Every fact that a room publishes about its own work, by name. telemetry/ listens, no room imports it; publishing
 * costs one property read while nobody listens.
 */
export interface DiagnosticEvents {
  /** One answered HTTP request. `route` is the pattern, never the raw path, so that label sets stay bounded. */
  'http.request': { method: string; route: string; status: number; durationMs: number };
  /** One routed intent. Stages are milliseconds; a stage that did not run is absent. */
  'route.decided': {
    decision: 'route' | 'queue' | 'no_match' | 'multi_intent';
    reason: string | null;
    matchedBy: string | null;
    /** Of the best found by meaning; null or absent where nothing was searched. */
    relevance?: number | null;
    cache: 'hit' | 'miss' | 'coalesced' | 'bypass';
    degraded: boolean;
    /** Asked to measure, by no caller who wants work done. */
    isProbe?: boolean;
    stages: Readonly<Record<string, number>>;
    totalMs: number;
  };
  /** One text held against the rules: answers from the cache of meanings are not. `tried` counts rules looked at closely. */
  'rules.evaluated': { tried: number; outcome: 'capability' | 'deny' | 'none' };
  /** A decision about a sensitive capability is stored. */
  'audit.recorded': { outcome: 'reached' | 'scope_required' | 'near_miss' };
  /** What is asked is no longer what was asked the week before: a stability index over 0.25. */
  'route.drifted': {
    window: 'hour' | 'day';
    of: 'relevance' | 'no_match';
    index: number;
    noMatchShare: number | null;
    noMatchShareBefore: number | null;
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
  /** `lines` name what failed a check: golden lines, or texts that the new index does not find. */
  'index.failed': { why: string; reason: string; check?: string; lines?: readonly string[] };
  /** The golden set asked of the version that serves now. */
  'index.golden': { right: number; wrong: number };
  /** A version of before was put to work again. */
  'index.rolled_back': { version: string; by: string };
  /** One step of work that a crash must not spoil; published after the step, on the main thread. */
  step: { name: StepName };
  /** Somebody gave strategies, or looked for new ones: what became of it, and what is in force now. */
  'strategies.reloaded': {
    result: 'applied' | 'unchanged' | 'shadowed' | 'refused';
    why: 'start' | 'watch' | 'signal' | 'asked' | 'put' | 'removed' | 'adopted';
    version: string;
    source: 'config' | 'file' | 'api';
    reason: string | null;
  };
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
