/** Of one list: beyond it the list says that it is not whole. */
const PAGES_MAX = 50;

/** Where a page of a list begins, and how many elements it has at most. */
export interface Window {
  readonly offset: number;
  readonly limit: number;
}

/** What a `GET` of a list returns; lists without a count end with the first page that is not full. */
export interface ListPage<Item> {
  readonly data: readonly Item[];
  readonly total_count?: number;
}

export interface List<Item> {
  readonly items: readonly Item[];
  /** Of the whole list, of which `items` may be the first. */
  readonly total: number;
}

/** Reads a list to its end, page after page. */
export async function readAll<Item>(
  pageSize: number,
  readPage: (window: Window) => Promise<ListPage<Item> | undefined>,
): Promise<List<Item>> {
  const items: Item[] = [];
  for (let page = 1; ; page += 1) {
    // Each page begins where the last one ended.
    const { data = [], total_count: total } = (await readPage({ offset: items.length, limit: pageSize })) ?? {};
    items.push(...data);
    if (data.length < pageSize || items.length === total) return { items, total: items.length };
    if (page === PAGES_MAX) return { items, total: total ?? items.length + 1 };
  }
}
