/**
 * Rules as a YAML file and back: one order of rules (as tried) and of fields, every text quoted, so that the same set
 * is always the same bytes and a diff shows edits only. Comments of a file that is read are not kept; `description` is.
 */
import * as yaml from 'yaml';
import type { Rule } from '../contract/index.ts';
import { AgentReachError, errorText, readYaml, YamlFlaw } from '../core/index.ts';

const HEADER = `# Exact rules in the order tried: higher priority first, then by id; the first that matches decides.
# Put back with: agent-reach rules import FILE [--replace] [--dry-run]
`;

export function writeRuleFile(rules: readonly Rule[]): string {
  if (rules.length === 0) return `${HEADER}rules: []\n`;
  const body = yaml.stringify(
    { rules: rules.map(ordered) },
    // Quoted, no text can be read as a number, a date or a boolean, and none is folded.
    { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', lineWidth: 0, aliasDuplicateObjects: false },
  );
  return HEADER + body;
}

function ordered(rule: Rule): Partial<Rule> {
  const { id, description, priority, match, patterns, unless, negation, languages } = rule;
  const { capability, deny, requireScope } = rule;
  const fields = {
    id,
    description,
    priority,
    match,
    patterns,
    unless,
    negation,
    languages,
    capability,
    deny,
    requireScope,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The rules of a file, not yet checked: a list, or `{rules: [...]}`. Error: AR_ERR_INVALID_RULE. */
export function readRuleFile(text: string): unknown[] {
  let value: unknown;
  try {
    value = readYaml(yaml, text).value;
  } catch (error) {
    throw badFile(`is not well-formed YAML: ${error instanceof YamlFlaw ? error : errorText(error)}`, error);
  }
  if (Array.isArray(value)) return value as unknown[];
  const fields = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  if (Array.isArray(fields.rules) && Object.keys(fields).length === 1) return fields.rules as unknown[];
  throw badFile('must be a list of rules, or rules: [...] and nothing else');
}

function badFile(message: string, cause?: unknown): AgentReachError {
  return new AgentReachError('AR_ERR_INVALID_RULE', {
    detail: `yaml: ${message}`,
    issues: [{ path: 'yaml', message }],
    ...(cause === undefined ? {} : { cause }),
  });
}
