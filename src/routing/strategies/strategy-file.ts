/** A strategies document as YAML (of which JSON is a part), with the line of each flaw. */
import * as yaml from 'yaml';
import type { StrategiesDocument } from '../../contract/index.ts';
import { AgentReachError, errorText, readYaml, YamlFlaw, type YamlText } from '../../core/index.ts';
import { type Place, readStrategies } from './strategy-document.ts';

export const MAX_STRATEGY_FILE_BYTES = 1_048_576;
/** Aliases may repeat a stack; a file that multiplies by them is refused. */
const MAX_ALIASES = 100;

/** Error: AR_ERR_INVALID_STRATEGIES. An empty text is refused: it is a file caught half written; `{}` says nothing. */
export function readStrategyText(text: string): StrategiesDocument {
  if (Buffer.byteLength(text) > MAX_STRATEGY_FILE_BYTES) throw bad(`is larger than ${MAX_STRATEGY_FILE_BYTES} bytes`);
  const read = readText(text);
  if (read.value === null || read.value === undefined) throw bad('is empty; {} leaves everything to the config');
  return readStrategies(read.value, (place) => lineAt(read, place));
}

function readText(text: string): YamlText {
  try {
    return readYaml(yaml, text, MAX_ALIASES);
  } catch (error) {
    if (!(error instanceof YamlFlaw)) throw bad(errorText(error), error);
    throw bad(`is not well-formed YAML: ${error.message} (line ${error.line})`, error);
  }
}

/** The same refusal with the path before it. */
export function refusedFile(path: string, error: AgentReachError): AgentReachError {
  const { message, code, issues, suggestions } = error;
  const detail = message.includes('\n') ? `${path}:\n${message}` : `${path}: ${message}`;
  return new AgentReachError(code, { detail, issues, suggestions, cause: error });
}

function bad(message: string, cause?: unknown): AgentReachError {
  return new AgentReachError('AR_ERR_INVALID_STRATEGIES', {
    detail: message,
    issues: [{ path: '', message }],
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Where the place stands, or the last part of it that is there: a field that is missing has no line. */
function lineAt({ document, lines }: YamlText, place: Place): number | undefined {
  let node: unknown = document.contents;
  let offset = yaml.isNode(node) ? node.range?.[0] : undefined;
  for (const part of place) {
    if (yaml.isAlias(node)) node = node.resolve(document);
    let next: unknown;
    if (yaml.isMap(node)) {
      const pair = node.items.find(({ key }) => yaml.isScalar(key) && String(key.value) === String(part));
      if (yaml.isNode(pair?.key)) offset = pair.key.range?.[0];
      next = pair?.value;
    } else if (yaml.isSeq(node) && typeof part === 'number') {
      next = node.items[part];
      if (yaml.isNode(next)) offset = next.range?.[0];
    }
    if (next === undefined || next === null) break;
    node = next;
  }
  return offset === undefined ? undefined : lines.linePos(offset).line;
}
