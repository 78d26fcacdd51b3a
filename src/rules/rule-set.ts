/**
 * An immutable set of rules in the order tried: higher priority first, then by id; the first that matches decides.
 * `decide` looks patterns up and stays in microseconds at a thousand rules; `explain` holds each rule against the
 * text by itself and serves as its ground truth.
 */
import type { Rule } from '../contract/index.ts';
import { type CapabilityName, publish } from '../core/index.ts';
import { type CompiledRule, compareRules, fitOf, regexSizeOf, speaks } from './compiled-rule.ts';
import { PatternIndex } from './pattern-index.ts';
import { foldApostrophes, languagesOf, ruleText } from './rule-text.ts';
import { type RuleTrace, traceOf } from './rule-trace.ts';

export interface RuleDecision {
  readonly rule: Rule;
  /** null: the rule denies. */
  readonly capability: CapabilityName | null;
  readonly deny: boolean;
  /** The scope that the caller must hold; null: none. */
  readonly requireScope: string | null;
  /** The pattern that was found, as the rule wrote it. */
  readonly pattern: string;
}

export class RuleSet {
  static readonly empty = new RuleSet([]);
  readonly #rules: readonly CompiledRule[];
  readonly #index: PatternIndex;
  /** Positions of the rules whose patterns are regexes. */
  readonly #regexes: readonly number[];
  readonly #regexSize: number;
  readonly #byId: ReadonlyMap<string, CompiledRule>;

  constructor(rules: readonly CompiledRule[]) {
    this.#rules = rules.toSorted((left, right) => compareRules(left.rule, right.rule));
    this.#index = new PatternIndex(this.#rules);
    this.#regexes = [...this.#rules.keys()].filter((position) => this.#rules[position]?.rule.match === 'regex');
    this.#regexSize = this.#rules.reduce((total, compiled) => total + regexSizeOf(compiled), 0);
    this.#byId = new Map(this.#rules.map((compiled) => [compiled.rule.id, compiled]));
  }

  get size(): number {
    return this.#rules.length;
  }

  /** In the order tried. */
  get rules(): readonly Rule[] {
    return this.#rules.map((compiled) => compiled.rule);
  }

  get compiled(): readonly CompiledRule[] {
    return this.#rules;
  }

  get(id: string): CompiledRule | undefined {
    return this.#byId.get(id);
  }

  /** Steps of all compiled regexes: what bounds the cost of a text that no rule takes. */
  get regexSize(): number {
    return this.#regexSize;
  }

  /** The first rule that matches, or undefined; counted. `canonicalIntent` is what core's `canonicalText` answers. */
  decide(canonicalIntent: string): RuleDecision | undefined {
    if (this.#rules.length === 0 || canonicalIntent === '') return undefined;
    const { decision, tried } = this.#firstFit(canonicalIntent);
    publish('rules.evaluated', {
      tried,
      outcome: decision === undefined ? 'none' : decision.deny ? 'deny' : 'capability',
    });
    return decision;
  }

  /** The same for a text that nobody asked to route, so that it is not counted. */
  tryOut(canonicalText: string): RuleDecision | undefined {
    return canonicalText === '' ? undefined : this.#firstFit(canonicalText).decision;
  }

  #firstFit(canonical: string): { readonly decision: RuleDecision | undefined; readonly tried: number } {
    const text = foldApostrophes(canonical);
    const languages = languagesOf(text);
    let tried = 0;
    for (const position of this.#candidates(text)) {
      tried++;
      const decision = this.#decisionOf(position, text, languages);
      if (decision !== undefined) return { decision, tried };
    }
    return { decision: undefined, tried };
  }

  /** Rules worth holding against the text, in the order tried: those of which a text pattern is found, and all regexes. */
  *#candidates(text: string): Generator<number> {
    let regex = 0;
    for (const position of [...this.#index.find(text), Number.POSITIVE_INFINITY]) {
      for (let next = this.#regexes[regex]; next !== undefined && next < position; next = this.#regexes[++regex])
        yield next;
      if (position !== Number.POSITIVE_INFINITY) yield position;
    }
  }

  #decisionOf(position: number, text: string, languages: ReturnType<typeof languagesOf>): RuleDecision | undefined {
    const compiled = this.#rules[position];
    if (compiled === undefined || !speaks(compiled, languages)) return undefined;
    const fit = fitOf(compiled, text);
    if (fit.kind !== 'fits') return undefined;
    const { rule, capability } = compiled;
    const requireScope = rule.requireScope ?? null;
    return { rule, capability, deny: capability === null, requireScope, pattern: fit.pattern.source };
  }

  /** What becomes of each rule, in the order tried. */
  explain(intent: string): RuleTrace[] {
    const text = ruleText(intent);
    const languages = languagesOf(text);
    let isDecided = false;
    return this.#rules.map((compiled) => {
      const trace = traceOf(compiled, text, { languages, isDecided });
      if (trace.outcome === 'decided') isDecided = true;
      return trace;
    });
  }
}
