/**
 * What a schema refused, as issues that a person can act on: a JSON path and a sentence each, at most
 * MAX_ISSUES of them and none longer than MAX_TEXT, so that a hostile request cannot make a huge reply.
 */
import { z } from 'zod';
import { AgentReachError, type ErrorIssue, nearestName } from '../core/index.ts';

const MAX_ISSUES = 32;
const MAX_TEXT = 240;
const MAX_NAME = 64;

type Path = readonly PropertyKey[];
type SchemaIssue = z.core.$ZodIssue;

/** Parses once; error: AR_ERR_INVALID_REQUEST with every issue. `place` is the first part of each path. */
export function parseWith<Schema extends z.ZodType>(schema: Schema, value: unknown, place = ''): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidRequest(schema, result.error.issues, place);
}

function invalidRequest(schema: z.ZodType, found: readonly SchemaIssue[], place: string): AgentReachError {
  const issues: ErrorIssue[] = [];
  const suggestions: string[] = [];
  for (const one of found) collect(schema, one, [], { issues, suggestions });
  const shown = issues.slice(0, MAX_ISSUES).map(({ path, message }) => ({
    path: clipped(place === '' ? path : path === '' ? place : `${place}.${path}`, MAX_TEXT),
    message: clipped(message, MAX_TEXT),
  }));
  const first = shown[0];
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return new AgentReachError('AR_ERR_INVALID_REQUEST', {
    ...(first === undefined
      ? {}
      : { detail: `${first.path === '' ? 'request' : first.path}: ${first.message}${more}` }),
    issues: shown,
    suggestions: [...new Set(suggestions)].slice(0, 8),
  });
}

interface Findings {
  readonly issues: ErrorIssue[];
  readonly suggestions: string[];
}

function collect(schema: z.ZodType, issue: SchemaIssue, base: Path, into: Findings): void {
  if (into.issues.length > MAX_ISSUES) return;
  const path = [...base, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    const known = fieldsAt(schema, path);
    for (const key of issue.keys) addUnknownKey(key, path, known, into);
  } else if (issue.code === 'invalid_union') {
    const branch = nearestBranch(issue.errors);
    if (branch === undefined) into.issues.push({ path: pathText(path), message: issue.message });
    else for (const inner of branch) collect(schema, inner, path, into);
  } else {
    into.issues.push({ path: pathText(path), message: issue.message });
  }
}

function addUnknownKey(key: string, path: Path, known: readonly string[], into: Findings): void {
  if (into.issues.length > MAX_ISSUES) return;
  const meant = nearestName(key, known);
  if (meant !== undefined) into.suggestions.push(meant);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  into.issues.push({
    path: pathText([...path, clipped(key, MAX_NAME)]),
    message: `"${clipped(key, MAX_NAME)}" is not a known field${hint}`,
  });
}

/** Of a union's branches, the one whose value at least had the right type: its issues are what the caller needs. */
function nearestBranch(branches: readonly (readonly SchemaIssue[])[]): readonly SchemaIssue[] | undefined {
  return branches.find((issues) => !issues.some((one) => one.code === 'invalid_type' && one.path.length === 0));
}

export function pathText(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? clipped(String(part), MAX_NAME) : `.${clipped(String(part), MAX_NAME)}`;
  }
  return text;
}

/** Cuts between characters, never inside a surrogate pair. */
function clipped(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).toWellFormed()}…`;
}

/** Names of the fields that the schema knows at this path; none where anything goes. */
function fieldsAt(schema: z.core.$ZodType, path: Path): readonly string[] {
  const [next, ...rest] = path;
  if (schema instanceof z.ZodObject) {
    if (next === undefined) return Object.keys(schema.shape);
    const inner: unknown = schema.shape[String(next)];
    return inner instanceof z.core.$ZodType ? fieldsAt(inner, rest) : [];
  }
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => fieldsAt(option, path));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return fieldsAt(schema.unwrap(), path);
  }
  if (schema instanceof z.ZodArray) return fieldsAt(schema.element, rest);
  return [];
}
