/**
 * `agent-reach lint`: what is wrong with a registry file, or with what a running service holds. Exit code 1 where an
 * error is found, or with --strict a warning.
 */
import type { LintFinding } from '../../contract/index.ts';
import type { ConsoleOutput } from '../console-output.ts';
import { EXIT } from '../exit-codes.ts';
import { isObject, readObjects } from '../input-file.ts';
import { type CommandContext, type Program, runCommand, share } from '../program.ts';
import { openProgressBar, type ProgressBar } from '../progress-bar.ts';
import { serviceSource } from '../service-source.ts';

export function addLintCommand(program: Program): void {
  program
    .command('lint')
    .description('look for collisions, bad names, missing texts and sensitive capabilities without a rule')
    .option('--registry <file>', 'registrations to look at in this process; default: the running service')
    .option('--rules <file>', 'rules that reach sensitive capabilities; default: those of the running service')
    .option('--similar <share>', 'report texts of two capabilities this near', share, 0.9)
    .option('--strict', 'warnings fail too')
    .action((_options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async (context) => {
        const bar = await openProgressBar(context.output);
        let findings: LintFinding[];
        try {
          findings = await findingsOf(context, options, bar);
        } finally {
          bar.end();
        }
        context.output.answer(findings, (rows) => showFindings(context.output, rows));
        const failing = findings.filter(({ level }) => level === 'error' || options.strict === true);
        return failing.length === 0 ? EXIT.ok : EXIT.failed;
      });
    });
}

interface LintOptions {
  readonly registry?: string | undefined;
  readonly rules?: string | undefined;
  readonly similar: number;
}

async function findingsOf({ client }: CommandContext, options: LintOptions, bar: ProgressBar): Promise<LintFinding[]> {
  const { lintFile, lintRegistry } = await import('../../app/index.ts');
  const given = options.rules === undefined ? undefined : await readObjects(options.rules, 'rules', 'rule');
  const shared = {
    minSimilarity: options.similar,
    onDone: (done: number, total: number) => bar.update(done, total, 'texts'),
  };
  if (options.registry !== undefined) {
    const registrations = await readObjects(options.registry, 'agents', 'registration');
    return lintFile({ registrations, rules: given ?? [], onProgress: bar.update, ...shared });
  }
  const rules = given?.filter(isObject) ?? (await client.rules.list()).items;
  const ledTo = rules.flatMap(({ capability }) => (typeof capability === 'string' ? capability : []));
  return lintRegistry(serviceSource(client), { ruledCapabilities: new Set(ledTo), ...shared });
}

function showFindings(output: ConsoleOutput, findings: readonly LintFinding[]): void {
  const errors = findings.filter(({ level }) => level === 'error').length;
  if (findings.length > 0) {
    output.table(findings, [
      { head: 'LEVEL', cell: ({ level }) => level },
      { head: 'CODE', cell: ({ code }) => code },
      { head: 'CAPABILITY', cell: ({ capability }) => capability ?? '-' },
      { head: 'MESSAGE', cell: ({ message }) => message },
    ]);
  }
  output.line(`${errors} errors, ${findings.length - errors} warnings`);
}
