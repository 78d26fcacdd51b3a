/**
 * An immutable set of rules in the order tried: higher priority first, then by id; the first that matches decides.
 * `decide` looks patterns up and stays in microseconds at a thousand rules; `explain` holds each rule against the
 * text by itself and serves as its ground truth.
 */
import type { Rule } from '../contract/index.ts';
import type { CapabilityName } from '../core/index.ts';
import { type CompiledRule, compareRules, compileRule, exceptionIn, patternIn, speaks } from './compiled-rule.ts';
import { PatternIndex } from './pattern-index.ts';
import { foldApostrophes, languagesOf, ruleText } from './rule-text.ts';

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

export type RuleOutcome = 'decided' | 'would_match' | 'no_match' | 'excepted_by_unless' | 'other_language';

export interface RuleTrace {
  readonly id: string;
  readonly outcome: RuleOutcome;
  readonly detail: string;
}

export class RuleSet {
  static readonly empty = new RuleSet([]);
  readonly #rules: readonly CompiledRule[];
  readonly #index: PatternIndex;
  /** Positions of the rules whose patterns are regexes. */
  readonly #regexes: readonly number[];
  readonly #byId: ReadonlyMap<string, CompiledRule>;

  constructor(rules: readonly CompiledRule[]) {
    this.#rules = rules.toSorted((left, right) => compareRules(left.rule, right.rule));
    this.#index = new PatternIndex(this.#rules);
    this.#regexes = [...this.#rules.keys()].filter((position) => this.#rules[position]?.rule.match === 'regex');
    this.#byId = new Map(this.#rules.map((compiled) => [compiled.rule.id, compiled]));
  }

  /** Errors: as `compileRule`. */
  static of(rules: readonly Rule[]): RuleSet {
    return new RuleSet(rules.map(compileRule));
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

  /** The first rule that matches, or undefined. `canonicalIntent` is what core's `canonicalText` answers. */
  decide(canonicalIntent: string): RuleDecision | undefined {
    if (this.#rules.length === 0 || canonicalIntent === '') return undefined;
    const text = foldApostrophes(canonicalIntent);
    const languages = languagesOf(text);
    const found = this.#index.find(text);
    let regex = 0;
    for (const position of [...found, Number.POSITIVE_INFINITY]) {
      for (; (this.#regexes[regex] ?? Number.POSITIVE_INFINITY) < position; regex++) {
        const decision = this.#decisionOf(this.#regexes[regex], text, languages);
        if (decision !== undefined) return decision;
      }
      const decision = this.#decisionOf(position, text, languages);
      if (decision !== undefined) return decision;
    }
    return undefined;
  }

  #decisionOf(
    position: number | undefined,
    text: string,
    languages: ReturnType<typeof languagesOf>,
  ): RuleDecision | undefined {
    const compiled = this.#rules[position ?? -1];
    if (compiled === undefined || !speaks(compiled, languages)) return undefined;
    const pattern = patternIn(compiled, text);
    if (pattern === undefined || exceptionIn(compiled, text) !== undefined) return undefined;
    const { rule, capability } = compiled;
    return { rule, capability, deny: capability === null, requireScope: rule.requireScope ?? null, pattern };
  }

  /** What becomes of each rule, in the order tried. */
  explain(intent: string): RuleTrace[] {
    const text = ruleText(intent);
    const languages = languagesOf(text);
    let isDecided = false;
    return this.#rules.map((compiled) => {
      const trace = traceOf(compiled, text, languages, isDecided);
      if (trace.outcome === 'decided') isDecided = true;
      return trace;
    });
  }
}

function traceOf(
  compiled: CompiledRule,
  text: string,
  languages: ReturnType<typeof languagesOf>,
  isDecided: boolean,
): RuleTrace {
  const { id, match } = compiled.rule;
  if (!speaks(compiled, languages)) {
    const spoken = [...languages].join(' and ') || 'neither zh nor en';
    return {
      id,
      outcome: 'other_language',
      detail: `for ${compiled.rule.languages?.join(', ')}; the text is ${spoken}`,
    };
  }
  const pattern = patternIn(compiled, text);
  if (pattern === undefined) return { id, outcome: 'no_match', detail: `no ${match} pattern is found` };
  const found = `${match} ${JSON.stringify(pattern)}`;
  const exception = exceptionIn(compiled, text);
  if (exception !== undefined) {
    return { id, outcome: 'excepted_by_unless', detail: `${found}, but unless ${JSON.stringify(exception)}` };
  }
  if (isDecided) return { id, outcome: 'would_match', detail: `${found}; an earlier rule decided` };
  return { id, outcome: 'decided', detail: `${found} -> ${compiled.capability ?? 'deny'}` };
}
