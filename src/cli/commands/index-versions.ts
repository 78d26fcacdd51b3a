/** `agent-reach index`: versions of the index of meanings; making, checking, comparing them, and going back to one. */
import type { IndexDiff, IndexVersion, IndexVersionList, RebuildProgress, VerifyReply } from '../../contract/index.ts';
import type { ConsoleOutput } from '../console-output.ts';
import { EXIT } from '../exit-codes.ts';
import { shownNumber } from '../printable.ts';
import { type CommandGroup, type Program, refuseUnknownCommands, runCommand } from '../program.ts';
import { openProgressBar } from '../progress-bar.ts';
import { addGoldenCommands } from './golden.ts';

/** What the bar says of each phase. */
const PHASE: Readonly<Record<RebuildProgress['phase'], string>> = {
  texts: 'texts',
  build: 'vectors',
  check: 'check',
  write: 'write',
  golden: 'golden lines',
  load: 'load',
};

export function addIndexCommand(program: Program): void {
  const index = program.command('index').description('list, rebuild, check and roll back versions of the index');

  index
    .command('list', { isDefault: true })
    .description('list index versions, newest first')
    .action((_options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        output.answer(await client.index.versions(), (list) => showList(output, list));
        return undefined;
      }),
    );

  index
    .command('rebuild')
    .description('build a new index version and serve from it; ends a rollback')
    .option('--reason <text>', 'kept with the version')
    .action((_options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        const reply = await withBar(output, (onProgress) =>
          client.index.rebuild({ reason: options.reason, onProgress }),
        );
        output.answer(reply, ({ version, report }) => {
          output.line(`${version} serves: ${report.count} vectors, built in ${shownNumber(report.buildMs, 0)} ms`);
          output.line(`  ${report.embedded} embedded, ${report.reused} reused, ${report.removed} removed`);
          if (report.selfCheck !== null) output.line(`  self-check: ${selfCheckOf(report)}`);
        });
        return undefined;
      });
    });

  addVersionCommands(index);
  addGoldenCommands(index);
  refuseUnknownCommands(index);
}

function addVersionCommands(index: CommandGroup): void {
  index
    .command('rollback')
    .description('serve an earlier version and its texts again, until the next "index rebuild"')
    .argument('<version>', 'such as v000001')
    .action((version, _options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        output.answer(await client.index.rollback(version), ({ restored }) => {
          output.line(`${version} serves again, with the texts of then for ${restored} capabilities`);
          output.line('  rebuilds wait until "agent-reach index rebuild"');
        });
        return undefined;
      }),
    );

  index
    .command('verify')
    .description('check a version on the disk again: files, recall, every text, golden lines')
    .argument('[version]', 'the serving one unless given')
    .action((version, _options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        const reply = await withBar(output, (onProgress) => client.index.verify({ version, onProgress }));
        output.answer(reply, () => showVerified(output, reply));
        return reply.ok ? EXIT.ok : EXIT.failed;
      }),
    );

  index
    .command('diff')
    .description('show what changed from one version to another')
    .argument('<from>')
    .argument('<to>')
    .action((from, to, _options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        output.answer(await client.index.diff(from, to), (diff) => showDiff(output, diff));
        return undefined;
      }),
    );
}

async function withBar<Answer>(
  output: ConsoleOutput,
  work: (onProgress: (progress: RebuildProgress) => void) => Promise<Answer>,
): Promise<Answer> {
  const bar = await openProgressBar(output);
  try {
    return await work(({ phase, done, total }) => bar.update(done, total, PHASE[phase]));
  } finally {
    bar.end();
  }
}

function selfCheckOf({ selfCheck }: IndexVersion): string {
  if (selfCheck === null) return '-';
  const recall = `recall@10 ${shownNumber(selfCheck.recallAt10, 3)} of ${selfCheck.samples}`;
  const { golden } = selfCheck;
  return golden === undefined ? recall : `${recall}, golden ${golden.right}/${golden.lines}`;
}

function showList(output: ConsoleOutput, list: IndexVersionList): void {
  output.line(`current ${list.current}, ${list.delta} vectors added since`);
  if (list.held !== null) {
    output.line(`held at ${list.held.version} since ${list.held.heldAt} by ${list.held.by}; a rebuild ends it`);
  }
  for (const { id, problem } of list.refused) output.line(`refused ${id}: ${problem}`);
  if (list.lastFailure !== null) {
    output.line(`last rebuild failed at ${list.lastFailure.at}: ${list.lastFailure.reason}`);
    for (const line of list.lastFailure.lines) output.line(`  ${line}`);
  }
  if (list.items.length > 0) showVersions(output, list.items);
  for (const { instance, version, isAnswering } of list.instances ?? []) {
    output.line(`instance ${instance} serves ${version}${isAnswering ? ' (it answers this)' : ''}`);
  }
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

function showVerified(output: ConsoleOutput, reply: VerifyReply): void {
  output.line(`${reply.version} ${reply.ok ? 'holds' : 'does not hold'}`);
  for (const problem of reply.problems) output.line(`  ${problem}`);
  if (reply.recallAt10 !== null) {
    output.line(`  recall@10 ${shownNumber(reply.recallAt10, 3)} of ${reply.samples}`);
  }
  if (reply.golden !== null) output.line(`  golden ${reply.golden.right}/${reply.golden.lines}`);
}

function showDiff(output: ConsoleOutput, { from, to, added, removed, changed, vectors }: IndexDiff): void {
  output.line(`${from} to ${to}: ${vectors.from} vectors, then ${vectors.to}`);
  output.line(`  ${added.length} capabilities added, ${removed.length} removed, ${changed.length} changed`);
  const shown = ({ namespace, capability }: { namespace: string; capability: string }): string =>
    namespace === 'default' ? capability : `${namespace}/${capability}`;
  for (const one of added) output.line(`+ ${shown(one)}`);
  for (const one of removed) output.line(`- ${shown(one)}`);
  for (const one of changed) {
    output.line(`~ ${shown(one)}`);
    for (const { list, change, text } of one.texts)
      output.line(`    ${change === 'added' ? '+' : '-'} ${list}: ${text}`);
    if (one.sensitive !== null) output.line(`    ${one.sensitive ? 'became sensitive' : 'is no longer sensitive'}`);
  }
}
