/**
 * Which strategies are in force. One document at a time: what was put over the API goes before the file, the file
 * before the config alone. A document that cannot be used changes nothing; a change is one swap of a reference, so
 * whoever took the options before goes on with a whole version.
 */
import type { ReloadResult, StrategiesDocument, StrategiesReply, StrategySource } from '../../contract/index.ts';
import {
  AgentReachError,
  type Clock,
  type DiagnosticEvents,
  errorText,
  isAgentReachError,
  log,
  publish,
  retryOnConflict,
} from '../../core/index.ts';
import type { RoutingOptions } from '../routing-options.ts';
import { STRATEGIES } from './strategy-catalog.ts';
import { readStrategies, strategyWarnings } from './strategy-document.ts';
import { readStrategyText, refusedFile } from './strategy-file.ts';
import type { StoredStrategies, StrategyEdit, StrategyService, StrategyStore } from './strategy-service.ts';
import { compileStrategies, effectivePolicies } from './strategy-set.ts';

/** A file that is read again whenever somebody says that it may have changed. */
export interface StrategyFile {
  /** As the operator named it. */
  readonly path: string;
  read(): Promise<string>;
}

export interface StrategyBookOptions {
  readonly clock: Clock;
  readonly store: StrategyStore;
  /** What the config says, under every document. */
  readonly base: RoutingOptions;
  readonly file: StrategyFile | null;
}

type Reloaded = DiagnosticEvents['strategies.reloaded'];

interface Compiled {
  readonly document: StrategiesDocument;
  readonly options: RoutingOptions;
}

export class StrategyBook implements StrategyService {
  readonly #options: StrategyBookOptions;
  readonly #config: RoutingOptions;
  #file: (Compiled & { readonly text: string }) | null = null;
  #fileProblem: string | null = null;
  #stored: StoredStrategies | null = null;
  #api: Compiled | null = null;
  #apiProblem: string | null = null;
  /** Edits and reloads run one after the other: each judges what the one before left. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: StrategyBookOptions) {
    this.#options = options;
    this.#config = compileStrategies(options.base, {});
  }

  /** What every route takes once. */
  get current(): RoutingOptions {
    return this.#inForce?.options ?? this.#config;
  }

  get #inForce(): Compiled | null {
    return this.#api ?? this.#file;
  }

  get source(): StrategySource {
    return this.#api !== null ? 'api' : this.#file !== null ? 'file' : 'config';
  }

  /** Before the first route. Errors: AR_ERR_INVALID_STRATEGIES for the file; AR_ERR_STORE_UNAVAILABLE. */
  async load(): Promise<void> {
    this.#take((await this.#options.store.load()) ?? null);
    if (this.#options.file !== null) await this.reload('start');
  }

  show(): StrategiesReply {
    const { file } = this.#options;
    const stored = this.#stored;
    const inForce = this.#inForce;
    return {
      strategiesVersion: this.current.strategiesVersion,
      source: this.source,
      document: inForce?.document ?? null,
      warnings: inForce === null ? [] : strategyWarnings(inForce.document),
      effective: effectivePolicies(this.current),
      file: file && {
        path: file.path,
        strategiesVersion: this.#file?.options.strategiesVersion ?? null,
        problem: this.#fileProblem,
      },
      api: stored && {
        setBy: stored.setBy,
        setAt: new Date(stored.setAt).toISOString(),
        problem: this.#apiProblem,
      },
      catalogue: CATALOGUE,
    };
  }

  put(document: unknown, edit: StrategyEdit): Promise<StrategiesReply> {
    return this.#inTurn(async () => {
      const sound = this.#sound(document);
      await this.#store({ document: sound, setBy: edit.by, setAt: this.#options.clock.wallNow() }, edit);
      this.#tell('applied', 'put');
      return this.show();
    });
  }

  remove(edit: StrategyEdit): Promise<StrategiesReply> {
    return this.#inTurn(async () => {
      await this.#store(null, edit);
      this.#tell('applied', 'removed');
      return this.show();
    });
  }

  reload(why: Reloaded['why']): Promise<ReloadResult> {
    const { file } = this.#options;
    return this.#inTurn(async () => {
      if (file === null) {
        const detail = 'No strategies file is configured (routing.strategiesFile).';
        throw new AgentReachError('AR_ERR_NOT_FOUND', { detail });
      }
      const wasBroken = this.#fileProblem !== null;
      const result = await this.#reread(file, why);
      // A watch looks often; it tells only what is new.
      if (result !== 'unchanged' || why !== 'watch' || wasBroken) this.#tell(result, why);
      return result;
    });
  }

  /** What another instance put, or took away (null), over the API: it is stored already. */
  adopt(stored: StoredStrategies | null): void {
    const before = `${this.source} ${this.current.strategiesVersion}`;
    this.#take(stored);
    if (`${this.source} ${this.current.strategiesVersion}` !== before) this.#tell('applied', 'adopted');
  }

  #sound(document: unknown): StrategiesDocument {
    try {
      return readStrategies(document);
    } catch (error) {
      this.#tell('refused', 'put', errorText(error));
      throw error;
    }
  }

  /** Another instance has put or taken away something over the API. Error: AR_ERR_STORE_UNAVAILABLE. */
  async refresh(): Promise<void> {
    this.adopt((await this.#options.store.load()) ?? null);
  }

  async #store(stored: StoredStrategies | null, { expectedVersion }: StrategyEdit): Promise<void> {
    await retryOnConflict(async () => {
      const { strategiesVersion } = this.current;
      if (expectedVersion !== undefined && expectedVersion !== strategiesVersion) {
        throw new AgentReachError('AR_ERR_STRATEGIES_CONFLICT', {
          detail: `the strategies are at version ${strategiesVersion}, not ${expectedVersion}`,
        });
      }
      await this.#options.store.save(stored);
    });
    this.#take(stored);
  }

  /** A stored document that this version cannot use stays stored, and is told; the file serves meanwhile. */
  #take(stored: StoredStrategies | null): void {
    this.#stored = stored;
    this.#api = null;
    this.#apiProblem = null;
    if (stored === null) return;
    try {
      const document = readStrategies(stored.document);
      this.#api = { document, options: compileStrategies(this.#options.base, document) };
    } catch (error) {
      this.#apiProblem = errorText(error);
      log('error', 'the strategies put over the API cannot be used', { reason: this.#apiProblem });
    }
  }

  async #reread(file: StrategyFile, why: Reloaded['why']): Promise<ReloadResult> {
    try {
      const text = await readText(file);
      const isSame = text === this.#file?.text;
      if (!isSame) {
        const document = readStrategyText(text);
        this.#file = { text, document, options: compileStrategies(this.#options.base, document) };
      }
      this.#fileProblem = null;
      // Whoever asks is told that the file is not in force, also where it is as it was.
      if (this.#api !== null && !(isSame && why === 'watch')) return 'shadowed';
      return isSame ? 'unchanged' : 'applied';
    } catch (error) {
      if (!isAgentReachError(error)) throw error;
      const isNew = this.#fileProblem !== error.message;
      this.#fileProblem = error.message;
      const refused = refusedFile(file.path, error);
      if (isNew || why !== 'watch') this.#tell('refused', why, refused.message);
      throw refused;
    }
  }

  #inTurn<Result>(task: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(task);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  #tell(result: Reloaded['result'], why: Reloaded['why'], reason: string | null = null): void {
    const { source } = this;
    const { strategiesVersion: version } = this.current;
    const fields = { result, why, version, source, ...(reason === null ? {} : { reason }) };
    if (result === 'refused') log('warn', 'strategies are refused; those before stay in force', fields);
    else log('info', 'strategies are read', fields);
    publish('strategies.reloaded', { result, why, version, source, reason });
  }
}

async function readText(file: StrategyFile): Promise<string> {
  try {
    return await file.read();
  } catch (error) {
    const detail = `cannot be read: ${errorText(error)}`;
    throw new AgentReachError('AR_ERR_INVALID_STRATEGIES', { detail, cause: error });
  }
}

const CATALOGUE: StrategiesReply['catalogue'] = [...STRATEGIES.values()].map(({ name, kind, about, parameters }) => ({
  name,
  kind,
  about,
  parameters: Object.fromEntries(
    Object.entries(parameters.shape).map(([key, schema]) => [
      key,
      (schema as { description?: string }).description ?? '',
    ]),
  ),
}));
