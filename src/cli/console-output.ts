/**
 * What a command writes. Answers go to stdout, errors and bars to stderr; with `--json` stdout holds one JSON value
 * and nothing else. A reader that left early (`| head`) is no error: later writes are dropped in silence.
 */
import CliTable from 'cli-table3';
import pc from 'picocolors';
import { AgentReachError, errorText, isAgentReachError } from '../core/index.ts';
import { printable } from './printable.ts';

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => string | number;
  /** Numbers read best on the right. */
  readonly align?: 'left' | 'right';
  /** In terminal columns (a Chinese character takes two); longer text is cut with an ellipsis. */
  readonly maxWidth?: number;
}

const NO_BORDERS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

export function hasColours(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
}

export class ConsoleOutput {
  readonly #isJson: boolean;
  readonly #indent: number;
  readonly #colours: ReturnType<typeof pc.createColors>;
  readonly #errorColours: ReturnType<typeof pc.createColors>;
  readonly #isBarShown: boolean;
  #isOpen = true;

  constructor(options: { readonly isJson: boolean; readonly isOneLine?: boolean }) {
    this.#isJson = options.isJson;
    this.#indent = options.isOneLine === true ? 0 : 2;
    this.#colours = pc.createColors(hasColours(process.stdout, process.env));
    this.#isBarShown = hasColours(process.stderr, process.env);
    this.#errorColours = pc.createColors(this.#isBarShown);
    for (const stream of [process.stdout, process.stderr]) {
      stream.on('error', () => {
        this.#isOpen = false;
      });
    }
  }

  get isJson(): boolean {
    return this.#isJson;
  }

  /** Bars are for people at a terminal only. */
  get isBarShown(): boolean {
    return this.#isBarShown && !this.#isJson;
  }

  /** The whole answer of a command: the value with `--json`, else what `show` writes. */
  answer<Value>(value: Value, show: (value: Value) => void): void {
    if (this.#isJson) this.#write(process.stdout, JSON.stringify(value, null, this.#indent));
    else show(value);
  }

  line(text = ''): void {
    if (!this.#isJson) this.#write(process.stdout, printable(text));
  }

  heading(text: string): void {
    if (!this.#isJson) this.#write(process.stdout, `\n${this.#colours.bold(printable(text))}`);
  }

  /** Names and values under each other; pairs without a value are left out. */
  pairs(pairs: readonly (readonly [name: string, value: string | undefined])[]): void {
    const shown = pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
    const width = Math.max(0, ...shown.map(([name]) => name.length));
    for (const [name, value] of shown) {
      this.#write(process.stdout, `${this.#colours.dim(name.padEnd(width))}  ${printable(value)}`);
    }
  }

  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
    const isCut = columns.some(({ maxWidth }) => maxWidth !== undefined);
    const table = new CliTable({
      head: columns.map(({ head }) => this.#colours.bold(head)),
      chars: NO_BORDERS,
      style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
      colAligns: columns.map(({ align }) => align ?? 'left'),
      ...(isCut ? { colWidths: columns.map((column) => cutWidth(rows, column)) } : {}),
    });
    for (const row of rows) table.push(columns.map(({ cell }) => printable(String(cell(row)))));
    const lines = table.toString().split('\n');
    this.#write(process.stdout, lines.map((line) => line.trimEnd()).join('\n'));
  }

  /** `code: text`, then each issue and what was probably meant; with `--json` one value on stdout, `beside` in it. */
  error(error: unknown, beside: Readonly<Record<string, unknown>> = {}): void {
    if (this.#isJson) {
      this.#write(process.stdout, JSON.stringify({ error: errorBody(error), ...beside }, null, this.#indent));
      return;
    }
    if (!isAgentReachError(error)) {
      this.#write(process.stderr, `${this.#errorColours.red('error')}: ${printable(errorText(error))}`);
      return;
    }
    for (const [index, line] of errorLines(error).entries()) {
      const text = index === 0 ? line.replace(error.code, this.#errorColours.red(error.code)) : line;
      this.#write(process.stderr, text);
    }
  }

  /** For people only, beside the answer. */
  note(text: string): void {
    this.#write(process.stderr, printable(text));
  }

  #write(stream: NodeJS.WriteStream, text: string): void {
    if (this.#isOpen) stream.write(`${text}\n`);
  }
}

/** null lets the table fit the column to its text; a fixed width only where some text would pass the limit. */
function cutWidth<Row>(rows: readonly Row[], { cell, maxWidth }: Column<Row>): number | null {
  if (maxWidth === undefined) return null;
  // Two terminal columns a character is the most that any text takes.
  return rows.some((row) => String(cell(row)).length * 2 > maxWidth) ? maxWidth : null;
}

/** What a script needs of a failure; an error that is not ours reads as AR_ERR_INTERNAL. */
export function errorBody(error: unknown): Record<string, unknown> {
  const known = isAgentReachError(error)
    ? error
    : new AgentReachError('AR_ERR_INTERNAL', { detail: errorText(error), cause: error });
  const { status, retryable } = known.definition;
  const { cause } = known;
  const isFromService = typeof cause === 'object' && cause !== null && 'requestId' in cause;
  return {
    code: known.code,
    status,
    detail: known.message,
    retryable,
    ...(isFromService ? { requestId: cause.requestId } : {}),
    issues: known.issues,
    suggestions: known.suggestions,
  };
}

export function errorLines(error: AgentReachError): string[] {
  const [first = '', ...rest] = error.message.split('\n');
  const lines = [`${error.code}: ${printable(first)}`, ...rest.map((line) => `  ${printable(line)}`)];
  for (const { path, message } of error.issues) {
    const text = path === '' ? message : `${path}: ${message}`;
    if (!error.message.includes(message)) lines.push(`  ${printable(text)}`);
  }
  if (error.suggestions.length > 0) lines.push(`  did you mean: ${printable(error.suggestions.join(', '))}`);
  return lines;
}
