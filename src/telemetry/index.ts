export { AGENT_STATES, METRIC } from './attributes.ts';
export {
  DRIFT_WARNING,
  type DriftFigures,
  type DriftRecord,
  type DriftStore,
  DriftWatch,
  type DriftWindow,
} from './drift.ts';
export { type LoggerOptions, type LogLevel, startLogger } from './logger.ts';
export { type MetricCollectors, type Metrics, type MetricsOptions, startMetrics } from './metrics.ts';
