export { CachingEmbedder } from './caching-embedder.ts';
export type { Embedder, EmbedderHealth, EmbedderInfo, TextKind } from './embedder.ts';
export { HashEmbedder, type HashEmbedderOptions } from './hash-embedder.ts';
export {
  type CalibrationLine,
  DEFAULT_MODEL_ID,
  MODELS,
  type ModelCalibration,
  type ModelRow,
  modelById,
  resolveModelsPath,
} from './model-catalog.ts';
export { TransformersEmbedder, type TransformersEmbedderOptions } from './transformers-embedder.ts';
