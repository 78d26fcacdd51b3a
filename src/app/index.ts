export type { Parts, Substitutes } from './compose.ts';
export {
  type ApiKey,
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
