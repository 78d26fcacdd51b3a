/** Walks cursor pages one request at a time; an item that moves between two pages may be seen twice or not at all. */
interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

export async function* everyItem<Item>(
  fetchPage: (cursor: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
  let cursor: string | undefined;
  do {
    const page = await fetchPage(cursor);
    yield* page.items;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
