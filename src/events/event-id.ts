/**
 * Where an event lies: which log, the change that made it, and its number among the events of that change. Instances
 * that share a log give an event the same id, so that a reader may go on at another one.
 */
export interface EventId {
  readonly logId: string;
  readonly position: number;
  readonly number: number;
}

const WRITTEN = /^([0-9a-z]{1,32})-(\d{1,15})-(\d{1,6})$/;

export function writeEventId({ logId, position, number }: EventId): string {
  return `${logId}-${position}-${number}`;
}

/** undefined for what no log of ours wrote. */
export function readEventId(text: string): EventId | undefined {
  const [, logId, position, number] = WRITTEN.exec(text) ?? [];
  if (logId === undefined) return undefined;
  return { logId, position: Number(position), number: Number(number) };
}

/** Of one log: whether `a` lies after `b`. */
export function isAfter(a: EventId, b: EventId): boolean {
  return a.position > b.position || (a.position === b.position && a.number > b.number);
}
