/**
 * The rules in force and their edits. Edits run one after another; each is checked whole, then stored, and only then
 * replaces what is in memory, so that a refused or unstored edit changes nothing. Reading never waits.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type DryRunReply,
  MAX_RULE_SET_BYTES,
  MAX_RULES,
  type Rule,
  type RuleImportReply,
  type RuleLint,
} from '../contract/index.ts';
import { AgentReachError, type Clock, canonicalText, errorText, log, retryOnConflict } from '../core/index.ts';
import { type CompiledRule, compileRule } from './compiled-rule.ts';
import { RuleFileThreads } from './rule-file-threads.ts';
import { compileAll, refuseReserved } from './rule-import.ts';
import { type LintOptions, lintRule, type RuleWarning } from './rule-lint.ts';
import { scopesFor } from './rule-scopes.ts';
import { RuleSet } from './rule-set.ts';
import type { RuleEditRecord, RuleStore } from './rule-store.ts';
import { lintSet } from './set-lint.ts';

const MAX_HISTORY = 1_000;
/** Of all regexes together: an intent of 2,000 characters that none of them takes costs 0.1 to 0.3 s at the most. */
export const MAX_REGEX_STEPS = 10_000;

export interface RuleServiceParts {
  readonly clock: Clock;
  readonly store: RuleStore;
  /** Whether a capability was ever registered in any namespace; asked at edits, for a warning. */
  readonly isKnown?: (capability: string) => boolean;
  /** What a namespace has of a capability now, for dry runs; undefined: nothing. */
  readonly standingOf?: (namespace: string, capability: string) => { readonly sensitive: boolean } | undefined;
}

export interface RuleEdit {
  /** Who edits, for the history. */
  readonly by: string;
  /** The version that the editor has seen; another one in force refuses the edit. */
  readonly expectedVersion?: number;
}

export interface PutRuleResult {
  readonly rule: Rule;
  readonly rulesVersion: number;
  readonly created: boolean;
  readonly warnings: readonly RuleWarning[];
}

/** `yaml` or `rules`, as the wire form says; `merge` keeps rules that are not named. */
export interface RuleImportRequest {
  readonly yaml?: string | undefined;
  readonly rules?: readonly unknown[] | undefined;
  readonly mode: 'merge' | 'replace';
  readonly dryRun: boolean;
}

export class RuleService {
  readonly #parts: RuleServiceParts;
  readonly #files: RuleFileThreads;
  #version = 0;
  #current = RuleSet.empty;
  /** Stored rules that this version cannot compile: out of force here, and still there after edits of others. */
  #leftOut: readonly Rule[] = [];
  #lastEdit: Promise<unknown> = Promise.resolve();

  constructor(parts: RuleServiceParts) {
    this.#parts = parts;
    this.#files = new RuleFileThreads(parts.clock);
  }

  /** Takes over the newest stored set, without the rules that cannot be compiled. Error: AR_ERR_STORE_UNAVAILABLE. */
  async load(): Promise<void> {
    const stored = await this.#parts.store.load();
    const compiled: CompiledRule[] = [];
    const leftOut: Rule[] = [];
    for (const rule of stored?.rules ?? []) {
      try {
        compiled.push(compileRule(rule));
      } catch (error) {
        leftOut.push(rule);
        log('error', 'a stored rule cannot be compiled and is not in force', {
          rule: rule.id,
          reason: errorText(error),
        });
      }
    }
    this.#current = new RuleSet(compiled);
    this.#leftOut = leftOut;
    this.#version = stored?.version ?? 0;
  }

  /** Rises with each edit; 0 before the first. */
  get version(): number {
    return this.#version;
  }

  get current(): RuleSet {
    return this.#current;
  }

  /** In the order tried. */
  list(): readonly Rule[] {
    return this.#current.rules;
  }

  /** Error: AR_ERR_RULE_NOT_FOUND. */
  get(id: string): Rule {
    return this.#compiledOf(id).rule;
  }

  /**
   * Creates the rule or replaces the one of its id; the same rule again changes nothing. Durable when resolved.
   * Errors: AR_ERR_INVALID_RULE, AR_ERR_INVALID_CAPABILITY, AR_ERR_RULE_CONFLICT, AR_ERR_STORE_UNAVAILABLE.
   */
  put(rule: Rule, edit: RuleEdit): Promise<PutRuleResult> {
    return this.#serially(async () => {
      this.#refuseOutdated(edit);
      refuseReserved(rule.id);
      const compiled = compileRule(rule);
      const old = this.#current.get(rule.id);
      const others = this.#current.compiled.filter((other) => other.rule.id !== rule.id);
      const warnings = lintRule(compiled, others, this.#lintOptions);
      if (old === undefined || !isDeepStrictEqual(old.rule, rule)) {
        const leftOut = this.#leftOutWithout(new Set([rule.id]));
        await this.#replace([...others, compiled], { by: edit.by, change: `put ${rule.id}`, leftOut });
      }
      return { rule, rulesVersion: this.#version, created: old === undefined, warnings };
    });
  }

  /** Answers the new version. Errors: AR_ERR_RULE_NOT_FOUND, AR_ERR_RULE_CONFLICT, AR_ERR_STORE_UNAVAILABLE. */
  remove(id: string, edit: RuleEdit): Promise<number> {
    return this.#serially(async () => {
      this.#refuseOutdated(edit);
      const leftOut = this.#leftOutWithout(new Set([id]));
      const gone = leftOut.length < this.#leftOut.length ? undefined : this.#compiledOf(id);
      const rest = this.#current.compiled.filter((other) => other !== gone);
      return this.#replace(rest, { by: edit.by, change: `delete ${id}`, leftOut });
    });
  }

  /**
   * Makes the rules of an older version the newest ones; answers the new version. Errors: AR_ERR_RULE_NOT_FOUND (the
   * version is not in the history), AR_ERR_RULE_CONFLICT, AR_ERR_STORE_UNAVAILABLE.
   */
  rollback(version: number, edit: RuleEdit): Promise<number> {
    return this.#serially(async () => {
      this.#refuseOutdated(edit);
      const inForce = this.#version;
      const found = await this.#parts.store.read(version);
      // Meanwhile another instance may have edited.
      if (inForce !== this.#version) throw new AgentReachError('AR_ERR_STORE_CONFLICT');
      if (found === undefined) {
        throw new AgentReachError('AR_ERR_RULE_NOT_FOUND', { detail: `version ${version} is not in the history` });
      }
      const change = `rollback to ${version}`;
      return this.#replace(this.#compiledAgain(found.rules), { by: edit.by, change, leftOut: [] });
    });
  }

  /**
   * All of the rules or none of them, as one version; a dry run changes nothing. Errors: AR_ERR_INVALID_RULE (an issue
   * for each flaw of each rule), AR_ERR_RULE_CONFLICT, AR_ERR_STORE_UNAVAILABLE, AR_ERR_OVERLOADED, AR_ERR_DEADLINE.
   */
  async importRules(request: RuleImportRequest, edit: RuleEdit): Promise<RuleImportReply> {
    const rules = request.rules ?? (await this.#files.read(request.yaml ?? ''));
    return this.#serially(async () => {
      this.#refuseOutdated(edit);
      const { mode, dryRun } = request;
      const sent = compileAll(rules, (id) => this.#current.get(id));
      const ids = new Set(sent.map(({ rule }) => rule.id));
      const others = this.#current.compiled.filter(({ rule }) => !ids.has(rule.id));
      const next = new RuleSet(mode === 'merge' ? [...others, ...sent] : sent);
      refuseTooMuch(next, this.#current);
      const isNew = ({ rule }: CompiledRule): boolean => this.#current.get(rule.id) === undefined;
      const isChanged = (one: CompiledRule): boolean => !isNew(one) && this.#current.get(one.rule.id) !== one;
      const created = sent.filter(isNew).map(({ rule }) => rule.id);
      const replaced = sent.filter(isChanged).map(({ rule }) => rule.id);
      const leftOut = this.#leftOutWithout(ids);
      const removed = mode === 'replace' ? [...others.map(({ rule }) => rule), ...leftOut].map(({ id }) => id) : [];
      const changes = created.length + replaced.length + removed.length;
      if (!dryRun && changes > 0) {
        const counts = `${created.length} new, ${replaced.length} replaced, ${removed.length} deleted`;
        const change = `import ${sent.length} rules (${mode}): ${counts}`;
        await this.#replace(next.compiled, { by: edit.by, change, leftOut: mode === 'merge' ? leftOut : [] });
      }
      const warnings = lintSet(next.compiled, this.#lintOptions).filter(
        ({ id, ruleId }) => ids.has(id) || (ruleId !== undefined && ids.has(ruleId)),
      );
      const unchanged = sent.length - created.length - replaced.length;
      return { rulesVersion: this.#version, applied: !dryRun, created, replaced, removed, unchanged, warnings };
    });
  }

  /** Ids of stored rules that this version cannot compile: not in force. */
  get notInForce(): readonly string[] {
    return this.#leftOut.map(({ id }) => id);
  }

  /** The rules as a YAML file, which `importRules` takes back exactly; those not in force too, so that none is lost. */
  exportFile(): Promise<string> {
    return this.#files.write([...this.list(), ...this.#leftOut]);
  }

  /** What is worth a look in the whole set. */
  lint(): RuleLint {
    const { compiled, regexSize, size } = this.#current;
    const message = 'this version cannot compile it: it is stored, and not in force';
    const leftOut = this.notInForce.map((id) => ({ id, code: 'not_in_force', message }));
    const items = [...leftOut, ...lintSet(compiled, this.#lintOptions)];
    return { rulesVersion: this.#version, rules: size, regexSteps: regexSize, maxRegexSteps: MAX_REGEX_STEPS, items };
  }

  /** What the rules alone say of a text, and whom in this namespace they let through. Not counted as a route. */
  dryRun(intent: string, namespace = 'default'): DryRunReply {
    const canonical = canonicalText(intent);
    const rules = this.#current.explain(canonical);
    const decidedBy = rules.find(({ outcome }) => outcome === 'decided')?.id ?? null;
    const decided = decidedBy === null ? undefined : this.#current.get(decidedBy);
    const capability = decided?.capability ?? null;
    const standing = capability === null ? undefined : this.#parts.standingOf?.(namespace, capability);
    const sensitive = standing?.sensitive ?? false;
    return {
      rulesVersion: this.#version,
      canonicalText: canonical,
      decidedBy,
      capability,
      deny: decided !== undefined && capability === null,
      namespace,
      registered: capability === null ? null : standing !== undefined,
      sensitive: capability === null ? null : sensitive,
      scopes: capability === null ? [] : [...scopesFor(capability, sensitive, decided?.rule.requireScope ?? null)],
      rules,
    };
  }

  /** Newest first. Error: AR_ERR_STORE_UNAVAILABLE. */
  history(limit = 100): Promise<RuleEditRecord[]> {
    return this.#parts.store.history(this.#version, Math.min(MAX_HISTORY, Math.max(1, limit)));
  }

  get #lintOptions(): LintOptions {
    const { isKnown } = this.#parts;
    return isKnown === undefined ? {} : { isKnown };
  }

  /** Rules of the history: those in force are compiled already. */
  #compiledAgain(rules: readonly Rule[]): CompiledRule[] {
    return rules.map((rule) => {
      const known = this.#current.get(rule.id);
      return known !== undefined && isDeepStrictEqual(known.rule, rule) ? known : compileRule(rule);
    });
  }

  #compiledOf(id: string): CompiledRule {
    const found = this.#current.get(id);
    if (found !== undefined) return found;
    throw new AgentReachError('AR_ERR_RULE_NOT_FOUND', { detail: `there is no rule ${id}` });
  }

  #refuseOutdated({ expectedVersion }: RuleEdit): void {
    if (expectedVersion === undefined || expectedVersion === this.#version) return;
    throw new AgentReachError('AR_ERR_RULE_CONFLICT', {
      detail: `the rules are at version ${this.#version}, not ${expectedVersion}`,
    });
  }

  #leftOutWithout(ids: ReadonlySet<string>): readonly Rule[] {
    return this.#leftOut.filter(({ id }) => !ids.has(id));
  }

  async #replace(
    rules: readonly CompiledRule[],
    { by, change, leftOut }: { readonly by: string; readonly change: string; readonly leftOut: readonly Rule[] },
  ): Promise<number> {
    const next = new RuleSet(rules);
    refuseTooMuch(next, this.#current);
    const version = this.#version + 1;
    const editedAt = this.#parts.clock.wallNow();
    const stored = [...next.rules, ...leftOut];
    await this.#parts.store.save({ version, rules: stored, editedAt, editedBy: by, change });
    this.#current = next;
    this.#leftOut = leftOut;
    this.#version = version;
    return version;
  }

  #serially<Result>(edit: () => Promise<Result>): Promise<Result> {
    const run = this.#lastEdit.then(() => retryOnConflict(edit));
    this.#lastEdit = run.catch(() => undefined);
    return run;
  }
}

/** Holds for edits only: a larger set that was stored under other limits still loads. */
function refuseTooMuch(next: RuleSet, inForce: RuleSet): void {
  const refuse = (detail: string): never => {
    throw new AgentReachError('AR_ERR_INVALID_RULE', { detail });
  };
  if (next.size > MAX_RULES) refuse(`there would be ${next.size} rules; at most ${MAX_RULES} are allowed`);
  if (next.regexSize > MAX_REGEX_STEPS) {
    refuse(`all regexes together would compile to ${next.regexSize} steps; at most ${MAX_REGEX_STEPS} are allowed`);
  }
  const bytes = bytesOf(next);
  // What makes a set smaller that is too large already may be done.
  if (bytes > MAX_RULE_SET_BYTES && bytes >= bytesOf(inForce)) {
    refuse(`all rules together would be ${bytes} bytes of JSON; at most ${MAX_RULE_SET_BYTES} are allowed`);
  }
}

function bytesOf(set: RuleSet): number {
  return Buffer.byteLength(JSON.stringify(set.rules));
}
