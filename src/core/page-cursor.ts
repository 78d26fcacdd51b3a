/** Cursors of list pages: the key of the last item, opaque to callers, so that changes in between skip nothing. */
import { AgentReachError } from './errors.ts';

export function encodeCursor(lastKey: string): string {
  return Buffer.from(lastKey, 'utf8').toString('base64url');
}

/** Error: AR_ERR_INVALID_CURSOR for text that `encodeCursor` cannot have made of a key of this form. */
export function decodeCursor(cursor: string, form: RegExp): string {
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!form.test(key) || encodeCursor(key) !== cursor) throw new AgentReachError('AR_ERR_INVALID_CURSOR');
  return key;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** The first `limit` items whose key lies behind `after`; `items` are in ascending order of key. */
export function pageOf<Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => string,
  at: { readonly after: string | undefined; readonly limit: number },
): Page<Item> {
  const page: Item[] = [];
  for (const item of items) {
    if (at.after !== undefined && keyOf(item) <= at.after) continue;
    const last = page.at(-1);
    if (page.length === at.limit && last !== undefined) return { items: page, nextCursor: encodeCursor(keyOf(last)) };
    page.push(item);
  }
  return { items: page, nextCursor: null };
}
