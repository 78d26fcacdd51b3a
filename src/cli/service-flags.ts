/** Flags of `serve` and `config`: both read the same configuration, so that one shows what the other would do. */
import type { Config, ConfigFlags } from '../app/index.ts';
import type { CommandGroup } from './program.ts';

export interface ServiceFlags {
  readonly config?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly dataDir?: string | undefined;
  readonly strategies?: string | undefined;
  readonly logLevel?: string | undefined;
}

export function addServiceFlags(command: CommandGroup) {
  return command
    .option('--config <file>', 'YAML or JSON (default: AGENT_REACH_CONFIG, else ./agent-reach.yaml when it is there)')
    .option('--host <address>', 'where to listen (default: 127.0.0.1)')
    .option('--port <port>', 'TCP port, 0 takes a free one (default: 7420)')
    .option('--data-dir <folder>', 'store and index versions (default: ./data)')
    .option('--strategies <file>', 'strategies and weights, YAML or JSON, read again when the file changes')
    .option('--log-level <level>', 'silent, error, warn, info or debug (default: info)');
}

/** Values stay text here: the schema of the service reads and refuses them. */
export async function configOf(flags: ServiceFlags): Promise<Config> {
  const { loadConfig } = await import('../app/index.ts');
  const named: ConfigFlags = {
    'http.host': { flag: '--host', text: flags.host },
    'http.port': { flag: '--port', text: flags.port },
    'data.dir': { flag: '--data-dir', text: flags.dataDir },
    'routing.strategiesFile': { flag: '--strategies', text: flags.strategies },
    'log.level': { flag: '--log-level', text: flags.logLevel },
  };
  return loadConfig({ file: flags.config, flags: named });
}
