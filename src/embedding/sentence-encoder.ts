import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { env } from '@xenova/transformers/src/env.js';
import { AutoTokenizer, type PreTrainedTokenizer } from '@xenova/transformers/src/tokenizers.js';
import ort, { type InferenceSession } from 'onnxruntime-node';
import { systemClock } from '../core/index.ts';
import { groupByLength } from './length-groups.ts';
import type { WorkerSettings } from './worker-messages.ts';

const HASHED_AT_ONCE_BYTES = 1 << 20;

/**
 * Tokenizer and ONNX session of one model: texts in, unit vectors out. Blocks its thread for the length of a run
 * (2-5 ms a short text) and must not be loaded by two threads of a process, so it lives in embedding-worker.ts only.
 * Reads nothing but the model's folder.
 */
export class SentenceEncoder {
  readonly #settings: WorkerSettings;
  readonly #tokenizer: PreTrainedTokenizer;
  readonly #session: InferenceSession;

  private constructor(settings: WorkerSettings, tokenizer: PreTrainedTokenizer, session: InferenceSession) {
    this.#settings = settings;
    this.#tokenizer = tokenizer;
    this.#session = session;
  }

  /** Loads, checks the weights against the catalogue, and runs once, since the first run is the slowest. */
  static async load(settings: WorkerSettings): Promise<{ encoder: SentenceEncoder; stagesMs: Record<string, number> }> {
    const stagesMs: Record<string, number> = {};
    const timed = async <T>(stage: string, work: () => Promise<T>): Promise<T> => {
      const startedAt = systemClock.now();
      const result = await work();
      stagesMs[stage] = Math.round(systemClock.now() - startedAt);
      return result;
    };
    const weights = await timed('check', () => checkedWeights(settings));
    const tokenizer = await timed('tokenizer', () => loadTokenizer(settings));
    // By its path: of a model handed over as bytes, onnxruntime-node 1.14 ignores the options, and then every run spins
    // on all cores, for twice the CPU time of one thread and the same wall time.
    const session = await timed('session', () =>
      ort.InferenceSession.create(weights.path, {
        intraOpNumThreads: 1,
        interOpNumThreads: 1,
        graphOptimizationLevel: 'all',
      }),
    );
    await weights.assertUnchanged();
    const encoder = new SentenceEncoder(settings, tokenizer, session);
    await timed('warm', () => encoder.encode(['warm up 预热']));
    return { encoder, stagesMs };
  }

  /** Vectors end to end, in the order of the texts. */
  async encode(texts: readonly string[]): Promise<Float32Array> {
    const { dimensions, batching } = this.#settings;
    const tokens = texts.map((text) => this.tokenIds(text));
    const groups =
      batching === 'padded' ? groupByLength(tokens.map((ids) => ids.length)) : tokens.map((_, index) => [index]);
    const vectors = new Float32Array(texts.length * dimensions);
    for (const group of groups) await this.#runGroup(group, tokens, vectors);
    return vectors;
  }

  /** Ids with the special tokens; a long text loses its tail, never its closing token. */
  tokenIds(text: string): readonly number[] {
    const { maxTokens } = this.#settings;
    const ids = this.#tokenizer.encode(text);
    const closing = ids.at(-1);
    return ids.length <= maxTokens || closing === undefined ? ids : [...ids.slice(0, maxTokens - 1), closing];
  }

  async #runGroup(
    group: readonly number[],
    tokens: readonly (readonly number[])[],
    vectors: Float32Array,
  ): Promise<void> {
    const rows = group.map((index) => tokens[index] ?? []);
    const width = Math.max(...rows.map((ids) => ids.length));
    const size = rows.length * width;
    const inputIds = new BigInt64Array(size).fill(BigInt(this.#tokenizer.pad_token_id ?? 0));
    const attentionMask = new BigInt64Array(size);
    rows.forEach((ids, row) => {
      ids.forEach((id, column) => {
        inputIds[row * width + column] = BigInt(id);
        attentionMask[row * width + column] = 1n;
      });
    });
    const shape = [rows.length, width];
    const feeds: Record<string, InstanceType<typeof ort.Tensor>> = {
      input_ids: new ort.Tensor('int64', inputIds, shape),
      attention_mask: new ort.Tensor('int64', attentionMask, shape),
    };
    if (this.#session.inputNames.includes('token_type_ids')) {
      feeds.token_type_ids = new ort.Tensor('int64', new BigInt64Array(size), shape);
    }
    const output = (await this.#session.run(feeds)).last_hidden_state;
    const { dimensions } = this.#settings;
    if (output === undefined || output.dims[2] !== dimensions || !(output.data instanceof Float32Array)) {
      throw new Error(`the model's output is not float32 of ${dimensions} dimensions`);
    }
    const states = output.data;
    rows.forEach((ids, row) => {
      const hidden = states.subarray(row * width * dimensions, (row * width + ids.length) * dimensions);
      const target = (group[row] ?? 0) * dimensions;
      meanPool(hidden, vectors.subarray(target, target + dimensions));
    });
  }
}

/** Mean of the token states, brought to unit length; the mean's divisor falls away. */
function meanPool(states: Float32Array, vector: Float32Array): void {
  const dimensions = vector.length;
  for (let token = 0; token < states.length; token += dimensions) {
    for (let dimension = 0; dimension < dimensions; dimension++) {
      vector[dimension] = (vector[dimension] ?? 0) + (states[token + dimension] ?? 0);
    }
  }
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares);
  // A vector of NaN would pass every later check by comparing false: stop it here.
  if (!(length > 0) || !Number.isFinite(length)) throw new Error('the model gave a vector without a direction');
  for (let dimension = 0; dimension < dimensions; dimension++) {
    vector[dimension] = (vector[dimension] ?? 0) / length;
  }
}

async function loadTokenizer(settings: WorkerSettings): Promise<PreTrainedTokenizer> {
  env.allowRemoteModels = false;
  env.localModelPath = settings.modelsPath;
  return AutoTokenizer.from_pretrained(settings.folder, { local_files_only: true });
}

interface CheckedWeights {
  readonly path: string;
  /** Error where the file is not the one that was checked any more: it was swapped or written meanwhile. */
  assertUnchanged(): Promise<void>;
}

async function checkedWeights(settings: WorkerSettings): Promise<CheckedWeights> {
  const name = `${settings.folder}/${settings.weights}`;
  const path = join(settings.modelsPath, settings.folder, settings.weights);
  const unreadable = (error: unknown): never => {
    throw new Error(`${name} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  };
  const identity = async (): Promise<string> => {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true }).catch(unreadable);
    return [dev, ino, size, mtimeNs, ctimeNs].join();
  };
  const checked = await identity();
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: HASHED_AT_ONCE_BYTES })) {
      hash.update(chunk as Buffer);
    }
  } catch (error) {
    unreadable(error);
  }
  const found = hash.digest('hex');
  if (found !== settings.fingerprint) {
    throw new Error(
      `${name} is not the file that the catalogue names: SHA-256 ${found.slice(0, 12)}..., expected ${settings.fingerprint.slice(0, 12)}...`,
    );
  }
  return {
    path,
    async assertUnchanged() {
      if ((await identity()) !== checked) throw new Error(`${name} was changed while it was loaded`);
    },
  };
}
