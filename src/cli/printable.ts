/**
 * Text of others made safe for a terminal: control characters (an escape sequence could repaint the screen) and
 * marks that turn the writing direction are shown as a dot. Line ends become spaces.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function printable(text: string): string {
  return text.replace(/[\r\n\t]+/g, ' ').replace(UNSAFE, '·');
}

export const shownNumber = (value: number | null | undefined, digits = 2): string =>
  value === null || value === undefined ? '-' : value.toFixed(digits);

export const shownList = (values: readonly string[]): string => (values.length === 0 ? '-' : values.join(', '));
