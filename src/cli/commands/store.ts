/** `agent-reach store migrate`: moves what a stopped service holds between the embedded store and Redis. */
import type { MigrationReport } from '../../app/index.ts';
import { type Program, runCommand } from '../program.ts';

export function addStoreCommand(program: Program): void {
  const store = program.command('store').description('move what a stopped service holds');
  store
    .command('migrate')
    .description('copy a store into another one, counted and checked')
    .requiredOption('--from <place>', 'lmdb:DIR or redis://host:port')
    .requiredOption('--to <place>', 'lmdb:DIR or redis://host:port')
    .option('--redis-prefix <name>', 'redis.prefix of the services on it, where it is not the default')
    .option('--force', 'remove what the target holds')
    .action((_options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output }) => {
        const { migrateStore } = await import('../../app/index.ts');
        const { from, to, redisPrefix: prefix } = options;
        const report: MigrationReport = await migrateStore({ from, to, prefix, force: options.force === true });
        output.answer(report, ({ rows, total, digest }) => {
          output.table(Object.entries(rows), [
            { head: 'TABLE', cell: ([table]) => table },
            { head: 'ROWS', cell: ([, count]) => count, align: 'right' },
          ]);
          output.line(`${total} rows copied and read back; digest ${digest.slice(0, 16)}`);
        });
        return undefined;
      });
    });
}
