/**
 * What one agent says of one capability, checked and in one form: names follow the grammar, texts are trimmed and hold
 * words; input schemas are checked apart, since compiling them takes time. Nothing of a registration is read when a part of it is wrong.
 */
import type { CapabilityInput, CapabilityObject } from '../contract/index.ts';
import { AgentReachError, type CapabilityName, canonicalText, type ErrorIssue, hasWords } from '../core/index.ts';
import { checkCapabilityName, quoteName } from './capability-name.ts';
import { assertInputSchemas, type InputSchema, type PlacedSchema } from './input-schema.ts';
import { suggestNames } from './name-suggestion.ts';

export interface CapabilityDefinition {
  readonly name: CapabilityName;
  readonly description: string | null;
  readonly examples: readonly string[];
  readonly aliases: readonly string[];
  readonly sensitive: boolean;
  readonly inputSchema?: InputSchema;
  readonly timeoutMs?: number;
  readonly idempotent?: boolean;
}

/** Suggestions cost a pass over the dictionary each: a request of 256 bad names must not buy 256 of them. */
const MAX_SUGGESTED_FOR = 4;

interface ReadInput {
  readonly path: string;
  readonly name: CapabilityName;
  readonly object: CapabilityObject;
}

function invalidRequest(issues: readonly ErrorIssue[]): AgentReachError {
  const [first] = issues;
  return new AgentReachError('AR_ERR_INVALID_REQUEST', {
    ...(first === undefined ? {} : { detail: `${first.path}: ${first.message}` }),
    issues,
  });
}

function readNames(inputs: readonly CapabilityInput[], known: Iterable<string>): ReadInput[] {
  const issues: ErrorIssue[] = [];
  const suggestions = new Set<string>();
  let detail: string | undefined;
  const read: ReadInput[] = [];
  for (const [index, input] of inputs.entries()) {
    const object = typeof input === 'string' ? { name: input } : input;
    const place = `capabilities[${index}]`;
    const check = checkCapabilityName(object.name);
    if (check.ok) {
      read.push({ path: place, name: check.name, object });
      continue;
    }
    issues.push({ path: typeof input === 'string' ? place : `${place}.name`, message: check.problem });
    detail ??= `${quoteName(object.name)} ${check.problem}`;
    if (issues.length > MAX_SUGGESTED_FOR) continue;
    for (const name of suggestNames(object.name, known)) suggestions.add(name);
  }
  if (issues.length === 0) return read;
  throw new AgentReachError('AR_ERR_INVALID_CAPABILITY', {
    ...(detail === undefined ? {} : { detail }),
    issues,
    suggestions: [...suggestions],
  });
}

function refuseRepeats(read: readonly ReadInput[]): void {
  const first = new Map<CapabilityName, string>();
  const issues: ErrorIssue[] = [];
  for (const { path, name } of read) {
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, path);
    else issues.push({ path, message: `${name} is given already at ${earlier}` });
  }
  if (issues.length > 0) throw invalidRequest(issues);
}

/** Trimmed, repeats by canonical text left out; texts without words are reported. */
function readTexts(texts: readonly string[] | undefined, path: string, issues: ErrorIssue[]): string[] {
  const kept = new Map<string, string>();
  for (const [index, text] of (texts ?? []).entries()) {
    const canonical = canonicalText(text);
    if (!hasWords(canonical)) issues.push({ path: `${path}[${index}]`, message: 'holds no letter or digit' });
    else if (!kept.has(canonical)) kept.set(canonical, text.trim());
  }
  return [...kept.values()];
}

/** One alias must lead to one capability: not to two of the request, nor to another's name. */
function refuseSharedAliases(definitions: readonly CapabilityDefinition[], issues: ErrorIssue[]): void {
  const owners = new Map<string, CapabilityName>(definitions.map(({ name }) => [name, name]));
  for (const [index, { name, aliases }] of definitions.entries()) {
    for (const alias of aliases) {
      const canonical = canonicalText(alias);
      const owner = owners.get(canonical);
      if (owner === undefined) owners.set(canonical, name);
      else if (owner !== name) {
        const message = `${JSON.stringify(alias)} leads to ${owner} already`;
        issues.push({ path: `capabilities[${index}].aliases`, message });
      }
    }
  }
}

function definitionOf({ path, name, object }: ReadInput, issues: ErrorIssue[]): CapabilityDefinition {
  const description = object.description?.trim() ?? '';
  return {
    name,
    description: description === '' ? null : description,
    examples: readTexts(object.examples, `${path}.examples`, issues),
    aliases: readTexts(object.aliases, `${path}.aliases`, issues).filter((alias) => canonicalText(alias) !== name),
    sensitive: object.sensitive ?? false,
    ...(object.inputSchema === undefined ? {} : { inputSchema: object.inputSchema }),
    ...(object.timeoutMs === undefined ? {} : { timeoutMs: object.timeoutMs }),
    ...(object.idempotent === undefined ? {} : { idempotent: object.idempotent }),
  };
}

/**
 * The capabilities of one registration. `known` are the names to look for what was probably meant. Errors:
 * AR_ERR_INVALID_CAPABILITY (names), AR_ERR_INVALID_REQUEST (repeats, blank texts, shared aliases); `issues` name
 * each place. Input schemas are taken as they are: see `checkSchemas`.
 */
export function readDefinitions(inputs: readonly CapabilityInput[], known: Iterable<string>): CapabilityDefinition[] {
  const read = readNames(inputs, known);
  refuseRepeats(read);
  const issues: ErrorIssue[] = [];
  const definitions = read.map((input) => definitionOf(input, issues));
  refuseSharedAliases(definitions, issues);
  if (issues.length > 0) throw invalidRequest(issues);
  return definitions;
}

/** Error: AR_ERR_INVALID_SCHEMA. `definitions` in the order of the registration. */
export function checkSchemas(definitions: readonly CapabilityDefinition[]): Promise<void> {
  const placed = definitions.flatMap(({ inputSchema }, index): PlacedSchema[] =>
    inputSchema === undefined ? [] : [{ path: `capabilities[${index}].inputSchema`, schema: inputSchema }],
  );
  return assertInputSchemas(placed);
}
