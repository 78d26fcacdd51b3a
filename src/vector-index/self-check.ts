import type { HnswIndex } from './hnsw-index.ts';
import type { IndexSelfCheck } from './vector-index.ts';

const TOP_K = 10;
const SAMPLES = 200;
export const REQUIRED_RECALL = 0.99;
/**
 * How far a question lies off the stored vector it is made from, towards another one. At 0 the graph would only have
 * to read a node's own links, which even a bad one has right; real questions are never exactly a stored text.
 */
const ASIDE = 0.5;

/**
 * Recall@10 of the graph against the exact scan of the same rows, for questions beside stored vectors that are spread
 * evenly over the ids. A found vector counts when it is as near as the true tenth, so that equal vectors do not make a
 * good graph look bad. Costs 200 exact scans: 0.5 s at 10k vectors of 384 dimensions.
 * `onSample` may throw to give up.
 */
export function checkRecall(index: HnswIndex, onSample: () => void = () => {}): IndexSelfCheck {
  const ids = [...index.ids()];
  const samples = Math.min(SAMPLES, ids.length);
  let found = 0;
  let wanted = 0;
  for (let i = 0; i < samples; i++) {
    onSample();
    const query = questionBeside(index, ids, Math.floor((i * ids.length) / samples));
    const truth = index.searchExactly(query, TOP_K);
    const worst = truth.at(-1)?.similarity ?? 0;
    wanted += truth.length;
    for (const neighbor of index.search(query, TOP_K)) if (neighbor.similarity >= worst) found++;
  }
  return { recallAt10: wanted === 0 ? 1 : found / wanted, samples };
}

/**
 * Ids of stored vectors (`among`: of these) that the graph does not find when it is asked for exactly them, at most `most` of them: a text
 * that nothing leads to would be registered and never answered. A nearer-or-equal twin counts as found. Costs one
 * search a vector.
 */
export function unreachableIds(
  index: HnswIndex,
  most: number,
  onSample: () => void = () => {},
  among: Iterable<string> = index.ids(),
): string[] {
  const lost: string[] = [];
  for (const id of among) {
    onSample();
    const vector = index.vectorOf(id);
    if (vector === undefined) continue;
    const own = index.similarityOf(id, vector) ?? 0;
    const nearest = index.search(vector, 1)[0];
    if (nearest !== undefined && nearest.similarity >= own) continue;
    lost.push(id);
    if (lost.length >= most) break;
  }
  return lost;
}

function questionBeside(index: HnswIndex, ids: readonly string[], at: number): Float32Array {
  const near = index.vectorOf(ids[at] as string) ?? new Float32Array(index.dimensions);
  // A prime step, so that the other one is rarely of the same cluster.
  const other = index.vectorOf(ids[(at + 7919) % ids.length] as string) ?? near;
  const question = near.map((value, i) => value + ASIDE * (other[i] ?? 0));
  const length = Math.hypot(...question);
  return length > 0 ? question.map((value) => value / length) : near;
}
