/**
 * What the registered agents say of each capability, every different definition once with the number of agents that
 * say it. A thousand equal agents cost the union of one; a change that alters no set of definitions is known as such
 * without computing a union.
 */
import {
  type CapabilityDefinition,
  type CapabilityMeaning,
  type DictionaryEntry,
  unionMeaning,
} from '../capability/index.ts';
import type { CapabilityName } from '../core/index.ts';
import type { AgentRecord } from './agent-record.ts';

interface Said {
  readonly definition: CapabilityDefinition;
  agents: number;
}

export interface NamedCapability {
  readonly namespace: string;
  readonly name: CapabilityName;
}

export const capabilityKey = (namespace: string, name: string): string => `${namespace}/${name}`;

/** What of a definition goes into its meaning. */
function fingerprintOf(definition: CapabilityDefinition): string {
  return JSON.stringify([definition.description, definition.aliases, definition.examples, definition.sensitive]);
}

export class MeaningBook {
  readonly #said = new Map<string, Map<string, Said>>();
  readonly #entryOf: (namespace: string, name: string) => DictionaryEntry | undefined;

  constructor(entryOf: (namespace: string, name: string) => DictionaryEntry | undefined) {
    this.#entryOf = entryOf;
  }

  /** Takes `record` in place of `old`; answers the capabilities whose definitions changed by that. */
  replace(old: AgentRecord | undefined, record: AgentRecord | undefined): NamedCapability[] {
    const changed = new Map<string, NamedCapability>();
    // Adding first: a definition that stays is never counted down to nobody in between.
    for (const definition of record?.capabilities ?? []) {
      const at = { namespace: record?.namespace ?? '', name: definition.name };
      if (this.#add(at, definition)) changed.set(capabilityKey(at.namespace, at.name), at);
    }
    for (const definition of old?.capabilities ?? []) {
      const at = { namespace: old?.namespace ?? '', name: definition.name };
      if (this.#remove(at, definition)) changed.set(capabilityKey(at.namespace, at.name), at);
    }
    return [...changed.values()];
  }

  /** The capability as it stands. */
  meaning(at: NamedCapability, entry = this.#entryOf(at.namespace, at.name)): CapabilityMeaning {
    const said = this.#said.get(capabilityKey(at.namespace, at.name))?.values() ?? [];
    return unionMeaning(
      at.namespace,
      at.name,
      Array.from(said, (one) => one.definition),
      entry,
    );
  }

  /** The capabilities of `record` as they will stand once it has taken the place of `old`. */
  meaningsWith(
    old: AgentRecord | undefined,
    record: AgentRecord,
    entries: readonly DictionaryEntry[],
  ): CapabilityMeaning[] {
    return record.capabilities.map((definition) => {
      const { name } = definition;
      const gone = old?.namespace === record.namespace ? old.capabilities.find((one) => one.name === name) : undefined;
      const definitions = [definition];
      for (const [fingerprint, said] of this.#said.get(capabilityKey(record.namespace, name)) ?? []) {
        if (said.agents === 1 && gone !== undefined && fingerprint === fingerprintOf(gone)) continue;
        definitions.push(said.definition);
      }
      const entry = entries.find((one) => one.name === name) ?? this.#entryOf(record.namespace, name);
      return unionMeaning(record.namespace, name, definitions, entry);
    });
  }

  #add(at: NamedCapability, definition: CapabilityDefinition): boolean {
    const key = capabilityKey(at.namespace, at.name);
    let said = this.#said.get(key);
    if (said === undefined) {
      said = new Map();
      this.#said.set(key, said);
    }
    const fingerprint = fingerprintOf(definition);
    const known = said.get(fingerprint);
    if (known === undefined) said.set(fingerprint, { definition, agents: 1 });
    else known.agents += 1;
    return known === undefined;
  }

  #remove(at: NamedCapability, definition: CapabilityDefinition): boolean {
    const key = capabilityKey(at.namespace, at.name);
    const said = this.#said.get(key);
    const fingerprint = fingerprintOf(definition);
    const known = said?.get(fingerprint);
    if (said === undefined || known === undefined) return false;
    known.agents -= 1;
    if (known.agents > 0) return false;
    said.delete(fingerprint);
    if (said.size === 0) this.#said.delete(key);
    return true;
  }
}
