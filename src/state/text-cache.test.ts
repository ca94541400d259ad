import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { suite, type TestContext } from 'node:test';
import { systemClock } from '../lib/clock.ts';
import type { TextCache } from './contract.ts';
import { createMemoryTexts } from './memory/text-cache.ts';
import { createRedisLink } from './redis/link.ts';
import { createRedisTexts } from './redis/text-cache.ts';
import { openLocalState } from '../../tests/support/services/local-state.ts';
import { redis, useRedis } from '../../tests/support/services/redis.ts';
import { TEXT_CHARS_MAX } from './text-bounds.ts';

type Open = (t: TestContext, bytesMax: number) => Promise<TextCache>;

const KINDS: readonly (readonly [name: string, open: Open])[] = [
  ['in memory', (_t, bytesMax) => Promise.resolve(createMemoryTexts({ clock: systemClock, bytesMax }))],
  ['over the local socket', openWorkerTexts],
  ...(redis === undefined ? [] : [['in Redis', openRedisTexts] as const]),
];

async function openWorkerTexts(t: TestContext, textBytesMax: number): Promise<TextCache> {
  const { workers } = await openLocalState(t, 1, { textBytesMax });
  assert.ok(workers[0] !== undefined);
  return workers[0].texts;
}

async function openRedisTexts(t: TestContext, bytesMax: number): Promise<TextCache> {
  const { url, prefix } = useRedis(t);
  const link = await createRedisLink({ url, prefix });
  t.after(() => link.close());
  await link.open();
  return createRedisTexts({ link, prefix, bytesMax });
}

/** Waits until something is so: texts are sent to Redis without waiting for it. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 500; round++) {
    if (await isSo()) return;
    await sleep(5);
  }
  assert.fail('it never came to be so');
}

const has = async (texts: TextCache, name: string): Promise<boolean> => (await texts.get(name)) !== undefined;

for (const [kind, open] of KINDS) {
  suite(`texts ${kind}`, () => {
    test('are kept as they were, and replaced', async (t) => {
      const texts = await open(t, 1_000_000);
      texts.set('a', 'one \u{1F600} "two"', 60_000);
      await until(() => has(texts, 'a'));
      assert.equal(await texts.get('a'), 'one \u{1F600} "two"');
      texts.set('a', 'other', 60_000);
      await until(async () => (await texts.get('a')) === 'other');
      assert.equal(await texts.get('b'), undefined);
    });

    test('are gone when their time is over', async (t) => {
      const texts = await open(t, 1_000_000);
      texts.set('short', 'x', 100);
      texts.set('long', 'y', 60_000);
      await until(() => has(texts, 'long'));
      await until(async () => !(await has(texts, 'short')));
      assert.equal(await texts.get('long'), 'y');
    });

    test('are gone when they are deleted', async (t) => {
      const texts = await open(t, 1_000_000);
      texts.set('a', 'x', 60_000);
      await until(() => has(texts, 'a'));
      texts.delete('a');
      await until(async () => !(await has(texts, 'a')));
    });

    test('make way for others when there is no room left', async (t) => {
      const texts = await open(t, 50_000);
      for (let index = 0; index < 40; index++) texts.set(`name-${index}`, 'x'.repeat(10_000), 60_000 + index * 1_000);
      await until(() => has(texts, 'name-39'));
      const kept = await Promise.all(Array.from({ length: 40 }, (_, index) => has(texts, `name-${index}`)));
      const count = kept.filter(Boolean).length;
      assert.ok(count >= 1 && count <= 5, `${count} texts of 10,000 characters in 50,000 bytes`);
      assert.equal(kept[0], false);
    });

    test('that are longer than one may be are not kept, and push nothing out', async (t) => {
      const texts = await open(t, 10_000_000);
      texts.set('small', 'x', 60_000);
      texts.set('large', 'y'.repeat(TEXT_CHARS_MAX + 1), 60_000);
      await until(() => has(texts, 'small'));
      assert.equal(await texts.get('large'), undefined);
    });

    test('are not kept where there is no room at all', async (t) => {
      const texts = await open(t, 0);
      texts.set('a', 'x', 60_000);
      await sleep(30);
      assert.equal(await texts.get('a'), undefined);
    });
  });
}
