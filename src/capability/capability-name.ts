/**
 * The grammar of names: `domain.action.object`, three segments, each `[a-z][a-z0-9_]{0,62}`. A `CapabilityName` is
 * made here and nowhere else, so whoever holds one need not check it again. A refusal says which rule is broken.
 */
import { AgentReachError, type CapabilityName } from '../core/index.ts';
import { suggestNames } from './name-suggestion.ts';

export const SEGMENT_COUNT = 3;
export const MAX_SEGMENT_LENGTH = 63;
const NAME = /^[a-z][a-z0-9_]{0,62}\.[a-z][a-z0-9_]{0,62}\.[a-z][a-z0-9_]{0,62}$/;
/** Longer refused texts are cut in messages: an error must not echo kilobytes. */
const SHOWN_LENGTH = 80;

export type NameCheck =
  | { readonly ok: true; readonly name: CapabilityName }
  | { readonly ok: false; readonly problem: string };

/** For messages: quoted, cut, and with what is not printable escaped. */
export function quoteName(text: string): string {
  return JSON.stringify(text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text);
}

function problemOfSegment(segment: string, place: number): string | undefined {
  const where = `segment ${place} (${quoteName(segment)})`;
  if (segment === '') return `segment ${place} is empty`;
  const bad = /[^a-z0-9_]/u.exec(segment)?.[0];
  if (bad !== undefined) {
    if (/\s/u.test(bad)) return `${where} holds white space`;
    if (/\p{Lu}/u.test(bad)) return `${where} holds upper case; only a-z, 0-9 and _ are allowed`;
    return `${where} holds ${quoteName(bad)}; only a-z, 0-9 and _ are allowed`;
  }
  if (/^[0-9]/.test(segment)) return `${where} starts with a digit; the first character must be a-z`;
  if (segment.startsWith('_')) return `${where} starts with _; the first character must be a-z`;
  if (segment.length > MAX_SEGMENT_LENGTH) {
    return `${where} has ${segment.length} characters; at most ${MAX_SEGMENT_LENGTH} are allowed`;
  }
  return undefined;
}

function problemOf(raw: string): string {
  if (raw === '') return 'is empty; a name is domain.action.object';
  const segments = raw.split('.');
  if (segments.length !== SEGMENT_COUNT) {
    const has = segments.length === 1 ? '1 segment' : `${segments.length} segments`;
    return `has ${has}; ${SEGMENT_COUNT} are needed: domain.action.object`;
  }
  for (const [index, segment] of segments.entries()) {
    const problem = problemOfSegment(segment, index + 1);
    if (problem !== undefined) return problem;
  }
  return 'breaks the grammar domain.action.object';
}

/** Whether `raw` is a name; if not, the first rule it breaks, as the end of a sentence that begins with the name. */
export function checkCapabilityName(raw: string): NameCheck {
  return NAME.test(raw) ? { ok: true, name: raw as CapabilityName } : { ok: false, problem: problemOf(raw) };
}

export interface ParseNameOptions {
  /** Names to look for what was probably meant. */
  readonly known?: Iterable<string>;
  /** Where the name stood in the request. */
  readonly path?: string;
}

/** Error: AR_ERR_INVALID_CAPABILITY with the rule broken and the known names that were probably meant. */
export function parseCapabilityName(raw: string, options: ParseNameOptions = {}): CapabilityName {
  const check = checkCapabilityName(raw);
  if (check.ok) return check.name;
  throw new AgentReachError('AR_ERR_INVALID_CAPABILITY', {
    detail: `${quoteName(raw)} ${check.problem}`,
    issues: [{ path: options.path ?? 'capability', message: check.problem }],
    suggestions: options.known === undefined ? [] : suggestNames(raw, options.known),
  });
}

export function segmentsOf(name: CapabilityName): readonly [domain: string, action: string, object: string] {
  const [domain = '', action = '', object = ''] = name.split('.');
  return [domain, action, object];
}

/** `weather.query.big_city` as people would say it: `weather query big city`. */
export function nameAsWords(name: string): string {
  return name.replace(/[._]+/g, ' ').trim();
}
