import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { EventBatch, EventSource } from '../../canonical/events.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import { BudgetedStream, type BudgetEnd } from './budgeted-stream.ts';

/** Twelve bytes: four tokens by an estimate with a third on top. */
const WORD = 'twelve bytes';
const WORD_TOKENS = 4;
const END = { type: 'end', finish: 'stop' } as const;

const start: EventBatch = [
  { type: 'start', format: 'chat' },
  { type: 'block-start', index: 0, block: { type: 'text', text: '' } },
];
const stated = (words: number): EventBatch => [{ type: 'block-delta', index: 0, text: WORD.repeat(words) }];

/** A stream of so many batches of a word each, on a reservation of so many tokens. */
function open({
  batches = 100,
  tokens,
  extend,
  word = () => stated(1),
}: {
  readonly batches?: number;
  readonly tokens: number;
  readonly extend: (usedTokens: number, requestedCount: number) => Promise<number | undefined>;
  readonly word?: (at: number) => EventBatch;
}) {
  let reserved = tokens;
  let at = 0;
  const cuts: BudgetEnd[] = [];
  const requested: number[] = [];
  let isCancelled = false;
  const source: EventSource = {
    async read() {
      if (at > batches + 1 || isCancelled) return undefined;
      const batch = at === 0 ? start : at === batches + 1 ? [END] : word(at);
      at++;
      return batch;
    },
    cancel: () => void (isCancelled = true),
  };
  const stream = new BudgetedStream(source, {
    reserved: () => reserved,
    async extend(used) {
      requested.push(used);
      const more = await extend(used, requested.length);
      if (more === undefined) return false;
      reserved += more;
      return true;
    },
    onCut: (reason) => void cuts.push(reason),
  });
  return { stream, cuts, requested, read: () => at - 1, wasCancelled: () => isCancelled };
}

async function readAll({ stream }: ReturnType<typeof open>): Promise<EventBatch> {
  const events = [];
  for (let batch = await stream.read(); batch !== undefined; batch = await stream.read()) events.push(...batch);
  return events;
}

// @spec money-34
test('extends a slice at half use, and again at half use of the next', async () => {
  const tested = open({ batches: 30, tokens: 40, extend: () => Promise.resolve(40) });
  assert.deepEqual((await readAll(tested)).at(-1), END);
  assert.deepEqual(tested.requested, [20, 60, 100]);
  assert.deepEqual(tested.cuts, []);
});

test('goes on with the stream while an extension is requested for', async () => {
  const answer = Promise.withResolvers<number>();
  const tested = open({ tokens: 40, extend: () => answer.promise });
  for (let batch = 0; batch < 9; batch++) await tested.stream.read();
  assert.deepEqual([tested.requested, tested.read()], [[20], 8], 'eight words came, and one question is open');
  answer.resolve(400);
  assert.deepEqual((await readAll(tested)).at(-1), END);
});

// @spec money-35
test('ends as at a maximum and cancels the upstream where nothing more is left', async () => {
  const tested = open({ tokens: 40, extend: () => Promise.resolve(undefined) });
  const events = await readAll(tested);
  assert.deepEqual(events.slice(-2), [
    { type: 'block-end', index: 0 },
    { type: 'end', finish: 'length', isCut: true },
  ]);
  assert.deepEqual([tested.cuts, tested.wasCancelled()], [['reached'], true]);
  assert.deepEqual(tested.requested, [20, 40], 'what was refused at half use may have come free');
  assert.equal(tested.read() * WORD_TOKENS, 40);
});

test('goes on where what was refused at half use has come free', async () => {
  const extend = (_used: number, requestedCount: number) => Promise.resolve(requestedCount === 1 ? undefined : 1_000);
  const tested = open({ batches: 30, tokens: 40, extend });
  assert.deepEqual((await readAll(tested)).at(-1), END);
  assert.deepEqual(tested.cuts, []);
});

// @spec money-36
test('reads nothing for a second while the state cannot tell, and then ends as at a maximum', async () => {
  for (const extend of [() => Promise.reject(new Error('away')), () => new Promise<number>(() => undefined)]) {
    const tested = open({ tokens: 40, extend });
    const begunMs = performance.now();
    const last = (await readAll(tested)).at(-1);
    const tookMs = performance.now() - begunMs;
    assert.deepEqual([last, tested.cuts], [{ type: 'end', finish: 'length', isCut: true }, ['unknown']]);
    assert.ok(tookMs > 800 && tookMs < 30_000, `${tookMs} ms`);
    assert.equal(tested.read() * WORD_TOKENS, 40);
  }
});

test('goes on where the state can tell within a second', async () => {
  let isAway = true;
  const extend = () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(1_000));
  const tested = open({ batches: 30, tokens: 40, extend });
  const all = readAll(tested);
  await wait(300);
  assert.equal(tested.read() * WORD_TOKENS, 40, 'nothing is read meanwhile');
  isAway = false;
  assert.deepEqual((await all).at(-1), END);
  assert.deepEqual(tested.cuts, []);
});

test('extends by what one read took beyond the slice, or ends after that read', async () => {
  const word = (at: number): EventBatch => stated(at === 2 ? 100 : 1);
  const grown = open({ batches: 5, tokens: 40, word, extend: () => Promise.resolve(1_000) });
  assert.deepEqual((await readAll(grown)).at(-1), END);
  const cut = open({ batches: 5, tokens: 40, word, extend: () => Promise.resolve(undefined) });
  await readAll(cut);
  assert.deepEqual([cut.read(), cut.cuts], [2, ['reached']]);
});

test('counts what the upstream reports, deltas and sounds, whichever shows more', async () => {
  const refused = () => Promise.resolve(undefined);
  const usage: EventBatch = [{ type: 'usage', usage: { ...NO_USAGE, completionTokens: 50 } }];
  const reported = open({ tokens: 40, extend: refused, word: () => usage });
  await readAll(reported);
  assert.equal(reported.read(), 1);
  const letter: EventBatch = [{ type: 'block-delta', index: 0, text: 'x' }];
  const letters = open({ tokens: 40, extend: refused, word: () => letter });
  await readAll(letters);
  assert.equal(letters.read(), 40);
  const source = { type: 'base64', mediaType: 'audio/wav', data: '' } as const;
  const sound: EventBatch = [{ type: 'block-start', index: 1, block: { type: 'media', media: 'audio', source } }];
  const pieces: EventBatch = [{ type: 'block-delta', index: 1, text: 'A'.repeat(32_000) }];
  const sounds = open({ batches: 3, tokens: 4_000, extend: refused, word: (at) => (at === 1 ? sound : pieces) });
  assert.deepEqual((await readAll(sounds)).at(-1), END, 'base64 is no text');
});

test('is not cut after the end of the answer, nor where its end came with the last read', async () => {
  const extend = () => Promise.resolve(undefined);
  const tested = open({ batches: 1, tokens: 40, extend, word: () => [...stated(100), END] });
  const events = await readAll(tested);
  assert.deepEqual([events.filter(({ type }) => type === 'end').at(-1), tested.cuts], [END, []]);
});

test('reads nothing after it was cancelled, whatever it waits for', async () => {
  const answer = Promise.withResolvers<number>();
  const tested = open({ tokens: 8, extend: () => answer.promise });
  for (let batch = 0; batch < 3; batch++) await tested.stream.read();
  const waiting = tested.stream.read();
  tested.stream.cancel();
  answer.resolve(100);
  assert.equal(await waiting, undefined);
  assert.deepEqual([tested.cuts, tested.wasCancelled()], [[], true]);
});

test('adds no second end where an extension comes after the end', async () => {
  const answer = Promise.withResolvers<number | undefined>();
  const hidden: EventBatch = [{ type: 'usage', usage: { ...NO_USAGE, completionTokens: 1_000 } }, END];
  const tested = open({
    tokens: 40,
    extend: (_used, requestedCount) => (requestedCount === 1 ? answer.promise : Promise.resolve(undefined)),
    word: (at) => (at < 8 ? stated(1) : hidden),
  });
  for (let batch = 0; batch < 8; batch++) await tested.stream.read();
  assert.deepEqual(await tested.stream.read(), hidden);
  assert.deepEqual(tested.requested, [20]);
  answer.resolve(40);
  await wait(1);
  await tested.stream.read();
  assert.deepEqual([tested.requested, tested.cuts], [[20], []]);
});
