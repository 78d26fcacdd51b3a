export {
  type EvaluateOptions,
  evaluate,
  lintRegistry,
  type ReportProgress,
  type RouteSource,
  readEvaluationLines,
  type SourceRequest,
} from '../routing/index.ts';
export type { Parts, Substitutes } from './compose.ts';
export {
  type Config,
  type ConfigFlags,
  type ConfigInput,
  type ConfigRequest,
  type ConfigValues,
  compileConfig,
  loadConfig,
} from './config.ts';
export { type ConfigRow, describeConfig } from './config-report.ts';
export { type RunningService, SERVICE_VERSION, startService } from './lifecycle.ts';
export { type OfflineRequest, type OfflineService, openOfflineService } from './offline-service.ts';
export { type LintFileRequest, lintFile } from './registry-file-lint.ts';
export { type MigrationReport, type MigrationRequest, migrateStore } from './store-migration.ts';
export { readStrategiesFile } from './strategies-file.ts';
