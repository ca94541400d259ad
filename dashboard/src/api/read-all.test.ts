import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAll, type Window } from './read-all.ts';

const ITEMS = Array.from({ length: 250 }, (_, at) => at);

/** A list of the API: pages, and the windows that were read. */
function pagesOf(items: readonly number[], withCount = true) {
  const windows: Window[] = [];
  return {
    windows,
    read: (window: Window) => {
      windows.push(window);
      const data = items.slice(window.offset, window.offset + window.limit);
      return Promise.resolve({ data, ...(withCount && { total_count: items.length }) });
    },
  };
}

test('reads a list of several pages to its end', async () => {
  const list = pagesOf(ITEMS);
  assert.deepEqual(await readAll(100, list.read), { items: ITEMS, total: 250 });
  assert.deepEqual(
    list.windows.map(({ offset }) => offset),
    [0, 100, 200],
  );
});

test('reads no page behind the last one of a list with a count', async () => {
  const list = pagesOf(ITEMS.slice(0, 200));
  assert.equal((await readAll(100, list.read)).total, 200);
  assert.equal(list.windows.length, 2);
});

test('ends a list without a count at the first page that is not full', async () => {
  const list = pagesOf(ITEMS, false);
  assert.equal((await readAll(100, list.read)).items.length, 250);
});

test('stops after fifty pages, and reports that the list goes on', async () => {
  const long = pagesOf(ITEMS);
  const { items, total } = await readAll(2, long.read);
  assert.deepEqual([items.length, total], [100, 250]);
  const uncounted = await readAll(2, pagesOf(ITEMS, false).read);
  assert.equal(uncounted.total > uncounted.items.length, true);
});
