/**
 * Requests at a fixed rate, whatever the service does (open loop): latency counts from when a request was due, so
 * that a stall shows in every request that it delayed.
 */
import { post, quantile } from './http-load.ts';

export interface OpenLoopPlan {
  readonly url: string;
  readonly perSecond: number;
  readonly seconds: number;
  readonly body: (n: number) => string;
  /** Ends it before its seconds are over. */
  readonly isOver?: () => boolean;
  /** Throws where an answer of status 200 is no success. */
  readonly assertAnswer?: (text: string) => void;
}

export interface OpenLoopResult {
  readonly perSecond: number;
  readonly sent: number;
  /** Requests without an answer, and answers that are no success. */
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export async function openLoop(plan: OpenLoopPlan): Promise<OpenLoopResult> {
  const total = Math.round(plan.perSecond * plan.seconds);
  const gapMs = 1_000 / plan.perSecond;
  const times: number[] = [];
  let failed = 0;
  const start = performance.now();
  const running: Promise<void>[] = [];
  const send = async (n: number): Promise<void> => {
    const dueAt = start + n * gapMs;
    try {
      const { status, text } = await post(plan.url, plan.body(n));
      if (status !== 200) failed++;
      else plan.assertAnswer?.(text);
    } catch {
      failed++;
    }
    times.push(performance.now() - dueAt);
  };
  let n = 0;
  while (n < total && plan.isOver?.() !== true) {
    const due = Math.min(total, Math.floor((performance.now() - start) / gapMs) + 1);
    while (n < due) running.push(send(n++));
    // Timers fire a millisecond late at best; immediates keep the schedule and still let answers in.
    await new Promise((resolve) => (gapMs > 2 ? setTimeout(resolve, 1) : setImmediate(resolve)));
  }
  await Promise.all(running);
  times.sort((a, b) => a - b);
  return {
    perSecond: plan.perSecond,
    sent: n,
    failed,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    maxMs: times.at(-1) ?? Number.NaN,
  };
}

/** The highest of the rates (ascending) that the service holds with this p99 and no failure; 0 where it holds none. */
export async function highestHeldRate(
  rates: readonly number[],
  p99Ms: number,
  run: (perSecond: number) => Promise<OpenLoopResult>,
): Promise<{ held: number; tried: OpenLoopResult[] }> {
  const tried: OpenLoopResult[] = [];
  let held = 0;
  for (const rate of rates) {
    const result = await run(rate);
    tried.push(result);
    if (result.failed > 0 || result.p99Ms > p99Ms) {
      // One bad round may be the machine's: a rate is lost when it fails twice.
      const again = await run(rate);
      tried.push(again);
      if (again.failed > 0 || again.p99Ms > p99Ms) break;
    }
    held = rate;
  }
  return { held, tried };
}
