/** Waiting for the next event of a log, for as long as the clock allows. */
import type { Clock } from '../core/index.ts';
import type { EventLog } from '../events/index.ts';

export interface Arrival {
  /** True once there is something to read or the log closes, or after `giveUp`; false when the time is over. */
  readonly arrived: Promise<boolean>;
  /** Ends the wait, so that neither timer nor listener outlives whoever waited. */
  readonly giveUp: () => void;
}

export function arrivalWithin(log: EventLog, clock: Clock, ms: number): Arrival {
  let giveUp = (): void => undefined;
  const arrived = new Promise<boolean>((resolve) => {
    const end = (isNews: boolean): void => {
      cancel();
      forget();
      resolve(isNews);
    };
    const cancel = clock.schedule(ms, () => end(false));
    const forget = log.onArrival(() => end(true));
    giveUp = () => end(true);
  });
  return { arrived, giveUp };
}
