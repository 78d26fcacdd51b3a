/**
 * The rules in force and their edits. Edits run one after another; each is checked whole, then stored, and only then
 * replaces what is in memory, so that a refused or unstored edit changes nothing. Reading never waits.
 */
import { isDeepStrictEqual } from 'node:util';
import type { DryRunReply, Rule } from '../contract/index.ts';
import { AgentReachError, type Clock, canonicalText } from '../core/index.ts';
import { type CompiledRule, compileRule } from './compiled-rule.ts';
import { lintRule, type RuleWarning } from './rule-lint.ts';
import { RuleSet } from './rule-set.ts';
import type { RuleSetVersion, RuleStore } from './rule-store.ts';

/** Each edit stores the whole set: this bounds what one edit writes. */
export const MAX_RULES = 10_000;
const MAX_HISTORY = 1_000;

export interface RuleServiceParts {
  readonly clock: Clock;
  readonly store: RuleStore;
  /** Whether a capability has been registered; asked at edits, for a warning. */
  readonly isKnown?: (capability: string) => boolean;
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

export class RuleService {
  readonly #parts: RuleServiceParts;
  #version = 0;
  #current = RuleSet.empty;
  #lastEdit: Promise<unknown> = Promise.resolve();

  constructor(parts: RuleServiceParts) {
    this.#parts = parts;
  }

  /** Takes over the newest stored set. Errors: AR_ERR_STORE_UNAVAILABLE, AR_ERR_INVALID_RULE. */
  async load(): Promise<void> {
    const stored = await this.#parts.store.load();
    this.#current = stored === undefined ? RuleSet.empty : RuleSet.of(stored.rules);
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
      const compiled = compileRule(rule);
      const old = this.#current.get(rule.id);
      const others = this.#current.compiled.filter((other) => other.rule.id !== rule.id);
      const { isKnown } = this.#parts;
      const warnings = lintRule(compiled, others, isKnown === undefined ? {} : { isKnown });
      if (old === undefined && others.length >= MAX_RULES) {
        throw new AgentReachError('AR_ERR_INVALID_RULE', { detail: `there are ${MAX_RULES} rules, which is the most` });
      }
      if (old === undefined || !isDeepStrictEqual(old.rule, rule)) {
        await this.#replace([...others, compiled], edit.by, `put ${rule.id}`);
      }
      return { rule, rulesVersion: this.#version, created: old === undefined, warnings };
    });
  }

  /** Answers the new version. Errors: AR_ERR_RULE_NOT_FOUND, AR_ERR_RULE_CONFLICT, AR_ERR_STORE_UNAVAILABLE. */
  remove(id: string, edit: RuleEdit): Promise<number> {
    return this.#serially(async () => {
      this.#refuseOutdated(edit);
      const gone = this.#compiledOf(id);
      const rest = this.#current.compiled.filter((other) => other !== gone);
      return this.#replace(rest, edit.by, `delete ${id}`);
    });
  }

  /**
   * Makes the rules of an older version the newest ones; answers the new version. Errors: AR_ERR_RULE_NOT_FOUND (the
   * version is not in the history), AR_ERR_RULE_CONFLICT, AR_ERR_STORE_UNAVAILABLE.
   */
  rollback(version: number, edit: RuleEdit): Promise<number> {
    return this.#serially(async () => {
      this.#refuseOutdated(edit);
      const found = (await this.#parts.store.history(MAX_HISTORY)).find((one) => one.version === version);
      if (found === undefined) {
        throw new AgentReachError('AR_ERR_RULE_NOT_FOUND', { detail: `version ${version} is not in the history` });
      }
      return this.#replace(found.rules.map(compileRule), edit.by, `rollback to ${version}`);
    });
  }

  dryRun(intent: string): DryRunReply {
    const canonical = canonicalText(intent);
    const decision = this.#current.decide(canonical);
    return {
      rulesVersion: this.#version,
      canonicalText: canonical,
      decidedBy: decision?.rule.id ?? null,
      capability: decision?.capability ?? null,
      deny: decision?.deny ?? false,
      rules: this.#current.explain(canonical).map((trace) => ({ ...trace })),
    };
  }

  /** Newest first. Error: AR_ERR_STORE_UNAVAILABLE. */
  history(limit = 100): Promise<RuleSetVersion[]> {
    return this.#parts.store.history(Math.min(MAX_HISTORY, Math.max(1, limit)));
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

  async #replace(rules: readonly CompiledRule[], by: string, change: string): Promise<number> {
    const next = new RuleSet(rules);
    const version = this.#version + 1;
    const editedAt = this.#parts.clock.wallNow();
    await this.#parts.store.save({ version, rules: next.rules, editedAt, editedBy: by, change });
    this.#current = next;
    this.#version = version;
    return version;
  }

  #serially<Result>(edit: () => Promise<Result>): Promise<Result> {
    const run = this.#lastEdit.then(edit);
    this.#lastEdit = run.catch(() => undefined);
    return run;
  }
}
