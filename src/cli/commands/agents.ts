/** `agent-reach agents`: who is registered, one of them in full, and an operator's removal. */
import { Option } from '@commander-js/extra-typings';
import type { AgentState, AgentView } from '../../contract/index.ts';
import type { AgentQuery, ReachClient } from '../../sdk/index.ts';
import type { ConsoleOutput } from '../console-output.ts';
import { printable, shownList, shownNumber } from '../printable.ts';
import { type Program, refuseUnknownCommands, runCommand, wholeNumber } from '../program.ts';

/** A copy of the contract's enum: loading the schemas would double the start-up time. A test holds them together. */
export const AGENT_STATES = ['online', 'suspect', 'busy', 'draining', 'ejected', 'cordoned', 'offline'] as const;

const agentsCommand = (program: Program) =>
  program.command('agents').description('list, show, fence off, drain and withdraw agents');

export function addAgentsCommand(program: Program): void {
  const agents = agentsCommand(program);

  agents
    .command('list', { isDefault: true })
    .description('list registered agents')
    .option('--namespace <name>', 'agents of this namespace')
    .option('--capability <name>', 'agents with this capability')
    .option('--domain <name>', 'agents with a capability of this domain')
    .option('--tag <key[=value]>', 'agents with this tag')
    .option('--zone <name>', 'agents of this zone')
    .addOption(new Option('--state <state>', 'agents in this state').choices(AGENT_STATES))
    .option('--limit <count>', 'at most so many', wholeNumber(1, 1_000_000))
    .action((_options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        const found: AgentView[] = [];
        const limit = options.limit ?? Number.POSITIVE_INFINITY;
        for await (const agent of client.agents.all(queryOf(options))) {
          found.push(agent);
          if (found.length >= limit) break;
        }
        output.answer(found, (rows) => showAgents(output, rows));
        return undefined;
      });
    });

  agents
    .command('show')
    .description('show one agent in full')
    .argument('<agentId>')
    .action((agentId, _options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        output.answer(await client.agents.get(agentId), (agent) => showAgent(output, agent));
        return undefined;
      }),
    );

  agents
    .command('withdraw')
    .description('take an agent out of the registry, as an operator')
    .argument('<agentId>')
    .action((agentId, _options, command) =>
      runCommand(command.optsWithGlobals(), async ({ output, client }) => {
        await client.agents.withdraw(agentId);
        output.answer({ agentId, withdrawn: true }, () => output.line(`withdrew ${agentId}`));
        return undefined;
      }),
    );

  addOperatorCommands(agents);
  refuseUnknownCommands(agents);
}

function addOperatorCommands(agents: ReturnType<typeof agentsCommand>): void {
  agents
    .command('cordon')
    .description('fence an agent off: no work, whatever it says and however often it starts')
    .argument('<agentId>')
    .requiredOption('--reason <text>', 'why, for people')
    .action((agentId, _options, command) => {
      const options = command.optsWithGlobals();
      return told(options, `cordoned ${agentId}`, (client) => client.agents.cordon(agentId, options.reason));
    });

  agents
    .command('uncordon')
    .description('lift the fence around an agent')
    .argument('<agentId>')
    .action((agentId, _options, command) =>
      told(command.optsWithGlobals(), `uncordoned ${agentId}`, (client) => client.agents.uncordon(agentId)),
    );

  agents
    .command('drain')
    .description('no new work for an agent; offline at the deadline, back at its next start')
    .argument('<agentId>')
    .option('--for-ms <ms>', 'how long running work may take', wholeNumber(0, 86_400_000))
    .action((agentId, _options, command) => {
      const options = command.optsWithGlobals();
      const request = options.forMs === undefined ? {} : { drainTimeoutMs: options.forMs };
      return told(options, `draining ${agentId}`, (client) => client.agents.drain(agentId, request));
    });

  agents
    .command('undrain')
    .description('take a drain back that is not over')
    .argument('<agentId>')
    .action((agentId, _options, command) =>
      told(command.optsWithGlobals(), `undrained ${agentId}`, (client) => client.agents.endDrain(agentId)),
    );
}

/** Changes an agent and says so, with the state that it is in by then. */
function told(
  options: Parameters<typeof runCommand>[0],
  done: string,
  change: (client: ReachClient) => Promise<AgentView>,
): Promise<void> {
  return runCommand(options, async ({ output, client }) => {
    output.answer(await change(client), ({ state }) => output.line(`${done}: it is ${state}`));
    return undefined;
  });
}

interface ListOptions {
  readonly namespace?: string | undefined;
  readonly capability?: string | undefined;
  readonly domain?: string | undefined;
  readonly tag?: string | undefined;
  readonly zone?: string | undefined;
  readonly state?: AgentState | undefined;
  readonly limit?: number | undefined;
}

const PAGE_LIMIT = 500;

function queryOf(options: ListOptions): AgentQuery {
  const { namespace, capability, domain, zone, state } = options;
  return {
    namespace,
    capability,
    domain,
    // The wire form has a colon where the shell's habit is an equals sign.
    tag: options.tag?.replace('=', ':'),
    zone,
    state,
    limit: Math.min(PAGE_LIMIT, options.limit ?? PAGE_LIMIT),
  };
}

function showAgents(output: ConsoleOutput, agents: readonly AgentView[]): void {
  if (agents.length === 0) {
    output.line('no agents');
    return;
  }
  output.table(agents, [
    { head: 'AGENT', cell: (agent) => agent.agentId },
    { head: 'NAME', cell: (agent) => agent.agentName, maxWidth: 32 },
    { head: 'VERSION', cell: (agent) => agent.version, maxWidth: 16 },
    { head: 'STATE', cell: (agent) => agent.state },
    { head: 'LOAD', cell: (agent) => shownNumber(agent.load), align: 'right' },
    { head: 'ZONE', cell: (agent) => agent.zone ?? '-' },
    { head: 'CAPABILITIES', cell: (agent) => agent.capabilities.map(({ name }) => name).join(', '), maxWidth: 60 },
  ]);
}

function drainText({ by, at, until }: NonNullable<AgentView['drain']>): string {
  return `by ${by ?? 'itself'} since ${at}, ${until === null ? 'until it says otherwise' : `until ${until}`}`;
}

function showAgent(output: ConsoleOutput, agent: AgentView): void {
  const tags = Object.entries(agent.tags).map(([key, value]) => `${key}=${value}`);
  output.pairs([
    ['agent', agent.agentId],
    ['name', agent.agentName],
    ['version', agent.version],
    ['namespace', agent.namespace],
    ['state', `${agent.state} (${agent.stateReason})`],
    [
      'cordoned',
      agent.cordoned === null ? undefined : `by ${agent.cordoned.by} at ${agent.cordoned.at}: ${agent.cordoned.reason}`,
    ],
    ['drain', agent.drain === null ? undefined : drainText(agent.drain)],
    ['last probe', agent.lastProbe?.detail],
    ['incarnation', String(agent.incarnation)],
    ['transport', `${agent.transport.type} ${agent.transport.endpoint ?? ''}`.trim()],
    ['zone', agent.zone ?? undefined],
    ['tags', tags.length === 0 ? undefined : shownList(tags)],
    ['load', `${shownNumber(agent.load)} of ${agent.maxConcurrency} at once`],
    ['latency', agent.avgLatencyMs === null ? undefined : `${shownNumber(agent.avgLatencyMs, 0)} ms`],
    ['heartbeat', `every ${agent.heartbeatIntervalMs} ms, last ${agent.lastSeenAt}`],
    ['registered', agent.registeredAt],
    ['expires', agent.expiresAt ?? undefined],
  ]);
  output.heading('Capabilities');
  output.table(agent.capabilities, [
    { head: 'NAME', cell: ({ name, sensitive }) => (sensitive === true ? `${name} (sensitive)` : name) },
    { head: 'DESCRIPTION', cell: ({ description }) => printable(description ?? '-'), maxWidth: 80 },
    { head: 'EXAMPLES', cell: ({ examples }) => examples?.length ?? 0, align: 'right' },
  ]);
}
