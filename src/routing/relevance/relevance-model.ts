/**
 * Evidence for the capabilities that an intent could mean -> relevance of each. Two small logistic models, both fitted
 * on training data (`npm run fit`), both linear in the features below:
 *
 *     ranking   score(c)     = sum of weight x feature of c;   softmax(score) = chance that c is meant, if one is
 *     trust     L            = sum of weight x feature of the leader and of the field
 *               relevance(c) = 1 / (1 + exp(score(leader) - score(c) - L))
 *
 * so that the leader's relevance is the chance that it is right, everybody else's falls by the same odds by which the
 * ranking puts them behind, and no order is changed. Cost: about 40 multiplications a capability.
 */
import {
  type EvidenceRegime,
  lexicalStrength,
  type RankingWeights,
  type RelevanceWeights,
} from '../../embedding/index.ts';
import { logSumExp } from './phrase-head.ts';

export interface CapabilityEvidence {
  /** Cosine of the nearest text of each kind; of any kind where there is no text of that one. */
  readonly best: number;
  readonly name: number;
  readonly description: number;
  /** Examples and aliases. */
  readonly phrase: number;
  /** Mean over its three nearest examples and aliases. */
  readonly phraseMean: number;
  readonly phraseCount: number;
  readonly descriptionCount: number;
  /** BM25 score, unbounded, and the share of the intent's words that met, inflexions taken as one. */
  readonly lexicalScore: number;
  readonly coverage: number;
  /** What the phrase head says; undefined where it did not learn the capability. */
  readonly headLogit: number | undefined;
  /** Whether the intent holds its identifier, as `weather.query.city`. */
  readonly isNamed?: boolean;
}

export const RANKING_FEATURES = [
  'best',
  'name',
  'description',
  'phrase',
  'phraseMean',
  'lexical',
  'coverage',
  'nameLexical',
  'nameCoverage',
  'head',
] as const;
export const TRUST_FEATURES = [
  'score',
  'share',
  'margin',
  'best',
  'coverage',
  'head',
  'crowd',
  'few',
  'constant',
] as const;

export type RankingFeature = (typeof RANKING_FEATURES)[number];
export type TrustFeature = (typeof TRUST_FEATURES)[number];

/** Regime of a field, and the ranking features of each of its members, in the order of RANKING_FEATURES. */
export interface Field {
  readonly regime: EvidenceRegime;
  readonly rows: readonly (readonly number[])[];
  readonly isNamed: readonly boolean[];
}

/** A head that is sure of one class must not drown everything else that is known. */
const LEAST_HEAD = -8;
/** A leader this far ahead, in log odds, is as far ahead as can be. */
const MOST_MARGIN = 8;
/** What a capability without any evidence would score: who stands alone is measured against it. */
const NO_EVIDENCE = 0;
/** Sizes that the fit has seen; beyond them the line would be a guess. */
const FEWEST = 2;
const MOST = 5_000;
/**
 * Under so many capabilities `few` counts how much fewer there are, as ln: the lead among two says little, and two
 * serve less of what is asked.
 */
const SEVERAL = 25;
/**
 * Log odds by which the capability whose identifier the intent holds leads. No training set says identifiers, so this
 * is a choice: whoever types one means it, whatever else reads alike.
 */
const NAMED_LEAD = 20;

/**
 * What is known of most of a field decides by which weights it is judged; what is known of each, which of them count:
 * words of a capability of which only the name is known have weights of their own, since they are worth less.
 */

export function fieldOf(evidence: readonly CapabilityEvidence[]): Field {
  const withPhrases = evidence.filter(({ phraseCount }) => phraseCount > 0).length;
  const logits = evidence.flatMap(({ headLogit }) => (headLogit === undefined ? [] : [headLogit]));
  const isHeaded = logits.length > 0 && logits.length * 2 >= evidence.length;
  const headed = logits.length === evidence.length ? 'learnt' : 'head';
  const withTexts = evidence.filter((one) => one.phraseCount + one.descriptionCount > 0).length;
  const isMost = (count: number): boolean => count > 0 && count * 2 >= evidence.length;
  const regime = isHeaded ? headed : isMost(withPhrases) ? 'phrases' : isMost(withTexts) ? 'texts' : 'names';
  const total = logSumExp(logits);
  // A capability that the head has not learnt stands level with the one that it likes best: other evidence decides.
  const unknown = isHeaded ? Math.max(...logits) - total : 0;
  const rows = evidence.map((one) => {
    const head = one.headLogit === undefined ? unknown : Math.max(LEAST_HEAD, one.headLogit - total);
    const { best, name, description, phrase, phraseMean, coverage } = one;
    // Squared: a few common words in common mean next to nothing, a rare identifier nearly all. Where texts describe the
    // capabilities, families of train sets left out: 73.9 of 100 right by the strength, 74.5 squared, 73.9 cubed.
    const words = lexicalStrength(one.lexicalScore) ** 2;
    const isBare = one.phraseCount + one.descriptionCount === 0;
    const byWords = isBare ? [0, 0, words, coverage] : [words, coverage, 0, 0];
    return [best, name, description, phrase, phraseMean, ...byWords, isHeaded ? head : 0];
  });
  return {
    regime,
    rows,
    isNamed: evidence.map((one) => one.isNamed === true),
  };
}

/** In the order of TRUST_FEATURES. */
export function trustRow(
  rows: readonly (readonly number[])[],
  scores: readonly number[],
  capabilityCount: number,
  leader = leaderAt(scores),
): number[] {
  let second = scores.length > 1 ? Number.NEGATIVE_INFINITY : NO_EVIDENCE;
  for (const [at, score] of scores.entries()) if (at !== leader) second = Math.max(second, score);
  const [best = 0, , , , , , coverage = 0, , nameCoverage = 0, head = 0] = rows[leader] ?? [];
  const score = scores[leader] ?? 0;
  const margin = Math.min(MOST_MARGIN, score - second);
  const count = Math.min(MOST, Math.max(FEWEST, capabilityCount));
  const few = Math.max(0, Math.log(SEVERAL / count));
  const share = score - logSumExp(scores.length > 1 ? scores : [score, NO_EVIDENCE]);
  return [score, share, margin, best, coverage + nameCoverage, head, Math.log(count), few, 1];
}

/** The first of the best. */
export function leaderAt(scores: readonly number[]): number {
  return scores.indexOf(Math.max(...scores));
}

export function scoresOf(field: Field, ranking: RankingWeights): number[] {
  return field.rows.map((row, candidate) =>
    RANKING_FEATURES.reduce(
      (sum, name, at) => sum + (ranking[name] ?? 0) * (row[at] ?? 0),
      field.isNamed[candidate] === true ? NAMED_LEAD : 0,
    ),
  );
}

/**
 * One relevance for each piece of evidence, in its order. `own`: ranking weights that the registry has learnt from the
 * phrases of capabilities that its head has learnt; of others they know nothing, so they order only fields of those.
 * Trust looks at the fitted scores all the same, for which it was fitted: by own ones, which believe the head more,
 * relevance is too high.
 */
export function relevancesOf(
  weights: RelevanceWeights,
  evidence: readonly CapabilityEvidence[],
  capabilityCount: number,
  own?: RankingWeights,
): number[] {
  if (evidence.length === 0) return [];
  const field = fieldOf(evidence);
  const { ranking, trust } = weights.regimes[field.regime];
  const fitted = scoresOf(field, ranking);
  const scores = own !== undefined && field.regime === 'learnt' ? scoresOf(field, own) : fitted;
  const row = trustRow(field.rows, fitted, capabilityCount, leaderAt(scores));
  const odds = TRUST_FEATURES.reduce((sum, name, at) => sum + (trust[name] ?? 0) * (row[at] ?? 0), 0);
  const most = Math.max(...scores);
  return scores.map((score) => 1 / (1 + Math.exp(most - score - odds)));
}
