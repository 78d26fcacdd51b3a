/**
 * A YAML text as a value, for every place that reads one. The parser is handed in, so that nothing loads it that does
 * not read YAML. What it takes more than linear time for, or would end the process by (a stack that runs out inside a
 * regex), is refused before it: depth and aliases. Doubled keys are looked for here, since it compares each with all.
 */
import type * as Yaml from 'yaml';
import { errorText } from './errors.ts';

export type YamlParser = Pick<typeof Yaml, 'Lexer' | 'LineCounter' | 'isScalar' | 'parseDocument' | 'visit'>;

export interface YamlText {
  readonly document: Yaml.Document.Parsed;
  readonly lines: Yaml.LineCounter;
  readonly value: unknown;
}

const MAX_YAML_DEPTH = 100;
const MAX_YAML_ALIASES = 1_000;

/** One flaw, in one line; whose fault a broken file is, its reader knows. */
export class YamlFlaw extends Error {
  readonly line: number;
  readonly column: number;

  constructor(message: string, at: { readonly line: number; readonly col: number }, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.line = at.line;
    this.column = at.col;
  }

  override toString(): string {
    return `${this.message} at line ${this.line}, column ${this.column}`;
  }
}

/** Errors: YamlFlaw for what is not well-formed; a plain Error for aliases that multiply. */
export function readYaml(yaml: YamlParser, text: string, maxAliases = MAX_YAML_ALIASES): YamlText {
  refuseUnbounded(yaml, text, maxAliases);
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
  });
  const [first] = document.errors;
  if (first !== undefined) throw new YamlFlaw(oneLine(first.message), lines.linePos(first.pos[0]), first);
  refuseDoubledKeys(yaml, document, lines);
  return { document, lines, value: document.toJS({ maxAliasCount: maxAliases }) };
}

/** As `readYaml`, the flaw told with the path before it. */
export function yamlValue(yaml: YamlParser, text: string, shownPath: string): unknown {
  try {
    return readYaml(yaml, text).value;
  } catch (error) {
    const detail = error instanceof YamlFlaw ? `is not well-formed YAML: ${error}` : errorText(error);
    throw new Error(`${shownPath}${error instanceof YamlFlaw ? ' ' : ': '}${detail}`, { cause: error });
  }
}

const oneLine = (message: string): string => (message.split('\n', 1)[0] ?? '').replace(/:$/, '');

/** Marks of the lexer, which are not in the text. After the first comes a scalar, whatever it begins with. */
const SCALAR = '\u001f';
const FLOW_CUT_SHORT = '\u0018';
const DOCUMENT = '\u0002';

/**
 * Depth as the parser will nest: open brackets, and columns in which a line begins or goes on after an indicator
 * (`- - x`). Each block level stands further right than the one it is in.
 */
function refuseUnbounded(yaml: YamlParser, text: string, maxAliases: number): void {
  const columns: number[] = [];
  let [line, column, flow, aliases] = [1, 0, 0, 0];
  let [isText, opensLevel] = [false, true];
  for (const lexeme of new yaml.Lexer().lex(text)) {
    const refuse = (what: string): never => {
      throw new YamlFlaw(what, { line, col: column + 1 });
    };
    if (lexeme === FLOW_CUT_SHORT) flow = 0;
    if (!isText && lexeme === SCALAR) isText = true;
    if (lexeme === SCALAR || lexeme === DOCUMENT || lexeme === FLOW_CUT_SHORT) continue;
    const begins = isText || !/^[\s#]/.test(lexeme);
    if (isText) isText = false;
    else if (lexeme === '[' || lexeme === '{') flow++;
    else if (lexeme === ']' || lexeme === '}') flow = Math.max(0, flow - 1);
    else if (lexeme.startsWith('*') && ++aliases > maxAliases) refuse(`there are more than ${maxAliases} aliases`);
    if (opensLevel && flow === 0 && begins) {
      while ((columns.at(-1) ?? -1) >= column) columns.pop();
      columns.push(column);
      opensLevel = false;
    }
    if (columns.length + flow > MAX_YAML_DEPTH) refuse(`there are more than ${MAX_YAML_DEPTH} levels`);
    if (flow === 0 && (lexeme === '-' || lexeme === '?' || lexeme === ':')) opensLevel = true;
    const lastBreak = lexeme.lastIndexOf('\n');
    if (lastBreak < 0) column += lexeme.length;
    else {
      for (let at = lexeme.indexOf('\n'); at >= 0; at = lexeme.indexOf('\n', at + 1)) line++;
      column = lexeme.length - lastBreak - 1;
      opensLevel = true;
    }
  }
}

function refuseDoubledKeys(yaml: YamlParser, document: Yaml.Document.Parsed, lines: Yaml.LineCounter): void {
  yaml.visit(document, {
    Map(_place, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!yaml.isScalar(key)) continue;
        if (seen.has(key.value)) throw new YamlFlaw('Map keys must be unique', lines.linePos(key.range?.[0] ?? 0));
        seen.add(key.value);
      }
    },
  });
}
