/** `agent-reach rules`: the exact rules and their edits. */
import type { DryRunReply, Rule, RuleHistory, RuleReply } from '../../contract/index.ts';
import type { RuleInput } from '../../sdk/index.ts';
import type { ConsoleOutput } from '../console-output.ts';
import { readObjects } from '../input-file.ts';
import { oneByOne } from '../one-by-one.ts';
import { type CommandGroup, type Program, refuseUnknownCommands, runCommand, wholeNumber } from '../program.ts';
import { addRuleFileCommands } from './rule-files.ts';

export function addRulesCommand(program: Program): void {
  const rules = program.command('rules').description('list, put, import, check and try exact rules');

  rules
    .command('list', { isDefault: true })
    .description('list the rules in the order they are tried')
    .action((_options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        const list = await client.rules.list();
        output.answer(list, () => showRules(output, list.items, list.rulesVersion));
        return undefined;
      }),
    );

  rules
    .command('put')
    .description('create or replace the rules of a JSON or YAML file: one, a list, or {rules: [...]}')
    .argument('<file>', '"-" reads standard input')
    .action((file, _options, command) =>
      // Each edit is a version of its own, and warnings look at the rules before it.
      runCommand(command.optsWithGlobals(), async ({ output, client }) =>
        oneByOne(output, await readObjects(file, 'rules', 'rule'), {
          act: (rule) => client.rules.put(rule as RuleInput),
          show: (reply) => showPut(output, reply),
        }),
      ),
    );

  rules
    .command('delete')
    .description('delete a rule')
    .argument('<id>')
    .action((id, _options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        await client.rules.remove(id);
        output.answer({ id, deleted: true }, () => output.line(`deleted rule ${id}`));
        return undefined;
      }),
    );

  addReadingCommands(rules);
  addRuleFileCommands(rules);
  refuseUnknownCommands(rules);
}

function addReadingCommands(rules: CommandGroup): void {
  rules
    .command('dry-run')
    .description('show what the rules alone would do with a text')
    .argument('<text>')
    .option('--namespace <name>', 'where the capability is looked up')
    .action((text, _options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        output.answer(await client.rules.dryRun(text, options.namespace), (reply) => showDryRun(output, reply));
        return undefined;
      });
    });

  rules
    .command('history')
    .description('show past edits, newest first')
    .option('--limit <count>', 'at most so many', wholeNumber(1, 100))
    .action((_options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        output.answer(await client.rules.history(options.limit), (history) => showHistory(output, history));
        return undefined;
      });
    });
}

function showRules(output: ConsoleOutput, rules: readonly Rule[], rulesVersion: number): void {
  output.line(`rules version ${rulesVersion}, ${rules.length} rules`);
  if (rules.length === 0) return;
  output.table(rules, [
    { head: 'RULE', cell: ({ id }) => id },
    { head: 'PRIORITY', cell: ({ priority }) => priority, align: 'right' },
    { head: 'MATCH', cell: ({ match }) => match },
    { head: 'PATTERNS', cell: ({ patterns }) => patterns.join(' | '), maxWidth: 48 },
    { head: 'UNLESS', cell: unlessText, maxWidth: 24 },
    { head: 'OUTCOME', cell: outcomeOf },
  ]);
}

function unlessText({ unless, negation }: Rule): string {
  const texts = [...(unless ?? []), ...(negation === 'except' ? ['negated'] : [])];
  return texts.length === 0 ? '-' : texts.join(' | ');
}

function outcomeOf({ capability, requireScope }: Rule): string {
  const outcome = capability ?? 'deny';
  return requireScope === undefined ? outcome : `${outcome} (scope ${requireScope})`;
}

function showPut(output: ConsoleOutput, { rule, rulesVersion, warnings }: RuleReply): void {
  output.line(`put rule ${rule.id}, rules version ${rulesVersion}`);
  for (const { code, message } of warnings) output.line(`  ${code}: ${message}`);
}

function showDryRun(output: ConsoleOutput, reply: DryRunReply): void {
  output.pairs([
    ['decided by', reply.decidedBy ?? 'no rule: meaning decides'],
    ['outcome', reply.deny ? 'deny' : (reply.capability ?? undefined)],
    ['in namespace', reply.registered === null ? undefined : standingText(reply)],
    ['scope', reply.scopes.length === 0 ? undefined : `any of ${reply.scopes.join(', ')}`],
    ['read as', reply.canonicalText],
    ['rules version', String(reply.rulesVersion)],
  ]);
  if (reply.rules.length === 0) return;
  output.heading('Rules');
  output.table(reply.rules, [
    { head: 'RULE', cell: ({ id }) => id },
    { head: 'OUTCOME', cell: ({ outcome }) => outcome },
    { head: 'DETAIL', cell: ({ detail }) => detail, maxWidth: 80 },
  ]);
}

function standingText({ namespace, registered, sensitive }: DryRunReply): string {
  if (registered !== true) return `${namespace}: not registered there`;
  return sensitive === true ? `${namespace}: sensitive` : namespace;
}

function showHistory(output: ConsoleOutput, history: RuleHistory): void {
  if (history.items.length === 0) {
    output.line('no edits yet');
    return;
  }
  output.table(history.items, [
    { head: 'VERSION', cell: ({ version }) => version, align: 'right' },
    { head: 'EDITED', cell: ({ editedAt }) => editedAt },
    { head: 'BY', cell: ({ editedBy }) => editedBy },
    { head: 'CHANGE', cell: ({ change }) => change },
    { head: 'RULES', cell: ({ rules }) => rules, align: 'right' },
  ]);
}
