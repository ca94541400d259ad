import assert from 'node:assert/strict';
import { test } from 'node:test';
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

function factsOf(
  text: string,
  { inside, cacheSourceId }: { readonly inside?: string; readonly cacheSourceId?: string } = {},
): RequestFacts {
  const facts = sampleFacts({ ...sampleRequest, turns: [{ role: 'user', blocks: [{ type: 'text', text }] }] });
  const { id, request, principal } = facts.log;
  const log = new RequestLog({ id, requestId: inside, request, principal, endUserId: '', createdMs: 0 });
  log.cacheSourceId = cacheSourceId;
  facts.meter.end = { type: 'end', finish: 'stop' };
  return { ...facts, log };
}

const ON = { routers: { classifiesTraffic: true } } as Parameters<typeof createTagger>[0]['config'];
const TEXT = 'Translate this sentence into French: good morning';

test('samples so many responses a second, and no more', () => {
  const clock = fakeClock();
  clock.pass(5_000);
  const tag = createTagger({ config: ON, clock });
  const tagged = (count: number): number =>
    Array.from({ length: count }, () => tag?.(factsOf(TEXT))).filter((found) => found === 'translation').length;
  assert.equal(tagged(30), 20);
  clock.pass(999);
  assert.equal(tagged(1), 0);
  clock.pass(1);
  assert.equal(tagged(30), 20);
});

test('classifies only complete responses to callers: none nested, cached or failed', () => {
  const clock = fakeClock();
  clock.pass(5_000);
  const tag = createTagger({ config: ON, clock });
  assert.equal(tag?.(factsOf(TEXT)), 'translation');
  assert.equal(tag?.(factsOf(TEXT, { inside: 'gen-outer' })), undefined);
  assert.equal(tag?.(factsOf(TEXT, { cacheSourceId: 'gen-0' })), undefined);
  assert.equal(tag?.({ ...factsOf(TEXT), meter: new ResponseMeter() }), undefined);
});

test('can be turned off by the operator', () => {
  const off = { routers: { classifiesTraffic: false } } as Parameters<typeof createTagger>[0]['config'];
  assert.equal(createTagger({ config: off, clock: fakeClock() }), undefined);
});

test('fits what is recalled of earlier answers and conversations into its share of the memory', () => {
  const sizes = [MEMORY_BYTES_MAX, SIGNATURE_BYTES_MAX, ORIGIN_BYTES_MAX, TEXT_SIGNATURE_BYTES_MAX, WRITTEN_BYTES_MAX];
  assert.equal(
    sizes.reduce((sum, bytes) => sum + bytes, 0),
    RECALL_MB_MAX * 1_048_576,
  );
});
