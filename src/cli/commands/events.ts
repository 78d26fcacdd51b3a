/** `agent-reach events`: follows what changes in the registry until it is told to stop. */
import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { EventType, FeedEvent } from '../../contract/index.ts';
import { errorText } from '../../core/index.ts';
import { ConsoleOutput } from '../console-output.ts';
import { collected, type Program, runCommand } from '../program.ts';

/** A copy of the contract's enum, so that the command starts without its schemas. */
export const EVENT_TYPES = [
  'agent.registered',
  'agent.updated',
  'agent.state_changed',
  'agent.withdrawn',
  'agent.evicted',
  'capability.proposed',
  'capability.updated',
] as const satisfies readonly EventType[];

function eventType(text: string, before: readonly string[] | undefined): string[] {
  if (EVENT_TYPES.some((type) => type === text)) return collected(text, before);
  throw new InvalidArgumentError(`must be one of ${EVENT_TYPES.join(', ')}.`);
}

export function addEventsCommand(program: Program): void {
  program
    .command('events')
    .description('follow what changes in the registry; with --json one event a line')
    .option('--type <type>', 'only events of this type; may be given again', eventType)
    .option('--namespace <name>', 'only of this namespace')
    .option('--since <id>', 'everything after this event; without it from now on')
    .action((_options, command) => {
      const { type, ...options } = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        const stop = new AbortController();
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
        const isJson = options.json === true;
        const lines = new ConsoleOutput({ isJson, isOneLine: true });
        const show = (event: FeedEvent): void => lines.answer(event, () => lines.line(lineOf(event)));
        await client.events.follow(show, {
          types: type as EventType[] | undefined,
          namespace: options.namespace,
          since: options.since,
          signal: stop.signal,
          onReady: ({ id }) => output.note(`following from ${id}`),
          onGap: ({ until, missed }) => output.note(`${missed} or more events were dropped up to ${until}`),
          onBroken: (error) => output.note(`connecting again: ${errorText(error)}`),
        });
        return undefined;
      });
    });
}

function lineOf({ id, at, type, namespace, agentId, capability, from, to, why }: FeedEvent): string {
  const whom = capability ?? agentId ?? '-';
  const move = from === undefined ? '' : `  ${from} -> ${to} (${why})`;
  return `${at}  ${type}  ${namespace}/${whom}${move}  ${id}`;
}
