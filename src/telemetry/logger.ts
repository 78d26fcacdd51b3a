/**
 * Structured log lines from the `log` channel and from changes of state. Written to stderr as JSON, one a line:
 * stdout belongs to the answers of commands. Fields that hold secrets are redacted. Written at once, so that a crash loses no line.
 */
import { type DestinationStream, destination, pino } from 'pino';
import { subscribe } from '../core/index.ts';
import { REDACTED_PATHS } from './attributes.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LoggerOptions {
  /** Lines under this level are not written; `silent` writes none. */
  readonly level: LogLevel;
  /** On every line. */
  readonly version?: string;
  /** Default stderr. */
  readonly stream?: DestinationStream;
}

/** A full disk behind stderr, or a terminal that closed, costs log lines, never the service. */
function standardError(): DestinationStream {
  const stream = destination({ dest: 2, sync: true });
  stream.on('error', () => {});
  return stream;
}

/** Listens until the returned function is called. */
export function startLogger(options: LoggerOptions): () => void {
  const logger = pino(
    {
      level: options.level,
      base: { service: 'agent-reach', ...(options.version === undefined ? {} : { serviceVersion: options.version }) },
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
    },
    options.stream ?? standardError(),
  );
  const stops = [
    subscribe('log', ({ level, message, fields }) => logger[level](fields ?? {}, message)),
    subscribe('embedding.state', ({ state, reason }) => {
      const level = state === 'degraded' ? 'warn' : 'info';
      logger[level](
        { state, reason },
        state === 'degraded' ? 'the model is out, routing by words' : `the model is ${state}`,
      );
    }),
    subscribe('index.version', (event) => logger.info(event, 'a new index version serves')),
    subscribe('index.failed', (event) => logger.warn(event, 'an index build failed, the old version serves on')),
    subscribe('route.drifted', (event) => logger.warn(event, 'callers ask for other things than in the week before')),
    subscribe('agent.changed', (event) => logger.debug(event, 'agent changed')),
    subscribe('http.request', (event) => {
      // Guarded: at one line a request even a dropped line costs.
      if (logger.isLevelEnabled('debug')) logger.debug(event, 'request answered');
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
