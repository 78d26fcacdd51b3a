/** A small closed-loop HTTP client on kept-alive connections, quick enough not to be what is measured. */
import { Agent, request } from 'node:http';

export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface LoadPlan {
  readonly url: string;
  readonly concurrency: number;
  /** Requests in all. */
  readonly requests: number;
  readonly body: (n: number) => string;
  /** Throws where an answer of status 200 is no success. */
  readonly assertAnswer?: (text: string) => void;
}

const agent = new Agent({ keepAlive: true, maxSockets: 256 });

export function post(url: string, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

export async function load(plan: LoadPlan): Promise<LoadResult> {
  const times: number[] = [];
  let next = 0;
  const start = performance.now();
  const worker = async (): Promise<void> => {
    while (next < plan.requests) {
      const body = plan.body(next++);
      const sentAt = performance.now();
      const { status, text } = await post(plan.url, body);
      if (status !== 200) throw new Error(`status ${status}: ${text}`);
      times.push(performance.now() - sentAt);
      plan.assertAnswer?.(text);
    }
  };
  await Promise.all(Array.from({ length: plan.concurrency }, worker));
  const seconds = (performance.now() - start) / 1_000;
  times.sort((a, b) => a - b);
  return {
    requests: times.length,
    perSecond: times.length / seconds,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
  };
}

/** Of an ascending list. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}
