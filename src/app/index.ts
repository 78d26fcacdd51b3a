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
