/**
 * The numbers that turn evidence into relevance, fitted on training data for one model and kept beside it. Numbers
 * that were fitted for other weights would mean nothing, so the fingerprint must agree.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../core/index.ts';
import { type ModelCalibration, type PlainCalibration, UNFITTED } from './calibration.ts';
import { type ModelRow, resolveModelsPath } from './model-catalog.ts';

/**
 * What is known of most capabilities that an intent could mean: a name alone, texts, phrases too, or that a head has
 * learnt them; the last, that a head has learnt all of them.
 */
export const REGIMES = ['names', 'texts', 'phrases', 'head', 'learnt'] as const;
export type EvidenceRegime = (typeof REGIMES)[number];

/**
 * Ways of ranking, the simplest first: the nearest text of a capability; all texts of it and, where it has more than a
 * name, words; words of bare names too.
 */
export const RANKED_BY = ['dense', 'describedWords', 'allWords'] as const;
export type RankedBy = (typeof RANKED_BY)[number];

/** What a way had right of families of sets that were left out of its fit: in registries of their own, among others. */
export interface LeftOutShares {
  readonly own: number | null;
  readonly among: number | null;
}

/** Evidence of one capability -> log odds of being meant rather than another; by feature name. */
export type RankingWeights = Readonly<Record<string, number>>;

export interface RegimeWeights {
  /** Chosen by the fit: a finer way stays only where it beats the simpler ones. */
  readonly by?: RankedBy;
  readonly leftOut?: Readonly<Record<RankedBy, LeftOutShares>>;
  readonly ranking: RankingWeights;
  /**
   * How surely one question of the fit holds `ranking`: second derivatives by feature and feature, in the order of the
   * features. What a registry learns for itself begins from there; absent, it learns nothing.
   */
  readonly curvature?: readonly (readonly number[])[];
  /** Leader and field -> log odds of being right; by feature name. */
  readonly trust: Readonly<Record<string, number>>;
}

/** What weights were fitted on: the same data and seed give the same weights. */
export interface FitOrigin {
  /** SHA-256 of all questions and capabilities asked, hex. */
  readonly dataDigest: string;
  readonly seed: number;
  readonly questionsPerSet: number;
  readonly questions: number;
}

export interface RelevanceWeights {
  /** SHA-256 of the model's weights, as its row of the catalogue says. */
  readonly fingerprint: string;
  readonly origin?: FitOrigin;
  /** For when the model is out of order, and to choose the leaders that are judged. */
  readonly plain?: PlainCalibration;
  readonly regimes: Readonly<Record<EvidenceRegime, RegimeWeights>>;
}

export const RELEVANCE_FILE = 'relevance.json';

/** The calibration of a model with its fitted weights; without them, and why, when they are absent or another's. */
export async function loadCalibration(
  model: ModelRow,
  modelsPath?: string,
): Promise<{ readonly calibration: ModelCalibration; readonly problem: string | null }> {
  try {
    const path = join(resolveModelsPath(modelsPath), model.folder, RELEVANCE_FILE);
    const fitted = parseRelevanceWeights(JSON.parse(await readFile(path, 'utf8')), model.fingerprint);
    return { calibration: { ...(fitted.plain ?? UNFITTED), fitted }, problem: null };
  } catch (error) {
    return { calibration: UNFITTED, problem: errorText(error) };
  }
}

/** Error: of type Error, when a part is missing or not a number, or the weights are those of another model. */
export function parseRelevanceWeights(value: unknown, fingerprint: string): RelevanceWeights {
  const found = value as RelevanceWeights | null;
  if (found?.fingerprint !== fingerprint) {
    throw new Error(`${RELEVANCE_FILE} was fitted for other weights; run the fit again`);
  }
  if (!/^[0-9a-f]{64}$/.test(found.origin?.dataDigest ?? ''))
    throw new Error(`${RELEVANCE_FILE} does not say what it was fitted on`);
  const { lexicalWeight, hybrid, lexical } = found.plain ?? {};
  for (const numbers of [{ lexicalWeight }, hybrid, lexical]) {
    if (numbers === undefined || !Object.values(numbers).every(Number.isFinite)) {
      throw new Error(`${RELEVANCE_FILE} lacks a number of its plain part`);
    }
  }
  for (const regime of REGIMES) {
    for (const part of ['ranking', 'trust'] as const) {
      const weights = Object.values(found.regimes?.[regime]?.[part] ?? {});
      if (weights.length === 0 || !weights.every(Number.isFinite)) {
        throw new Error(`${RELEVANCE_FILE} lacks ${regime}.${part}`);
      }
    }
    const { ranking, curvature } = found.regimes[regime];
    const width = Object.keys(ranking).length;
    if (curvature !== undefined && !isSquare(curvature, width)) {
      throw new Error(`${RELEVANCE_FILE} lacks a number of ${regime}.curvature`);
    }
  }
  return found;
}

function isSquare(lines: readonly (readonly number[])[], width: number): boolean {
  return lines.length === width && lines.every((line) => line.length === width && line.every(Number.isFinite));
}
