export { CachingEmbedder } from './caching-embedder.ts';
export {
  type CalibrationLine,
  fusedEvidence,
  lexicalStrength,
  logCrowd,
  type ModelCalibration,
  type PlainCalibration,
  type RelevanceEvidence,
  relevanceOf,
  UNFITTED,
} from './calibration.ts';
export type { Embedder, EmbedderHealth, EmbedderInfo, EmbedOptions, TextKind } from './embedder.ts';
export { HashEmbedder, type HashEmbedderOptions } from './hash-embedder.ts';
export {
  DEFAULT_MODEL_ID,
  MODELS,
  type ModelRow,
  modelById,
  resolveModelsPath,
} from './model-catalog.ts';
export {
  type EvidenceRegime,
  type FitOrigin,
  type LeftOutShares,
  loadCalibration,
  parseRelevanceWeights,
  RANKED_BY,
  type RankedBy,
  type RankingWeights,
  REGIMES,
  RELEVANCE_FILE,
  type RegimeWeights,
  type RelevanceWeights,
} from './relevance-weights.ts';
export { TransformersEmbedder, type TransformersEmbedderOptions } from './transformers-embedder.ts';
