/** Routes over HTTP: a hit against a bare route, one cold route against one embedding, and the rates that hold. */
import { modelById, TransformersEmbedder } from '../../src/embedding/index.ts';
import { type RunningChild, startBuiltService, startReference } from '../child.ts';
import { type LoadResult, load, median, post } from '../http-load.ts';
import { highestHeldRate, type OpenLoopResult, openLoop } from '../open-loop.ts';
import { type BenchCase, type Finding, isQuick, shown } from '../report.ts';
import { CAPABILITIES, request } from '../texts.ts';

const P99_MS = 39;
const SECONDS = isQuick ? 1 : 5;
const HOT_INTENTS = 200;

/** What a cold route asks of the embedder is more than one text where the text has a place to cut. */
const CUT_NOTE = 'of the new texts a quarter has two clauses, each embedded too: 1.5 texts a cold route';

/** Before the first rate counts: code that is not compiled yet takes several times as long. */
async function warmUp(url: string, body: () => string): Promise<void> {
  await openLoop({ url, perSecond: 80, seconds: SECONDS, body });
}

/** No text is asked twice in one run of the benchmarks. */
let nextText = 1_000_000;
const freshBody = (): string => JSON.stringify({ intent: request(nextText++) });

export async function registerAll(url: string): Promise<void> {
  for (const [i, capability] of CAPABILITIES.entries()) {
    const agent = { agentId: `bench-${i}`, capabilities: [capability], transport: { type: 'local' } };
    const { status, text } = await post(`${url}/v1/agents`, JSON.stringify(agent));
    if (status > 201) throw new Error(text);
  }
  // Otherwise the rebuild that a change starts would run beside the first seconds of the measurement.
  const { status, text } = await post(`${url}/v1/index/rebuild`, '{}');
  if (status !== 200) throw new Error(text);
}

async function withService<T>(run: (service: RunningChild, routeUrl: string) => Promise<T>): Promise<T> {
  const service = await startBuiltService();
  try {
    await registerAll(service.url);
    return await run(service, `${service.url}/v1/route`);
  } finally {
    await service.stop();
  }
}

export async function withEmbedder<T>(run: (embedder: TransformersEmbedder) => Promise<T>): Promise<T> {
  const embedder = new TransformersEmbedder({ model: modelById('zh-en-small') });
  await embedder.start();
  try {
    return await run(embedder);
  } finally {
    await embedder.stop();
  }
}

/** Texts a second of the embedder alone, in batches of 16. */
export function embedderRate(texts = isQuick ? 160 : 800): Promise<number> {
  return withEmbedder(async (embedder) => {
    const start = performance.now();
    for (let i = 0; i < texts; i += 16) {
      await embedder.embed(
        Array.from({ length: 16 }, () => request(nextText++)),
        { kind: 'query' },
      );
    }
    return texts / ((performance.now() - start) / 1_000);
  });
}

export const hitCase: BenchCase = {
  name: 'hit against a bare route',
  run: () =>
    withService(async (_, routeUrl) => {
      const body = JSON.stringify({ intent: request(1) });
      const sample = await post(routeUrl, body);
      const hot = await post(routeUrl, body);
      const reference = await startReference(hot.text);
      const rounds: { hit: LoadResult; bare: LoadResult }[] = [];
      for (let round = 0; round < (isQuick ? 2 : 9); round++) {
        const plan = { concurrency: 16, requests: isQuick ? 400 : 4_000, body: () => body };
        const hit = await load({ ...plan, url: routeUrl });
        const bare = await load({ ...plan, url: `${reference.url}/v1/route` });
        if (round > 0) rounds.push({ hit, bare });
      }
      await reference.stop();
      const ratio = median(rounds.map(({ hit, bare }) => hit.perSecond / bare.perSecond));
      const hitRate = median(rounds.map(({ hit }) => hit.perSecond));
      return [
        {
          what: 'route hit / bare Hono route, requests a second',
          measured: shown(ratio),
          target: '>= 0.80',
          isMet: ratio >= 0.8,
          note: `${shown(hitRate)} hits/s, reply of ${sample.text.length} bytes, 8 interleaved rounds`,
          figures: { ratio, hitRate },
        },
      ];
    }),
};

export const coldCase: BenchCase = {
  name: 'cold routes',
  async run() {
    const before = await embedderRate();
    const alone = await oneCold();
    const { held, tried } = await withService(async (_, url) => {
      await warmUp(url, freshBody);
      const shares = isQuick ? [0.3] : [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9];
      const rates = shares.map((share) => Math.round(share * before));
      return highestHeldRate(rates, P99_MS, (perSecond) =>
        openLoop({ url, perSecond, seconds: SECONDS, body: freshBody }),
      );
    });
    const after = await embedderRate();
    const own = (before + after) / 2;
    const share = held / own;
    return [
      alone,
      {
        what: `cold routes a second held at p99 <= ${P99_MS} ms / embedder's own texts a second`,
        measured: shown(share),
        target: '>= 0.60',
        isMet: share >= 0.6,
        note: `${held}/s held, embedder alone ${shown(own)} texts/s in batches of 16; ${CUT_NOTE}; ${steps(tried)}`,
        figures: { share, held, own },
      },
    ];
  },
};

/** One cold route at a time on an idle service, each beside one embedding of a text like it. */
async function oneCold(): Promise<Finding> {
  return withEmbedder((embedder) =>
    withService(async (_, url) => {
      const routes: number[] = [];
      const embeddings: number[] = [];
      for (let i = 0; i < (isQuick ? 40 : 220); i++) {
        const n = nextText++;
        let start = performance.now();
        await post(url, JSON.stringify({ intent: request(n) }));
        const route = performance.now() - start;
        start = performance.now();
        // The same template with other words: as long as the routed one, and new.
        await embedder.embed([request(n + 8_000_000)], { kind: 'query' });
        if (i < 20) continue;
        routes.push(route);
        embeddings.push(performance.now() - start);
      }
      const [route, embedding] = [median(routes), median(embeddings)];
      const overhead = route - embedding;
      return {
        what: 'one cold route on an idle service, p50 over one embedding',
        measured: `${shown(overhead)} ms`,
        target: '<= 1 ms',
        isMet: overhead <= 1,
        note: `route ${shown(route)} ms, embedding ${shown(embedding)} ms, interleaved one by one`,
        figures: { route, embedding, overhead },
      };
    }),
  );
}

export const mixedCase: BenchCase = {
  name: 'mixed load',
  async run() {
    const own = await embedderRate();
    const rates = isQuick ? [100] : [600, 900, 1_200, 1_350, 1_500, 1_650, 1_800];
    const { held, tried } = await withService(async (_, url) => {
      const hot = Array.from({ length: HOT_INTENTS }, (__, i) => JSON.stringify({ intent: request(i) }));
      for (const body of hot) await post(url, body);
      let n = 0;
      const body = (): string => (n++ % 20 < 17 ? (hot[n % HOT_INTENTS] ?? '') : freshBody());
      await warmUp(url, body);
      return highestHeldRate(rates, P99_MS, (perSecond) => openLoop({ url, perSecond, seconds: SECONDS, body }));
    });
    return [
      {
        what: `85 % hits: requests a second held at p99 <= ${P99_MS} ms`,
        measured: `${held}/s`,
        target: '1,500/s, or where the embedder is the limit',
        isMet: held >= 1_500 || held * 0.15 >= 0.6 * own,
        note: `${shown(held * 0.15)} of them cold, embedder alone ${shown(own)} texts/s; ${CUT_NOTE}; ${steps(tried)}`,
        figures: { held, own },
      },
    ];
  },
};

function steps(tried: readonly OpenLoopResult[]): string {
  return tried.map((one) => `${one.perSecond}/s p99 ${shown(one.p99Ms)} ms`).join(', ');
}
