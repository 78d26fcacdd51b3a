/** Labelled texts of a data file, JSON lines. All or nothing: a wrong line refuses the file, with its number. */
import { type EvaluationLine, evaluationLineSchema } from '../../contract/index.ts';
import { AgentReachError, canonicalText, type ErrorIssue, errorText, hasWords } from '../../core/index.ts';

const MAX_SHOWN_ISSUES = 20;

/** Error: AR_ERR_INVALID_REQUEST; each issue's path is `line N`. */
export function readEvaluationLines(content: string, place: string): EvaluationLine[] {
  const lines: EvaluationLine[] = [];
  const issues: ErrorIssue[] = [];
  for (const [index, raw] of content.split('\n').entries()) {
    if (raw.trim() === '') continue;
    const read = readLine(raw);
    if (typeof read === 'string') issues.push({ path: `line ${index + 1}`, message: read });
    else lines.push(read);
  }
  const [first] = issues;
  if (first !== undefined) {
    const more = issues.length === 1 ? '' : ` (and ${issues.length - 1} more lines)`;
    throw new AgentReachError('AR_ERR_INVALID_REQUEST', {
      detail: `${place}, ${first.path}: ${first.message}${more}`,
      issues: issues.slice(0, MAX_SHOWN_ISSUES),
    });
  }
  if (lines.length > 0) return lines;
  throw new AgentReachError('AR_ERR_INVALID_REQUEST', { detail: `${place} holds no lines` });
}

function readLine(raw: string): EvaluationLine | string {
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch (error) {
    return `is not well-formed JSON: ${errorText(error)}`;
  }
  const parsed = evaluationLineSchema.safeParse(value);
  if (!parsed.success) {
    return parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'line'}: ${message}`).join('; ');
  }
  if (!hasWords(canonicalText(parsed.data.text))) return 'text: holds no letter or digit';
  return parsed.data;
}

/** Chinese where a Han character stands, English where Latin letters alone do. */
export function languageOf(text: string): string {
  if (/\p{Script=Han}/u.test(text)) return 'zh';
  return /\p{Script=Latin}/u.test(text) && !/(?!\p{Script=Latin})\p{L}/u.test(text) ? 'en' : 'other';
}
