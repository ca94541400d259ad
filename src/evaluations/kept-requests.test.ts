import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeptLines, type KeptRequest } from './kept-requests.ts';

const search = { workspaceId: 'w', fromMs: 0, toMs: 1, models: [], limit: 2, expectsResponse: false };

async function linesOf(kept: readonly (KeptRequest | undefined)[], more: Partial<typeof search> = {}) {
  let read = 0;
  const lines = new KeptLines(
    async function* () {
      for (const each of kept) {
        read++;
        yield await Promise.resolve(each);
      }
    },
    { ...search, ...more },
    ({ id }) => (id === 'unfit' ? 'is not supported' : undefined),
  );
  const bytes = await Array.fromAsync(lines.bytes());
  const made = bytes.map((line) => JSON.parse(Buffer.from(line).toString()) as Record<string, unknown>);
  return { made, skipped: lines.skipped, read };
}

const request = (id: string, more: Partial<KeptRequest> = {}): KeptRequest => ({
  id,
  sessionId: null,
  messages: [{ role: 'user', content: 'Hi.' }],
  response: 'Hello.',
  ...more,
});

// @spec evaluation-19
test('makes as many lines as are wanted, and reads no further', async () => {
  const { made, skipped, read } = await linesOf([request('a'), undefined, request('b'), request('c'), request('d')]);
  assert.deepEqual(
    made.map(({ id }) => id),
    ['a', 'b'],
  );
  assert.deepEqual([skipped, read], [1, 4]);
});

// @spec evaluation-19
test('has a judge compare, keeps sessions together, and expects responses where that is wanted', async () => {
  const sessions = [request('a', { sessionId: 'one' }), request('b', { sessionId: 'one' })];
  const { made } = await linesOf(sessions);
  assert.deepEqual(
    made.map(({ checks, expected }) => [checks, expected]),
    [
      [[{ type: 'judge' }], undefined],
      [[{ type: 'judge' }], undefined],
    ],
  );
  assert.equal(typeof made[0]?.['group'], 'string');
  assert.equal(made[0]?.['group'], made[1]?.['group']);
  assert.ok(!JSON.stringify(made).includes('one'), 'an id of a session can name a person');
  assert.equal((await linesOf([request('a')], { expectsResponse: true })).made[0]?.['expected'], 'Hello.');
});

// @spec evaluation-19
test('leaves out and counts what a dataset does not take', async () => {
  const { made, skipped } = await linesOf([request('unfit'), request('empty', { messages: [] }), request('fit')]);
  assert.deepEqual([made.length, made[0]?.['id'], skipped], [1, 'fit', 2]);
});
