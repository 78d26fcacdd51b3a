/** `agent-reach route`: one intent, the decision, and with --explain why. */
import { Option } from '@commander-js/extra-typings';
import type { Explain, RoutedIntent, RouteReply } from '../../contract/index.ts';
import { AgentReachError, isAgentReachError } from '../../core/index.ts';
import type { ReachClient, RouteInput } from '../../sdk/index.ts';
import type { ConsoleOutput } from '../console-output.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { shownNumber } from '../printable.ts';
import { collected, type Program, runCommand, share, tagPair, wholeNumber } from '../program.ts';

/** A copy of the contract's enum, as in agents.ts. */
export const STRATEGIES = ['best', 'capacity_first'] as const;

export function addRouteCommand(program: Program): void {
  program
    .command('route')
    .description('find the agent for an intent in words, or for an exact capability')
    .argument('[intent]', 'what is wanted, in Chinese or English')
    .option('--capability <name>', 'the exact capability, in place of an intent')
    .option('--namespace <name>', 'agents of this namespace')
    .option('--tag <key=value>', 'agents with this tag (repeatable)', tagPair)
    .option('--zone <name>', 'the zone of the caller: agents there go first')
    .option('--prefer <agentId>', 'this agent where it is fit and free')
    .option('--affinity <key>', 'calls of one key go to one agent while it can take them')
    .option('--exclude <agentId>', 'not this agent (repeatable)', collected)
    .option('--top-k <count>', 'alternatives shown', wholeNumber(1, 50))
    .option('--min-relevance <share>', 'less relevant than this is no match', share)
    .addOption(new Option('--strategy <name>', 'how to draw among the candidates').choices(STRATEGIES))
    .option('--explain', 'show every candidate with its parts, and each dropped agent')
    .action((intent, _options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        const reply = await client.route(requestOf(intent, options));
        output.answer(reply, () => showReply(output, reply));
        if (!output.isJson)
          await showMeant(client, output, { reply, namespace: options.namespace, name: options.capability });
        return exitCodeOfDecision(reply);
      });
    });
}

interface RouteOptions {
  readonly capability?: string | undefined;
  readonly namespace?: string | undefined;
  readonly tag?: Record<string, string> | undefined;
  readonly zone?: string | undefined;
  readonly prefer?: string | undefined;
  readonly affinity?: string | undefined;
  readonly exclude?: string[] | undefined;
  readonly topK?: number | undefined;
  readonly minRelevance?: number | undefined;
  readonly strategy?: (typeof STRATEGIES)[number] | undefined;
  readonly explain?: true | undefined;
}

function requestOf(intent: string | undefined, options: RouteOptions): RouteInput {
  const { capability, namespace, zone, exclude, topK, minRelevance, strategy, explain } = options;
  if ((intent === undefined) === (capability === undefined)) {
    throw new AgentReachError('AR_ERR_INVALID_REQUEST', { detail: 'give either an intent or --capability' });
  }
  return {
    intent,
    capability,
    namespace,
    tags: options.tag,
    zone,
    preferredAgentId: options.prefer,
    affinityKey: options.affinity,
    exclude,
    topK,
    minRelevance,
    strategy,
    explain,
  };
}

function exitCodeOfDecision({ decision }: RouteReply): ExitCode {
  switch (decision) {
    case 'route':
      return EXIT.ok;
    case 'no_match':
      return EXIT.noMatch;
    case 'queue':
      return EXIT.queue;
    case 'multi_intent':
      return EXIT.multiIntent;
    default:
      return decision satisfies never;
  }
}

function showReply(output: ConsoleOutput, reply: RouteReply): void {
  const { agent } = reply;
  const reason = reply.reason === null ? '' : ` (${reply.reason})`;
  const factors = Object.entries(reply.factors ?? {}).map(([name, value]) => `${name} ${shownNumber(value)}`);
  output.pairs([
    ['decision', `${reply.decision}${reason}`],
    ['agent', agent === null ? undefined : `${agent.agentId} (${agent.agentName}, ${agent.version}, ${agent.state})`],
    ['endpoint', agent === null ? undefined : `${agent.transport.type} ${agent.transport.endpoint ?? ''}`.trim()],
    ['capability', reply.capability ?? undefined],
    ['score', reply.score === null ? undefined : `${shownNumber(reply.score, 3)} (${factors.join(', ')})`],
    ['relevance', reply.relevance === null ? undefined : shownNumber(reply.relevance, 3)],
    ['matched by', matchedBy(reply)],
    ['ambiguous', reply.ambiguous ? 'yes: another capability is nearly as relevant' : undefined],
    ['retry after', reply.retryAfterMs === undefined ? undefined : `${reply.retryAfterMs} ms`],
    ['degraded', reply.degraded ? (reply.degradedReason ?? 'yes') : undefined],
    ['panic', reply.panic === true ? 'fewer than half of its agents are well' : undefined],
    ['stale', reply.stale === true ? `no word of other instances for ${reply.staleMs ?? 0} ms` : undefined],
    [
      'preserving',
      reply.registry?.preserving === true ? 'many agents fell silent together: none is evicted' : undefined,
    ],
    ['took', `${shownNumber(reply.timings.total, 1)} ms (cache ${reply.cache}, index ${reply.indexVersion})`],
  ]);
  if (reply.alternatives.length > 0) {
    output.heading(reply.decision === 'route' ? 'Alternatives' : 'Nearest');
    output.table(reply.alternatives, [
      { head: 'CAPABILITY', cell: ({ capability }) => capability },
      { head: 'AGENT', cell: ({ agentId }) => agentId ?? '-' },
      { head: 'RELEVANCE', cell: ({ relevance }) => shownNumber(relevance, 3), align: 'right' },
      { head: 'SCORE', cell: ({ score }) => shownNumber(score, 3), align: 'right' },
    ]);
  }
  if (reply.intents !== undefined) showIntents(output, reply.intents);
  if (reply.explain !== undefined) showExplain(output, reply.explain);
}

function showIntents(output: ConsoleOutput, intents: readonly RoutedIntent[]): void {
  output.heading('Intents');
  output.table(intents, [
    { head: 'TEXT', cell: ({ text }) => text, maxWidth: 40 },
    { head: 'DECISION', cell: ({ decision, reason }) => (reason === null ? decision : `${decision} (${reason})`) },
    { head: 'CAPABILITY', cell: ({ capability }) => capability ?? '-' },
    { head: 'AGENT', cell: ({ agent }) => agent?.agentId ?? '-' },
    { head: 'RELEVANCE', cell: ({ relevance }) => shownNumber(relevance, 3), align: 'right' },
  ]);
}

interface Unmatched {
  readonly reply: RouteReply;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** For a capability that nobody has: the names that the dictionary would suggest. */
async function showMeant(
  client: ReachClient,
  output: ConsoleOutput,
  { reply, namespace, name }: Unmatched,
): Promise<void> {
  if (name === undefined || reply.reason !== 'unknown_capability' || reply.alternatives.length > 0) return;
  try {
    await client.capabilities.get(name, namespace);
  } catch (error) {
    // A hint only: the decision is told already.
    if (!isAgentReachError(error) || error.suggestions.length === 0) return;
    output.line(`did you mean: ${error.suggestions.join(', ')}`);
  }
}

function matchedBy({ matchedBy: by, ruleId }: RouteReply): string | undefined {
  if (by === null) return undefined;
  return ruleId === undefined ? by : `${by} ${ruleId}`;
}

/** Shown where somebody does not have its full weight. */
const WEIGHT_COLUMN = {
  head: 'TIMES',
  cell: ({ agentWeight }: Explain['candidates'][number]) =>
    agentWeight === undefined ? '1' : `${shownNumber(agentWeight.value)} ${agentWeight.note}`,
};

function showExplain(output: ConsoleOutput, explain: Explain): void {
  showMeaning(output, explain);
  if (explain.candidates.length > 0) {
    output.heading('Candidates');
    const factors = explain.candidates[0]?.parts.map(({ factor, weight }) => ({ factor, weight })) ?? [];
    output.table(explain.candidates, [
      { head: 'AGENT', cell: ({ agentId }) => agentId },
      { head: 'CAPABILITY', cell: ({ capability }) => capability },
      { head: 'SCORE', cell: ({ score }) => shownNumber(score, 3), align: 'right' },
      ...factors.map(({ factor, weight }) => ({
        head: `${factor.toUpperCase()} (${weight})`,
        align: 'right' as const,
        cell: ({ parts }: Explain['candidates'][number]) => {
          const part = parts.find((one) => one.factor === factor);
          return part === undefined ? '-' : `${shownNumber(part.value)} -> ${shownNumber(part.part, 3)}`;
        },
      })),
      ...(explain.candidates.some(({ agentWeight }) => agentWeight !== undefined) ? [WEIGHT_COLUMN] : []),
    ]);
  }
  if (explain.dropped.length > 0) {
    output.heading('Dropped');
    output.table(explain.dropped, [
      { head: 'AGENT', cell: ({ agentId }) => agentId },
      { head: 'CAPABILITY', cell: ({ capability }) => capability },
      { head: 'REASON', cell: ({ reason }) => reason },
    ]);
  }
  if (explain.strategies.length > 0) {
    output.heading(explain.policy === 'default' ? 'Strategies' : `Strategies of ${explain.policy}`);
    output.table(explain.strategies, [
      { head: 'STRATEGY', cell: ({ name }) => name },
      { head: 'KEPT', cell: ({ kept }) => kept, align: 'right' },
      { head: 'NOTE', cell: ({ note }) => note },
      { head: 'DROPPED', cell: ({ dropped }) => dropped.join(', '), maxWidth: 40 },
    ]);
  }
}

function showMeaning(output: ConsoleOutput, explain: Explain): void {
  const rules = explain.rules.filter(({ outcome }) => outcome !== 'no_match');
  if (rules.length > 0) {
    output.heading('Rules');
    output.table(rules, [
      { head: 'RULE', cell: ({ id }) => id },
      { head: 'OUTCOME', cell: ({ outcome }) => outcome },
      { head: 'DETAIL', cell: ({ detail }) => detail, maxWidth: 80 },
    ]);
  }
  const denied = explain.reading?.denied ?? [];
  if (denied.length > 0) {
    output.heading('Not to be done');
    output.table(denied, [
      { head: 'TEXT', cell: ({ text }) => text, maxWidth: 48 },
      { head: 'LEFT OUT', cell: ({ capabilities }) => capabilities.join(', ') || '-' },
    ]);
    output.line(`searched for: ${explain.reading?.asked ?? ''}`);
  }
  if (explain.recall.length === 0) return;
  output.heading('Meaning');
  output.table(explain.recall, [
    { head: 'CAPABILITY', cell: ({ capability }) => capability },
    { head: 'RELEVANCE', cell: ({ relevance }) => shownNumber(relevance, 3), align: 'right' },
    { head: 'COSINE', cell: ({ similarity }) => shownNumber(similarity, 3), align: 'right' },
    { head: 'WORDS', cell: ({ lexical }) => shownNumber(lexical, 3), align: 'right' },
    { head: 'GATE', cell: ({ gate }) => gate },
    { head: 'NEAREST TEXT', cell: ({ nearestText }) => nearestText ?? '-', maxWidth: 48 },
  ]);
  if (explain.minRelevance !== undefined) output.line(`asked of the best: ${shownNumber(explain.minRelevance, 3)}`);
}
