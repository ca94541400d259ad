import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextImmediate } from 'node:timers/promises';
import { RECALL_MB_MAX } from '../config/memory-budget.ts';
import { BYTES_MAX as ORIGIN_BYTES_MAX } from '../pipeline/replay/origin-memory.ts';
import { WRITTEN_BYTES_MAX } from '../pipeline/replay/reasoning-history.ts';
import { BYTES_MAX as SIGNATURE_BYTES_MAX } from '../pipeline/replay/signature-memory.ts';
import { TEXT_SIGNATURE_BYTES_MAX } from '../pipeline/replay/text-signatures.ts';
import type { RequestFacts } from '../pipeline/request.ts';
import { sampleFacts, sampleRequest } from '../../tests/support/settled-record.ts';
import { RequestLog } from '../telemetry/request-log.ts';
import { ResponseMeter } from '../telemetry/response-meter.ts';
import { createRouterMemory, createTagger, MEMORY_BYTES_MAX } from './routers.ts';

function fakeClock() {
  let ms = 0;
  return {
    nowMs: () => ms,
    monotonicMs: () => ms,
    pass: (by: number): void => void (ms += by),
  };
}

test('forgets after its time', async () => {
  const clock = fakeClock();
  const memory = createRouterMemory({ clock, values: undefined });
  memory.keep('blue', 'acme/one', 1_000);
  clock.pass(999);
  assert.equal(await memory.recall('blue'), 'acme/one');
  clock.pass(1);
  assert.equal(await memory.recall('blue'), undefined);
  assert.equal(await memory.recall('red'), undefined);
});

test('processes that share their values share what routers remember, and no text of a conversation', async () => {
  const clock = fakeClock();
  const shared = new Map<string, string>();
  const values = {
    get: (key: string) => Promise.resolve(shared.get(key)),
    set: (key: string, value: string): void => void shared.set(key, value),
  };
  createRouterMemory({ clock, values }).keep('account named secret words', 'acme/one', 1_000);
  assert.equal(await createRouterMemory({ clock, values }).recall('account named secret words'), 'acme/one');
  assert.ok([...shared.keys()].every((key) => !key.includes('secret')));
});

function factsOf(text: string, { inside }: { readonly inside?: string } = {}): RequestFacts {
  const facts = sampleFacts({ ...sampleRequest, turns: [{ role: 'user', blocks: [{ type: 'text', text }] }] });
  const { id, request, principal } = facts.log;
  const log = new RequestLog({ id, requestId: inside, request, principal, endUserId: '', createdMs: 0 });
  facts.meter.end = { type: 'end', finish: 'stop' };
  return { ...facts, log };
}

const ON = { routers: { classifiesTraffic: true } } as Parameters<typeof createTagger>[0]['config'];
const TEXT = 'Translate this sentence into French: good morning';

/** The tags of requests with these facts whose models have been called, and have responded. */
async function tagAll(tagger: ReturnType<typeof createTagger>, all: readonly RequestFacts[]) {
  for (const { log } of all) tagger.classify?.(log);
  await nextImmediate();
  return all.map((facts) => tagger.tag?.(facts));
}

test('classifies so many requests a second, and no more', async () => {
  const clock = fakeClock();
  clock.pass(5_000);
  const tagger = createTagger({ config: ON, clock });
  const countTagged = async (count: number): Promise<number> => {
    const tags = await tagAll(
      tagger,
      Array.from({ length: count }, () => factsOf(TEXT)),
    );
    return tags.filter((tag) => tag === 'translation').length;
  };
  assert.equal(await countTagged(30), 20);
  clock.pass(999);
  assert.equal(await countTagged(1), 0);
  clock.pass(1);
  assert.equal(await countTagged(30), 20);
});

test('tags only complete responses to callers: none nested, none that failed', async () => {
  const clock = fakeClock();
  clock.pass(5_000);
  const tagger = createTagger({ config: ON, clock });
  const all = [factsOf(TEXT), factsOf(TEXT, { inside: 'gen-outer' }), { ...factsOf(TEXT), meter: new ResponseMeter() }];
  assert.deepEqual(await tagAll(tagger, all), ['translation', undefined, undefined]);
});

test('does not classify where a router has', async () => {
  const clock = fakeClock();
  clock.pass(5_000);
  const facts = factsOf(TEXT);
  facts.log.routerChoice = { router: 'auto', taskType: 'coding', comparedWith: undefined };
  assert.deepEqual(await tagAll(createTagger({ config: ON, clock }), [facts]), [undefined]);
});

test('can be turned off by the operator', () => {
  const off = { routers: { classifiesTraffic: false } } as Parameters<typeof createTagger>[0]['config'];
  assert.deepEqual(createTagger({ config: off, clock: fakeClock() }), {});
});

test('fits what is recalled of earlier answers and conversations into its share of the memory', () => {
  const sizes = [MEMORY_BYTES_MAX, SIGNATURE_BYTES_MAX, ORIGIN_BYTES_MAX, TEXT_SIGNATURE_BYTES_MAX, WRITTEN_BYTES_MAX];
  assert.equal(
    sizes.reduce((sum, bytes) => sum + bytes, 0),
    RECALL_MB_MAX * 1_048_576,
  );
});
