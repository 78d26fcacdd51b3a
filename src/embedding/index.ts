export { CachingEmbedder } from './caching-embedder.ts';
export { type CalibrationLine, type ModelCalibration, type RelevanceEvidence, relevanceOf } from './calibration.ts';
export type { Embedder, EmbedderHealth, EmbedderInfo, TextKind } from './embedder.ts';
export { HashEmbedder, type HashEmbedderOptions } from './hash-embedder.ts';
export {
  DEFAULT_MODEL_ID,
  MODELS,
  type ModelRow,
  modelById,
  resolveModelsPath,
} from './model-catalog.ts';
export { TransformersEmbedder, type TransformersEmbedderOptions } from './transformers-embedder.ts';
