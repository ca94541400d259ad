import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { ResponseListing, ResponseReader, ResponseRow, ResponseRows } from '../../../src/state/contract.ts';

const CHARS = 1_000_000;
const BOUNDS = { linksMax: 10, charsMax: CHARS };
const OWNER = { accountId: 'default', workspaceId: 'w1', keyHash: 'k1' };
export const KEY: ResponseReader = OWNER;
const WORKSPACE: ResponseReader = { ...OWNER, keyHash: undefined };
export const OTHER_KEY = { ...OWNER, keyHash: 'k2' };

let made = Date.now();

/** A row of `KEY`, younger than all rows before. */
export function makeRow(id: string, parts: Partial<ResponseRow> = {}): ResponseRow {
  const items = JSON.stringify([[{ id: `in_${id}` }], [{ id: `out_${id}`, text: 'Grüße' }]]);
  return {
    id,
    owner: OWNER,
    createdAtMs: ++made,
    status: 'completed',
    parentId: null,
    itemIds: [`in_${id}`, `out_${id}`],
    items,
    object: JSON.stringify({ id }),
    ...parts,
  };
}

/** What every place for kept responses promises. */
export function testResponseRows(open: (t: TestContext) => Promise<ResponseRows>): void {
  test('gives a row back as it was put, also after another one took its place', async (t) => {
    const rows = await open(t);
    const row = makeRow('a', { parentId: 'before' });
    assert.equal(await rows.put(row), true);
    assert.deepEqual(await rows.find('a', KEY), row);
    const next = makeRow('a', { status: 'cancelled', itemIds: [] });
    assert.equal(await rows.put(next), true);
    assert.deepEqual(await rows.find('a', KEY), next);
    assert.deepEqual(await rows.findByItems(['in_a'], KEY, CHARS), []);
  });

  test('keeps, finds and forgets rows whose items callers gave strange ids', async (t) => {
    const rows = await open(t);
    const strange = ['\ud800', '\udc00\ud800', '\0', '__proto__', ' ', '*', '"', 'x'.repeat(3_000)];
    assert.equal(await rows.put(makeRow('a', { itemIds: strange })), true);
    for (const id of strange) assert.equal((await rows.findByItems([id], KEY, CHARS))[0]?.id, 'a', JSON.stringify(id));
    assert.equal(await rows.delete('a', KEY), true);
    for (const id of strange) assert.deepEqual(await rows.findByItems([id], KEY, CHARS), []);
    assert.equal(await rows.put(makeRow('b')), true);
  });

  test('shows a row to its key and to readers of its workspace alone', async (t) => {
    const rows = await open(t);
    await rows.put(makeRow('a'));
    assert.equal((await rows.find('a', WORKSPACE))?.id, 'a');
    for (const reader of [OTHER_KEY, { ...WORKSPACE, workspaceId: 'w' }, { ...WORKSPACE, accountId: 'other' }]) {
      assert.equal(await rows.find('a', reader), undefined);
      assert.deepEqual(await rows.findChain('a', reader, BOUNDS), []);
      assert.deepEqual(await rows.findByItems(['in_a'], reader, CHARS), []);
      assert.equal(await rows.delete('a', reader), false);
    }
    assert.equal((await rows.find('a', KEY))?.id, 'a');
  });

  // @spec responses-139
  test('lists the rows of a workspace, or of some of its keys, the newest first, page by page', async (t) => {
    const rows = await open(t);
    const { accountId, workspaceId } = OWNER;
    await rows.put(makeRow('a', { parentId: 'before' }));
    await rows.put(makeRow('b', { owner: OTHER_KEY, status: 'failed' }));
    const at = makeRow('x').createdAtMs;
    for (const id of ['c', 'd']) await rows.put(makeRow(id, { createdAtMs: at }));
    await rows.put(makeRow('e', { owner: { ...OWNER, workspaceId: 'w2' } }));
    const list = async (more: Partial<ResponseListing> = {}) =>
      rows.list({ accountId, workspaceId, limit: 10, ...more });
    const idsOf = async (more?: Partial<ResponseListing>) => (await list(more)).map(({ id }) => id);
    assert.deepEqual(await idsOf(), ['d', 'c', 'b', 'a']);
    assert.deepEqual(await idsOf({ keyHashes: ['k1'] }), ['d', 'c', 'a']);
    assert.deepEqual(await idsOf({ keyHashes: ['k2', 'k3'] }), ['b']);
    assert.deepEqual(await idsOf({ keyHashes: [] }), []);
    assert.deepEqual(await idsOf({ workspaceId: 'w' }), []);
    assert.deepEqual(await idsOf({ accountId: 'other' }), []);
    const [first] = await list({ limit: 1 });
    assert.equal(first?.id, 'd');
    assert.deepEqual(await idsOf({ limit: 2, after: first }), ['c', 'b']);
    const [, , b, a] = await list();
    assert.partialDeepStrictEqual(b, { owner: OTHER_KEY, status: 'failed', parentId: null, runs: null });
    assert.equal(a?.parentId, 'before');
    assert.ok((a.bytes ?? 0) > 50);
    await rows.delete('b', OTHER_KEY);
    assert.deepEqual(await idsOf(), ['d', 'c', 'a']);
  });

  test('follows a chain to its root, the newest first, and ends where a link is missing', async (t) => {
    const rows = await open(t);
    for (const [id, parentId] of [
      ['a', null],
      ['b', 'a'],
      ['c', 'b'],
    ] as const)
      await rows.put(makeRow(id, { parentId }));
    const chain = async (): Promise<readonly string[]> => (await rows.findChain('c', KEY, BOUNDS)).map(({ id }) => id);
    assert.deepEqual(await chain(), ['c', 'b', 'a']);
    const [newest] = await rows.findChain('c', KEY, { linksMax: 0, charsMax: 1_000 });
    assert.deepEqual([newest?.id, newest?.parentId], ['c', 'b']);
    assert.equal((await rows.findChain('c', KEY, { ...BOUNDS, charsMax: 1 })).length, 1);
    await rows.delete('a', KEY);
    assert.deepEqual(await chain(), ['c', 'b']);
  });

  test('finds for each item the newest row that the reader may see, and each row once', async (t) => {
    const rows = await open(t);
    await rows.put(makeRow('a', { itemIds: ['x', 'y'] }));
    await rows.put(makeRow('b', { itemIds: ['x', 'z'] }));
    await rows.put(makeRow('c', { owner: OTHER_KEY, itemIds: ['x'] }));
    const found = async (ids: readonly string[]): Promise<readonly string[]> =>
      (await rows.findByItems(ids, KEY, CHARS)).map(({ id }) => id).toSorted();
    assert.deepEqual(await found(['x', 'z']), ['b']);
    assert.deepEqual(await found(['y', 'x', 'nothing']), ['a', 'b']);
    assert.equal((await rows.findByItems(['y', 'z'], KEY, 1)).length, 1, 'the first one exceeds the bound');
    await rows.delete('b', KEY);
    assert.deepEqual(await found(['x']), ['a']);
  });

  test('names the owners of rows, and deletes all rows of one of them', async (t) => {
    const rows = await open(t);
    await rows.put(makeRow('a'));
    await rows.put(makeRow('b', { parentId: 'a' }));
    await rows.put(makeRow('c', { owner: OTHER_KEY }));
    const owners = (await rows.owners()).toSorted((one, other) => (one.keyHash < other.keyHash ? -1 : 1));
    assert.deepEqual(owners, [OWNER, OTHER_KEY]);
    await rows.deleteOf(OWNER);
    assert.deepEqual(await rows.owners(), [OTHER_KEY]);
    assert.equal(await rows.find('a', KEY), undefined);
    assert.deepEqual(await rows.findByItems(['in_b'], KEY, CHARS), []);
    assert.equal((await rows.find('c', OTHER_KEY))?.id, 'c');
  });
}
