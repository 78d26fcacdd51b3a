/**
 * Checks a strategies document as a whole: either it can be compiled, or every flaw is told with its place, its rule
 * and, for a name that nobody knows, the one that was probably meant.
 */
import type { z } from 'zod';
import { checkCapabilityName } from '../../capability/index.ts';
import {
  MAX_STRATEGY_OVERRIDES,
  type StrategiesDocument,
  type StrategyPolicy,
  type StrategyWarning,
  schemaRule,
  strategiesDocumentSchema,
  strategyPolicySchema,
} from '../../contract/index.ts';
import { AgentReachError, nearestName } from '../../core/index.ts';
import { FACTORS } from '../factors/factor-catalog.ts';
import { STRATEGIES, type StrategyStep } from './strategy-catalog.ts';

export type Place = readonly (string | number)[];

export interface Flaw {
  readonly place: Place;
  readonly message: string;
  readonly suggestion?: string | undefined;
}

/** More flaws than this are counted, not told. */
const MAX_TOLD = 32;
const MAX_SHOWN = 64;
/** Decimal fractions do not add up exactly. */
const SUM_SLACK = 1e-6;
const PATTERN = /^[a-z][a-z0-9_]{0,62}(\.[a-z][a-z0-9_]{0,62})?\.\*$/;

/** Error: AR_ERR_INVALID_STRATEGIES; `lineOf` adds the line of a place to its issue, where there is a text. */
export function readStrategies(value: unknown, lineOf?: (place: Place) => number | undefined): StrategiesDocument {
  const parsed = strategiesDocumentSchema.safeParse(value);
  const flaws = parsed.success ? flawsOf(parsed.data) : parsed.error.issues.flatMap(schemaFlaws);
  if (parsed.success && flaws.length === 0) return parsed.data;
  throw refusal(flaws, lineOf);
}

/** What is sound and yet probably not meant. */
export function strategyWarnings(document: StrategiesDocument): StrategyWarning[] {
  return policiesOf(document).flatMap(({ place, policy }) => {
    const names = (policy.strategies ?? []).map(nameOf);
    const [canaryAt, affinityAt] = [names.indexOf('canary'), names.indexOf('affinity')];
    if (canaryAt < 0 || affinityAt < 0 || canaryAt < affinityAt) return [];
    const message = 'canary after affinity: requests with an affinity key are decided before their share is taken';
    return [{ path: placeText([...place, 'strategies', canaryAt]), message }];
  });
}

function policiesOf(document: StrategiesDocument): { place: Place; policy: StrategyPolicy }[] {
  const { default: base, capabilities = {} } = document;
  return [
    ...(base === undefined ? [] : [{ place: ['default'], policy: base }]),
    ...Object.entries(capabilities).map(([name, policy]) => ({ place: ['capabilities', name], policy })),
  ];
}

function flawsOf(document: StrategiesDocument): Flaw[] {
  const names = Object.keys(document.capabilities ?? {});
  const tooMany = `at most ${MAX_STRATEGY_OVERRIDES} entries, got ${names.length}`;
  if (names.length > MAX_STRATEGY_OVERRIDES) return [{ place: ['capabilities'], message: tooMany }];
  return [
    ...names.flatMap((name) => patternFlaws(name)),
    ...policiesOf(document).flatMap(({ place, policy }) => [
      ...weightFlaws([...place, 'weights'], policy.weights),
      ...stepFlaws([...place, 'strategies'], policy.strategies),
    ]),
  ];
}

function patternFlaws(name: string): Flaw[] {
  const check = checkCapabilityName(name);
  if (check.ok || PATTERN.test(name)) return [];
  const message = name.includes('*') ? 'a pattern is domain.* or domain.action.*' : `the name ${check.problem}`;
  return [{ place: ['capabilities', name], message }];
}

function weightFlaws(place: Place, weights: StrategyPolicy['weights']): Flaw[] {
  if (weights === undefined) return [];
  const known = FACTORS.map(({ name }) => name);
  const unknown = Object.keys(weights).filter((name) => !known.includes(name));
  if (unknown.length > 0) return unknown.map((name) => unknownFlaw([...place, name], 'factor', name, known));
  const sum = Object.values(weights).reduce((total, weight) => total + weight, 0);
  if (Math.abs(sum - 1) <= SUM_SLACK) return [];
  return [{ place, message: `must sum to 1, but sum to ${Number(sum.toFixed(6))}` }];
}

const nameOf = (step: StrategyStep): string => (typeof step === 'string' ? step : step.name);

function stepFlaws(place: Place, steps: StrategyPolicy['strategies']): Flaw[] {
  if (steps === undefined) return [];
  const seen = new Set<string>();
  return steps.flatMap((step, i): Flaw[] => {
    const name = nameOf(step);
    const at = [...place, i];
    const row = STRATEGIES.get(name);
    if (row === undefined) return [unknownFlaw(at, 'strategy', name, STRATEGIES.keys())];
    if (seen.has(name)) return [{ place: at, message: `${name} is named twice` }];
    seen.add(name);
    if (row.kind === 'draw' && i < steps.length - 1) {
      return [{ place: at, message: `${name} draws one agent, so nothing can come after it` }];
    }
    const { name: _, ...parameters } = typeof step === 'string' ? { name } : step;
    const parsed = row.parameters.safeParse(parameters);
    return (parsed.error?.issues ?? []).flatMap((issue) => issueFlaws(issue, at, Object.keys(row.parameters.shape)));
  });
}

const POLICY_FIELDS = Object.keys(strategyPolicySchema.shape);
const DOCUMENT_FIELDS = Object.keys(strategiesDocumentSchema.shape);

function schemaFlaws(issue: z.core.$ZodIssue): Flaw[] {
  const fields = issue.path.length === 0 ? DOCUMENT_FIELDS : POLICY_FIELDS;
  return issueFlaws(issue, [], fields);
}

function issueFlaws(issue: z.core.$ZodIssue, base: Place, fields: readonly string[]): Flaw[] {
  const place = [...base, ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))];
  if (issue.code !== 'unrecognized_keys') return [{ place, message: schemaRule(issue) }];
  return issue.keys.map((key) => unknownFlaw([...place, key], 'field', key, fields));
}

function unknownFlaw(place: Place, what: string, name: string, known: Iterable<string>): Flaw {
  const names = [...known];
  const suggestion = nearestName(name, names);
  const hint = suggestion === undefined ? `; there are ${names.join(', ')}` : `; did you mean "${suggestion}"?`;
  return { place, message: `"${shown(name)}" is not a known ${what}${hint}`, suggestion };
}

const shown = (text: string): string =>
  text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text;

/** `capabilities["weather.*"].strategies[1].share` */
export function placeText(place: Place): string {
  let text = '';
  for (const part of place) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (!/^\w{1,64}$/.test(part)) text += `[${JSON.stringify(shown(part))}]`;
    else text += text === '' ? part : `.${part}`;
  }
  return text;
}

export function refusal(flaws: readonly Flaw[], lineOf?: (place: Place) => number | undefined): AgentReachError {
  const issues = flaws.slice(0, MAX_TOLD).map(({ place, message }) => {
    const line = lineOf?.(place);
    return { path: placeText(place), message: line === undefined ? message : `${message} (line ${line})` };
  });
  const more = flaws.length > issues.length ? [`and ${flaws.length - issues.length} more`] : [];
  return new AgentReachError('AR_ERR_INVALID_STRATEGIES', {
    detail: [...issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)), ...more].join('\n'),
    issues,
    suggestions: [...new Set(flaws.flatMap(({ suggestion }) => suggestion ?? []))].slice(0, 8),
  });
}
