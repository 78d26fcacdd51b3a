/** Dictionary entries as the outside sees them: what is said of a name, and how many agents stand behind it. */
import {
  type CapabilityDictionary,
  type DictionaryEntry,
  parseCapabilityName,
  suggestNames,
} from '../capability/index.ts';
import type { CapabilityPage, CapabilityView, ListCapabilitiesQuery } from '../contract/index.ts';
import { AgentReachError, decodeCursor, pageOf } from '../core/index.ts';
import type { AgentDirectory } from './agent-directory.ts';
import { isRoutable } from './health.ts';
import type { MeaningBook } from './meaning-book.ts';

const ENTRY_KEY = /^[a-z0-9_.]+ [a-z0-9_-]+$/;
/** The order of `CapabilityDictionary.list`. */
const keyOf = (entry: DictionaryEntry): string => `${entry.name} ${entry.namespace}`;

export class CapabilityListing {
  readonly #dictionary: CapabilityDictionary;
  readonly #directory: AgentDirectory;
  readonly #book: MeaningBook;

  constructor(dictionary: CapabilityDictionary, directory: AgentDirectory, book: MeaningBook) {
    this.#dictionary = dictionary;
    this.#directory = directory;
    this.#book = book;
  }

  /** Error: AR_ERR_INVALID_CURSOR. */
  list(query: ListCapabilitiesQuery): CapabilityPage {
    const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, ENTRY_KEY);
    const { namespace, domain, status } = query;
    const entries = this.#dictionary.list({
      ...(namespace === undefined ? {} : { namespace }),
      ...(domain === undefined ? {} : { domain }),
      ...(status === undefined ? {} : { status }),
    });
    const page = pageOf(entries, keyOf, { after, limit: query.limit });
    return { items: page.items.map((entry) => this.view(entry)), nextCursor: page.nextCursor };
  }

  /** Errors, with names that were probably meant: AR_ERR_INVALID_CAPABILITY, AR_ERR_CAPABILITY_NOT_FOUND. */
  get(namespace: string, name: string): CapabilityView {
    const entry = this.#dictionary.get(namespace, name);
    if (entry !== undefined) return this.view(entry);
    parseCapabilityName(name, { known: this.#dictionary.names(namespace), path: 'name' });
    throw new AgentReachError('AR_ERR_CAPABILITY_NOT_FOUND', {
      detail: `no capability ${name} is registered in namespace ${namespace}`,
      suggestions: suggestNames(name, this.#dictionary.names(namespace)),
    });
  }

  view(entry: DictionaryEntry): CapabilityView {
    const meaning = this.#book.meaning(entry, entry);
    const agents = this.#directory.agentsOf(entry.namespace, entry.name);
    return {
      name: entry.name,
      namespace: entry.namespace,
      status: entry.status,
      replacedBy: entry.replacedBy,
      firstOwner: entry.firstOwner,
      sensitive: meaning.sensitive,
      descriptions: [...meaning.descriptions],
      aliases: [...meaning.aliases],
      examples: [...meaning.examples],
      operatorExamples: [...entry.examples],
      revision: entry.revision,
      agents: agents.length,
      routableAgents: agents.filter((agent) => isRoutable(agent.liveness.state)).length,
      firstSeenAt: new Date(entry.firstSeenAt).toISOString(),
    };
  }
}
