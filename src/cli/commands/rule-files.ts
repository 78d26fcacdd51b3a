/** `agent-reach rules import | export | lint | rollback`: the set of rules as a whole. */
import type { RuleFinding, RuleImportReply } from '../../contract/index.ts';
import type { ConsoleOutput } from '../console-output.ts';
import { readObjects } from '../input-file.ts';
import { type CommandGroup, runCommand, wholeNumber } from '../program.ts';

export function addRuleFileCommands(rules: CommandGroup): void {
  rules
    .command('import')
    .description('put all rules of a YAML or JSON file at once, or none where one is wrong')
    .argument('<file>', '"-" reads standard input')
    .option('--replace', 'delete the rules that the file does not name')
    .option('--dry-run', 'only say what would change')
    .action((file, _options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        const reply = await client.rules.import({
          rules: await readObjects(file, 'rules', 'rule'),
          mode: options.replace === true ? 'replace' : 'merge',
          dryRun: options.dryRun === true,
        });
        output.answer(reply, () => showImport(output, reply));
        return undefined;
      });
    });

  rules
    .command('export')
    .description('write all rules as a YAML file to standard output')
    .action((_options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        const yaml = await client.rules.export();
        output.answer({ yaml }, () => {
          for (const line of yaml.trimEnd().split('\n')) output.line(line);
        });
        return undefined;
      }),
    );

  rules
    .command('lint')
    .description('tell of conflicts, rules never reached, unknown capabilities, broad patterns')
    .action((_options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        const lint = await client.rules.lint();
        output.answer(lint, () => {
          output.line(`${lint.rules} rules, ${lint.regexSteps} of ${lint.maxRegexSteps} regex steps`);
          showFindings(output, lint.items);
        });
        return undefined;
      }),
    );

  rules
    .command('rollback')
    .description('make the rules of an older version (see history) the newest ones')
    .argument('<version>', 'the version to go back to', wholeNumber(1, 999_999_999))
    .action((version, _options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        const reply = await client.rules.rollback(version);
        const text = `rules version ${reply.rulesVersion} holds the ${reply.rules} rules of version ${version}`;
        output.answer(reply, () => output.line(text));
        return undefined;
      }),
    );
}

function showImport(output: ConsoleOutput, reply: RuleImportReply): void {
  const { created, replaced, removed, unchanged } = reply;
  const counts = `${created.length} new, ${replaced.length} replaced, ${removed.length} deleted, ${unchanged} unchanged`;
  output.line(`${reply.applied ? 'imported' : 'would import'}: ${counts}; rules version ${reply.rulesVersion}`);
  for (const id of removed) output.line(`  deleted ${id}`);
  showFindings(output, reply.warnings);
}

function showFindings(output: ConsoleOutput, findings: readonly RuleFinding[]): void {
  if (findings.length === 0) return;
  output.table(findings, [
    { head: 'RULE', cell: ({ id }) => id },
    { head: 'FINDING', cell: ({ code }) => code },
    { head: 'DETAIL', cell: ({ message }) => message, maxWidth: 100 },
  ]);
}
