/**
 * Many rules checked together: every flaw of every rule is named by its place (`rules[3].patterns[0]`), and one flaw
 * refuses all. Rules that are in force already are taken over as compiled.
 */
import { isDeepStrictEqual } from 'node:util';
import { MAX_RULES, RESERVED_RULE_IDS, type Rule, ruleSchema } from '../contract/index.ts';
import { AgentReachError, type ErrorIssue, isAgentReachError } from '../core/index.ts';
import { type CompiledRule, compileRule } from './compiled-rule.ts';

/** A hostile import cannot make a huge refusal. */
const MAX_ISSUES = 100;
const MAX_TEXT = 240;

/** Error: AR_ERR_INVALID_RULE. `current` answers the compiled rule of an id. */
export function compileAll(
  sent: readonly unknown[],
  current: (id: string) => CompiledRule | undefined,
): CompiledRule[] {
  if (sent.length > MAX_RULES) {
    throw new AgentReachError('AR_ERR_INVALID_RULE', { detail: `at most ${MAX_RULES} rules are allowed` });
  }
  const issues: ErrorIssue[] = [];
  const compiled: CompiledRule[] = [];
  const places = new Map<string, number>();
  for (const [index, one] of sent.entries()) {
    const rule = readRule(one, `rules[${index}]`, issues);
    if (rule === undefined) continue;
    const first = places.get(rule.id);
    if (first !== undefined) issues.push({ path: `rules[${index}].id`, message: `is the id of rules[${first}] too` });
    places.set(rule.id, index);
    const found = compileOne(rule, current(rule.id), `rules[${index}]`, issues);
    if (found !== undefined) compiled.push(found);
  }
  if (issues.length > 0) throw refusal(issues);
  return compiled;
}

function readRule(sent: unknown, place: string, issues: ErrorIssue[]): Rule | undefined {
  const parsed = ruleSchema.safeParse(sent);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) {
    issues.push({ path: placeOf(place, path), message: message.slice(0, MAX_TEXT).toWellFormed() });
  }
  return undefined;
}

function placeOf(place: string, path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  return `${place}${parts.join('')}`.slice(0, MAX_TEXT).toWellFormed();
}

function compileOne(
  rule: Rule,
  known: CompiledRule | undefined,
  place: string,
  issues: ErrorIssue[],
): CompiledRule | undefined {
  if (known !== undefined && isDeepStrictEqual(known.rule, rule)) return known;
  try {
    refuseReserved(rule.id);
    return compileRule(rule);
  } catch (error) {
    if (!isAgentReachError(error)) throw error;
    const found = error.issues.length === 0 ? [{ path: 'id', message: error.message }] : error.issues;
    issues.push(...found.map(({ path, message }) => ({ path: `${place}.${path}`, message })));
    return undefined;
  }
}

/** Error: AR_ERR_INVALID_RULE. */
export function refuseReserved(id: string): void {
  if (!RESERVED_RULE_IDS.includes(id)) return;
  const message = `"${id}" is an address of the API and reserved`;
  throw new AgentReachError('AR_ERR_INVALID_RULE', { detail: `id: ${message}`, issues: [{ path: 'id', message }] });
}

function refusal(issues: readonly ErrorIssue[]): AgentReachError {
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return new AgentReachError('AR_ERR_INVALID_RULE', {
    detail: `nothing was imported: ${first?.path}: ${first?.message}${more}`,
    issues: issues.slice(0, MAX_ISSUES),
  });
}
