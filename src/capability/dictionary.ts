/**
 * Every name ever registered, by namespace. Mode `open` takes any well-formed name; mode `curated` takes approved names
 * only and files the others as proposed. Synchronous and without a store: each decision answers the entries that the
 * caller must store, and nothing here changes until they come back through `apply`.
 */
import { type CapabilityUpdate, MAX_OPERATOR_EXAMPLES, type Warning } from '../contract/index.ts';
import { AgentReachError, type CapabilityName, canonicalText, type ErrorIssue, hasWords } from '../core/index.ts';
import type { CapabilityDefinition } from './capability-definition.ts';
import { parseCapabilityName, segmentsOf } from './capability-name.ts';
import { nearDuplicateNames } from './name-lint.ts';
import { suggestNames } from './name-suggestion.ts';
import { NearNameIndex } from './near-name-index.ts';

export type DictionaryMode = 'open' | 'curated';
export type DictionaryStatus = 'active' | 'proposed' | 'deprecated';

export interface DictionaryEntry {
  readonly namespace: string;
  readonly name: CapabilityName;
  readonly firstOwner: string | null;
  /** Epoch milliseconds. */
  readonly firstSeenAt: number;
  readonly status: DictionaryStatus;
  /** The name to use instead; set while deprecated. */
  readonly replacedBy: CapabilityName | null;
  /** True once any definition said so, until an operator clears it. */
  readonly sensitive: boolean;
  /** The operator's own words, beside those of the agents. */
  readonly description: string | null;
  readonly examples: readonly string[];
  /** Rises with each word of an operator; 0 while only agents spoke. */
  readonly revision: number;
}

/** `entries` and `proposed` are new or changed and not yet in memory: store them, then `apply` them. */
export type Admission =
  | { readonly ok: true; readonly entries: readonly DictionaryEntry[]; readonly warnings: readonly Warning[] }
  | { readonly ok: false; readonly proposed: readonly DictionaryEntry[]; readonly error: AgentReachError };

export interface ListEntriesOptions {
  readonly namespace?: string;
  readonly domain?: string;
  readonly status?: DictionaryStatus;
}

export interface Registrant {
  readonly namespace: string;
  readonly agentId: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Proposals that wait for an operator, in one namespace. Each is stored for good, so that an unbounded list would let
 * refused registrations fill memory and disk; a name beyond it is refused all the same, but not filed.
 */
export const MAX_PROPOSALS = 10_000;
/** Suggestions cost a pass over the dictionary each; a refusal looks them up for its first names only. */
const MAX_SUGGESTED_FOR = 4;

interface Refusal {
  readonly issue: ErrorIssue;
  readonly isDeprecated: boolean;
  readonly suggestions: readonly string[];
}

export class CapabilityDictionary {
  readonly mode: DictionaryMode;
  readonly #byNamespace = new Map<string, Map<string, DictionaryEntry>>();
  readonly #nearNames = new Map<string, NearNameIndex>();

  constructor(mode: DictionaryMode = 'open') {
    this.mode = mode;
  }

  /** Takes over what the store holds, in place of all that was known. */
  load(entries: Iterable<DictionaryEntry>): void {
    this.#byNamespace.clear();
    this.#nearNames.clear();
    this.apply(entries);
  }

  /** Puts entries, once stored, into memory. */
  apply(entries: Iterable<DictionaryEntry>): void {
    for (const entry of entries) {
      let names = this.#byNamespace.get(entry.namespace);
      if (names === undefined) {
        names = new Map();
        this.#byNamespace.set(entry.namespace, names);
        this.#nearNames.set(entry.namespace, new NearNameIndex());
      }
      if (!names.has(entry.name)) this.#nearNames.get(entry.namespace)?.add(entry.name);
      names.set(entry.name, entry);
    }
  }

  get(namespace: string, name: string): DictionaryEntry | undefined {
    return this.#byNamespace.get(namespace)?.get(name);
  }

  /** Whether any namespace has the name. */
  knows(name: string): boolean {
    for (const names of this.#byNamespace.values()) if (names.has(name)) return true;
    return false;
  }

  /** Names worth suggesting: proposed ones, which nobody may use yet, and deprecated ones are left out. */
  names(namespace: string): string[] {
    const names: string[] = [];
    for (const entry of this.#byNamespace.get(namespace)?.values() ?? []) {
      if (entry.status === 'active') names.push(entry.name);
    }
    return names;
  }

  /** In order of name, then namespace. */
  list(options: ListEntriesOptions = {}): DictionaryEntry[] {
    const found: DictionaryEntry[] = [];
    for (const [namespace, names] of this.#byNamespace) {
      if (options.namespace !== undefined && options.namespace !== namespace) continue;
      for (const entry of names.values()) {
        if (options.status !== undefined && options.status !== entry.status) continue;
        if (options.domain !== undefined && options.domain !== segmentsOf(entry.name)[0]) continue;
        found.push(entry);
      }
    }
    const keyOf = (entry: DictionaryEntry): string => `${entry.name} ${entry.namespace}`;
    return found.sort((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
  }

  /**
   * Decides on the names of one registration, all or none. A refusal (curated mode only) carries
   * AR_ERR_CAPABILITY_NOT_APPROVED or AR_ERR_CAPABILITY_DEPRECATED and the proposals to store all the same, MAX_PROPOSALS in
   * all at most.
   */
  admit(definitions: readonly CapabilityDefinition[], registrant: Registrant): Admission {
    const entries: DictionaryEntry[] = [];
    const warnings: Warning[] = [];
    const refusals: Refusal[] = [];
    const proposed: DictionaryEntry[] = [];
    // Only refusals need it, and it takes a pass over the dictionary.
    const known = this.mode === 'curated' ? this.names(registrant.namespace) : [];
    let room = this.mode === 'curated' ? MAX_PROPOSALS - this.#proposals(registrant.namespace) : 0;
    for (const [index, definition] of definitions.entries()) {
      const old = this.get(registrant.namespace, definition.name);
      const isFiled = old !== undefined || room > 0;
      const refusal =
        this.mode === 'curated' ? this.#refusalOf(definition.name, old, { index, known, isFiled }) : undefined;
      if (refusal === undefined) {
        const entry = admitted(definition, old, registrant);
        if (entry !== old) entries.push(entry);
        warnings.push(...this.#warningsOf(entry));
        continue;
      }
      refusals.push(refusal);
      if (old !== undefined || !isFiled) continue;
      room -= 1;
      proposed.push({ ...newEntry(definition, registrant), status: 'proposed' });
    }
    return refusals.length === 0 ? { ok: true, entries, warnings } : { ok: false, proposed, error: errorOf(refusals) };
  }

  /**
   * An operator's word on a name, as the entry to store. Errors: AR_ERR_CAPABILITY_NOT_FOUND,
   * AR_ERR_INVALID_CAPABILITY, AR_ERR_INVALID_REQUEST (deprecation without a usable successor).
   */
  update(namespace: string, name: string, update: CapabilityUpdate): DictionaryEntry {
    const known = this.names(namespace);
    const old = this.get(namespace, parseCapabilityName(name, { known, path: 'name' }));
    if (old === undefined) {
      throw new AgentReachError('AR_ERR_CAPABILITY_NOT_FOUND', {
        detail: `${name} is not in the dictionary of namespace ${namespace}`,
        suggestions: suggestNames(name, known),
      });
    }
    const status = update.status ?? old.status;
    const description = update.description?.trim();
    return {
      ...old,
      status,
      replacedBy: this.#successorOf(old, status, update.replacedBy),
      sensitive: update.sensitive ?? old.sensitive,
      description: description === undefined ? old.description : description === '' ? null : description,
      examples: update.examples === undefined ? old.examples : readExamples(update.examples),
      revision: old.revision + 1,
    };
  }

  /** The name to use in place of a deprecated one, successors of successors followed. */
  replacementOf(namespace: string, name: string): CapabilityName | null {
    let found: CapabilityName | null = null;
    const seen = new Set<string>([name]);
    for (let entry = this.get(namespace, name); entry?.status === 'deprecated' && entry.replacedBy !== null; ) {
      if (seen.has(entry.replacedBy)) break;
      found = entry.replacedBy;
      seen.add(found);
      entry = this.get(namespace, found);
    }
    return found;
  }

  #successorOf(
    old: DictionaryEntry,
    status: DictionaryStatus,
    given: string | null | undefined,
  ): CapabilityName | null {
    const refuse = (message: string, suggestions: readonly string[] = []): AgentReachError =>
      new AgentReachError('AR_ERR_INVALID_REQUEST', {
        detail: `replacedBy ${message}`,
        issues: [{ path: 'replacedBy', message }],
        suggestions,
      });
    if (status !== 'deprecated') {
      if (given !== undefined && given !== null) throw refuse('is for status deprecated only');
      return null;
    }
    const wanted = given === undefined ? old.replacedBy : given;
    if (wanted === null) throw refuse('is needed: name the capability to use instead');
    const known = this.names(old.namespace);
    const successor = parseCapabilityName(wanted, { known, path: 'replacedBy' });
    if (successor === old.name) throw refuse('must be another name');
    const entry = this.get(old.namespace, successor);
    const nearest = suggestNames(successor, known).filter((one) => one !== old.name);
    if (entry === undefined) throw refuse(`is not in the dictionary: ${successor}`, nearest);
    if (entry.status !== 'active') throw refuse(`must be active; ${successor} is ${entry.status}`, nearest);
    return successor;
  }

  #refusalOf(
    name: CapabilityName,
    old: DictionaryEntry | undefined,
    { index, known, isFiled }: { readonly index: number; readonly known: readonly string[]; readonly isFiled: boolean },
  ): Refusal | undefined {
    if (old?.status === 'active') return undefined;
    const path = `capabilities[${index}]`;
    if (old?.status === 'deprecated') {
      const use = this.replacementOf(old.namespace, name);
      const message = use === null ? `${name} is deprecated` : `${name} is deprecated; use ${use}`;
      return { issue: { path, message }, isDeprecated: true, suggestions: use === null ? [] : [use] };
    }
    const filing = isFiled ? 'it is filed as proposed' : `${MAX_PROPOSALS} proposals wait already, so it is not filed`;
    const message = `${name} is not approved; ${filing}`;
    const suggestions = index < MAX_SUGGESTED_FOR ? suggestNames(name, known) : [];
    return { issue: { path, message }, isDeprecated: false, suggestions };
  }

  #proposals(namespace: string): number {
    let count = 0;
    for (const entry of this.#byNamespace.get(namespace)?.values() ?? []) if (entry.status === 'proposed') count += 1;
    return count;
  }

  #warningsOf(entry: DictionaryEntry): Warning[] {
    const { name, namespace } = entry;
    if (entry.status === 'deprecated') {
      const use = this.replacementOf(entry.namespace, name);
      const message = use === null ? `${name} is deprecated` : `${name} is deprecated; use ${use}`;
      return [{ code: 'deprecated_capability', message, capability: name }];
    }
    const candidates = this.#nearNames.get(namespace)?.candidates(name) ?? [];
    const active = [...candidates].filter((other) => this.get(namespace, other)?.status === 'active');
    return nearDuplicateNames(name, active).map((other) => ({
      code: 'near_duplicate_name',
      message: `${name} is nearly the same name as ${other}; if they mean the same, use one of them`,
      capability: name,
    }));
  }
}

function newEntry(definition: CapabilityDefinition, registrant: Registrant): DictionaryEntry {
  return {
    namespace: registrant.namespace,
    name: definition.name,
    firstOwner: registrant.agentId,
    firstSeenAt: registrant.now,
    status: 'active',
    replacedBy: null,
    sensitive: definition.sensitive,
    description: null,
    examples: [],
    revision: 0,
  };
}

/** Trimmed, the first of those with one canonical form. Error: AR_ERR_INVALID_REQUEST. */
function readExamples(examples: readonly string[]): string[] {
  const kept = new Map<string, string>();
  for (const [index, example] of examples.entries()) {
    const canonical = canonicalText(example);
    if (!hasWords(canonical)) throw invalidExamples(`examples[${index}]`, 'holds no letter or digit');
    if (!kept.has(canonical)) kept.set(canonical, example.trim());
  }
  if (kept.size <= MAX_OPERATOR_EXAMPLES) return [...kept.values()];
  throw invalidExamples('examples', `an operator may give at most ${MAX_OPERATOR_EXAMPLES} to one capability`);
}

function invalidExamples(path: string, message: string): AgentReachError {
  return new AgentReachError('AR_ERR_INVALID_REQUEST', { detail: `${path}: ${message}`, issues: [{ path, message }] });
}

/** The same object when the registration changes nothing, so that nothing is stored. */
function admitted(
  definition: CapabilityDefinition,
  old: DictionaryEntry | undefined,
  registrant: Registrant,
): DictionaryEntry {
  if (old === undefined) return newEntry(definition, registrant);
  const status = old.status === 'proposed' ? 'active' : old.status;
  const sensitive = old.sensitive || definition.sensitive;
  return status === old.status && sensitive === old.sensitive ? old : { ...old, status, sensitive };
}

function errorOf(refusals: readonly Refusal[]): AgentReachError {
  const isAllDeprecated = refusals.every((refusal) => refusal.isDeprecated);
  return new AgentReachError(isAllDeprecated ? 'AR_ERR_CAPABILITY_DEPRECATED' : 'AR_ERR_CAPABILITY_NOT_APPROVED', {
    detail: refusals.map((refusal) => refusal.issue.message).join('. '),
    issues: refusals.map((refusal) => refusal.issue),
    suggestions: [...new Set(refusals.flatMap((refusal) => refusal.suggestions))],
  });
}
