import { parseCapabilityName } from '../capability/index.ts';
import {
  type GoldenLine,
  type GoldenLineInput,
  type GoldenMiss,
  type GoldenPutReply,
  MAX_GOLDEN_LINES,
} from '../contract/index.ts';
import { AgentReachError, canonicalText, contentHash, hasWords, retryOnConflict } from '../core/index.ts';

/** The golden set on the disk. Error: AR_ERR_STORE_UNAVAILABLE. */
export interface GoldenStore {
  load(): Promise<GoldenLine[]>;
  /** Durable when resolved, all or nothing. */
  commit(change: { readonly put?: readonly GoldenLine[]; readonly remove?: readonly string[] }): Promise<void>;
}

export interface GoldenOutcome {
  readonly right: number;
  readonly wrong: readonly GoldenMiss[];
}

/** Lines asked at once: enough for the model to batch, few beside live routes. */
const ASKED_AT_ONCE = 8;

/** Lines of text with the capability that must be meant; few, in memory, and never changed by the service itself. */
export class GoldenSet {
  readonly #store: GoldenStore;
  readonly #lines = new Map<string, GoldenLine>();

  constructor(store: GoldenStore) {
    this.#store = store;
  }

  async load(): Promise<void> {
    for (const line of await this.#store.load()) this.#lines.set(line.id, line);
  }

  /** What another instance stored. */
  follow({ put, remove }: { readonly put: readonly GoldenLine[]; readonly remove: readonly string[] }): void {
    for (const line of put) this.#lines.set(line.id, line);
    for (const id of remove) this.#lines.delete(id);
  }

  get size(): number {
    return this.#lines.size;
  }

  /** By id. */
  list(): GoldenLine[] {
    return [...this.#lines.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** All or nothing. Errors: AR_ERR_INVALID_INTENT, AR_ERR_INVALID_CAPABILITY, AR_ERR_INVALID_REQUEST (too many). */
  put(inputs: readonly GoldenLineInput[]): Promise<GoldenPutReply> {
    return retryOnConflict(() => this.#put(inputs));
  }

  /** Error: AR_ERR_NOT_FOUND. */
  remove(id: string): Promise<void> {
    return retryOnConflict(() => this.#remove(id));
  }

  /** Asks these lines; `answer` says which capability is meant, null for none. */
  async ask(
    answer: (line: GoldenLine) => Promise<string | null>,
    lines: readonly GoldenLine[] = this.list(),
    onDone: (done: number, total: number) => void = () => {},
  ): Promise<GoldenOutcome> {
    const wrong: GoldenMiss[] = [];
    for (let from = 0; from < lines.length; from += ASKED_AT_ONCE) {
      const asked = lines.slice(from, from + ASKED_AT_ONCE);
      const answers = await Promise.all(asked.map(answer));
      for (const [i, { id, text, namespace, capability: expected }] of asked.entries()) {
        const answered = answers[i] ?? null;
        if (answered !== expected) wrong.push({ id, text, namespace, expected, answered });
      }
      onDone(from + asked.length, lines.length);
    }
    return { right: lines.length - wrong.length, wrong };
  }

  async #put(inputs: readonly GoldenLineInput[]): Promise<GoldenPutReply> {
    const lines = new Map<string, GoldenLine>();
    for (const [i, input] of inputs.entries()) {
      const line = goldenLine(input, inputs.length === 1 ? '' : `lines[${i}].`);
      lines.set(line.id, line);
    }
    const added = [...lines.keys()].filter((id) => !this.#lines.has(id)).length;
    if (this.#lines.size + added > MAX_GOLDEN_LINES) {
      throw new AgentReachError('AR_ERR_INVALID_REQUEST', {
        detail: `The golden set holds at most ${MAX_GOLDEN_LINES} lines; this would make ${this.#lines.size + added}.`,
      });
    }
    const items = [...lines.values()];
    await this.#store.commit({ put: items });
    for (const line of items) this.#lines.set(line.id, line);
    return { added, updated: items.length - added, items };
  }

  async #remove(id: string): Promise<void> {
    if (!this.#lines.has(id)) {
      throw new AgentReachError('AR_ERR_NOT_FOUND', { detail: `There is no golden line ${id}.` });
    }
    await this.#store.commit({ remove: [id] });
    this.#lines.delete(id);
  }
}

function goldenLine({ id, text, capability, namespace = 'default' }: GoldenLineInput, place: string): GoldenLine {
  if (!hasWords(canonicalText(text))) {
    const issues = [{ path: `${place}text`, message: 'holds no words' }];
    throw new AgentReachError('AR_ERR_INVALID_INTENT', { detail: 'A golden line holds no words.', issues });
  }
  const name = capability === null ? null : parseCapabilityName(capability, { known: [], path: `${place}capability` });
  return { id: id ?? contentHash(`${namespace}\n${text}`).slice(0, 16), text, capability: name, namespace };
}

/** One line of a failed check, as people read it. */
export function missText({ id, text, expected, answered }: GoldenMiss): string {
  return `${id}: "${text}" should be ${expected ?? 'no match'} and is ${answered ?? 'no match'}`;
}
