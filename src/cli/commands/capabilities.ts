/** `agent-reach capabilities`: the dictionary of names, and an operator's word on them. */
import { Option } from '@commander-js/extra-typings';
import type { CapabilityUpdate, CapabilityView } from '../../contract/index.ts';
import type { ConsoleOutput } from '../console-output.ts';
import { shownList } from '../printable.ts';
import { type GlobalOptions, type Program, refuseUnknownCommands, runCommand } from '../program.ts';

/** A copy of the contract's enum, as in agents.ts. */
export const CAPABILITY_STATUSES = ['active', 'proposed', 'deprecated'] as const;

export function addCapabilitiesCommand(program: Program): void {
  const capabilities = program.command('capabilities').description('list, show, approve and deprecate capabilities');

  capabilities
    .command('list', { isDefault: true })
    .description('list capabilities ever registered')
    .option('--namespace <name>', 'of this namespace')
    .option('--domain <name>', 'of this domain')
    .addOption(new Option('--status <status>', 'with this status').choices(CAPABILITY_STATUSES))
    .action((_options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        const { namespace, domain, status } = options;
        const found: CapabilityView[] = [];
        for await (const one of client.capabilities.all({ namespace, domain, status, limit: 500 })) found.push(one);
        output.answer(found, (rows) => showCapabilities(output, rows));
        return undefined;
      });
    });

  capabilities
    .command('show')
    .description('show one capability in full')
    .argument('<name>')
    .option('--namespace <name>', 'its namespace')
    .action((name, _options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        output.answer(await client.capabilities.get(name, options.namespace), (one) => showCapability(output, one));
        return undefined;
      });
    });

  capabilities
    .command('approve')
    .description('make a proposed or deprecated name active')
    .argument('<name>')
    .option('--namespace <name>', 'its namespace')
    .action((name, _options, command) => update(command.optsWithGlobals(), name, { status: 'active' }));

  capabilities
    .command('deprecate')
    .description('mark a name as no longer to be used')
    .argument('<name>')
    .requiredOption('--use <name>', 'the name to use instead')
    .option('--namespace <name>', 'its namespace')
    .action((name, _options, command) => {
      const options = command.optsWithGlobals();
      return update(options, name, { status: 'deprecated', replacedBy: options.use });
    });
  refuseUnknownCommands(capabilities);
}

type UpdateOptions = GlobalOptions & { readonly namespace?: string | undefined };

function update(options: UpdateOptions, name: string, change: CapabilityUpdate): Promise<void> {
  return runCommand(options, async ({ output, client }) => {
    const updated = await client.capabilities.update(name, change, options.namespace);
    output.answer(updated, ({ status, replacedBy }) =>
      output.line(`${updated.name} is ${status}${replacedBy === null ? '' : `, use ${replacedBy}`}`),
    );
    return undefined;
  });
}

function showCapabilities(output: ConsoleOutput, capabilities: readonly CapabilityView[]): void {
  if (capabilities.length === 0) {
    output.line('no capabilities');
    return;
  }
  output.table(capabilities, [
    { head: 'CAPABILITY', cell: ({ name, sensitive }) => (sensitive ? `${name} (sensitive)` : name) },
    { head: 'NAMESPACE', cell: ({ namespace }) => namespace },
    {
      head: 'STATUS',
      cell: ({ status, replacedBy }) => (replacedBy === null ? status : `${status}, use ${replacedBy}`),
    },
    { head: 'ROUTABLE', cell: ({ routableAgents, agents }) => `${routableAgents}/${agents}`, align: 'right' },
    { head: 'DESCRIPTION', cell: ({ descriptions }) => descriptions[0] ?? '-', maxWidth: 60 },
  ]);
}

function showCapability(output: ConsoleOutput, one: CapabilityView): void {
  output.pairs([
    ['capability', one.name],
    ['namespace', one.namespace],
    ['status', one.replacedBy === null ? one.status : `${one.status}, use ${one.replacedBy}`],
    ['sensitive', one.sensitive ? 'yes: reached by a rule or its exact name only' : 'no'],
    ['first owner', one.firstOwner ?? undefined],
    ['first seen', one.firstSeenAt],
    ['agents', `${one.agents}, ${one.routableAgents} routable`],
    ['aliases', one.aliases.length === 0 ? undefined : shownList(one.aliases)],
  ]);
  for (const [title, texts] of [
    ['Descriptions', one.descriptions],
    ['Examples', one.examples],
  ] as const) {
    if (texts.length === 0) continue;
    output.heading(title);
    for (const text of texts) output.line(`  ${text}`);
  }
}
