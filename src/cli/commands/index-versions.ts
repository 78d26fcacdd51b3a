/** `agent-reach index`: versions of the index of meanings, and making a new one. */
import type { IndexVersion } from '../../contract/index.ts';
import type { ConsoleOutput } from '../console-output.ts';
import { shownNumber } from '../printable.ts';
import { type Program, runCommand } from '../program.ts';
import { openProgressBar } from '../progress-bar.ts';

export function addIndexCommand(program: Program): void {
  const index = program.command('index').description('list and rebuild versions of the index');

  index
    .command('list', { isDefault: true })
    .description('list index versions, newest first')
    .action((_options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        const list = await client.index.versions();
        output.answer(list, () => {
          output.line(`current ${list.current}, ${list.delta} vectors added since`);
          if (list.items.length > 0) showVersions(output, list.items);
        });
        return undefined;
      }),
    );

  index
    .command('rebuild')
    .description('build a new index version and serve from it')
    .option('--reason <text>', 'kept with the version')
    .action((_options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        const bar = await openProgressBar(output);
        try {
          const reply = await client.index.rebuild({
            reason: options.reason,
            onProgress: ({ phase, done, total }) => bar.update(done, total, phase),
          });
          bar.end();
          output.answer(reply, ({ version, report }) => {
            output.line(`${version} serves: ${report.count} vectors, built in ${shownNumber(report.buildMs, 0)} ms`);
            output.line(`  ${report.embedded} embedded, ${report.reused} reused, ${report.removed} removed`);
            if (report.selfCheck !== null) output.line(`  self-check: ${selfCheckOf(report)}`);
          });
        } finally {
          bar.end();
        }
        return undefined;
      });
    });
}

function selfCheckOf({ selfCheck }: IndexVersion): string {
  return selfCheck === null ? '-' : `recall@10 ${shownNumber(selfCheck.recallAt10, 3)} of ${selfCheck.samples}`;
}

function showVersions(output: ConsoleOutput, versions: readonly IndexVersion[]): void {
  output.table(versions, [
    { head: 'VERSION', cell: ({ id, current }) => (current ? `${id} *` : id) },
    { head: 'BUILT', cell: ({ builtAt }) => builtAt },
    { head: 'KIND', cell: ({ kind }) => kind },
    { head: 'VECTORS', cell: ({ count }) => count, align: 'right' },
    { head: 'EMBEDDED', cell: ({ embedded }) => embedded, align: 'right' },
    { head: 'MODEL', cell: ({ modelId }) => modelId },
    { head: 'BY', cell: ({ by }) => by },
    { head: 'WHY', cell: ({ why }) => why, maxWidth: 32 },
    { head: 'SELF-CHECK', cell: selfCheckOf },
  ]);
}
