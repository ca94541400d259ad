import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_PREFERENCES } from '../canonical/directives.ts';
import { GenerationRecord } from '../telemetry/record.ts';
import { createRouterMemory, createTagger } from './routers.ts';

function fakeClock() {
  let ms = 0;
  return {
    nowMs: () => ms,
    monotonicMs: () => ms,
    pass: (by: number): void => void (ms += by),
  };
}

test('what is remembered is forgotten after its time', async () => {
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

function recordOf(
  text: string,
  changes: Partial<Pick<GenerationRecord, 'end' | 'cacheSourceId'>> & { inside?: string } = {},
) {
  const record = new GenerationRecord({
    id: 'gen-1',
    requestId: changes.inside,
    request: {
      format: 'chat',
      delivery: 'whole',
      turns: [{ role: 'user', blocks: [{ type: 'text', text }] }],
      tools: [],
      settings: {},
      directives: {
        models: [],
        provider: DEFAULT_PREFERENCES,
        plugins: [],
        echoUpstreamBody: false,
        serviceMetadata: false,
        betas: [],
      },
      warnings: [],
    },
    asker: { keyHash: '', accountId: '', workspaceId: '', memberId: null },
    endUserId: '',
    requested: '',
    arrivedMs: 0,
    clock: fakeClock(),
  });
  record.end = { type: 'end', finish: 'stop' };
  return Object.assign(record, changes);
}

const ON = { routers: { classifiesTraffic: true } } as Parameters<typeof createTagger>[0]['config'];
const TEXT = 'Translate this sentence into French: good morning';

test('so many answers a second are looked at, and no more', () => {
  const clock = fakeClock();
  clock.pass(5_000);
  const tag = createTagger({ config: ON, clock });
  const tagged = (count: number): number =>
    Array.from({ length: count }, () => tag?.(recordOf(TEXT))).filter((found) => found === 'translation').length;
  assert.equal(tagged(30), 20);
  clock.pass(999);
  assert.equal(tagged(1), 0);
  clock.pass(1);
  assert.equal(tagged(30), 20);
});

test('only whole answers to callers are looked at: none of inside, none that is repeated, none that failed', () => {
  const clock = fakeClock();
  clock.pass(5_000);
  const tag = createTagger({ config: ON, clock });
  assert.equal(tag?.(recordOf(TEXT)), 'translation');
  assert.equal(tag?.(recordOf(TEXT, { inside: 'gen-outer' })), undefined);
  assert.equal(tag?.(recordOf(TEXT, { cacheSourceId: 'gen-0' })), undefined);
  assert.equal(tag?.(recordOf(TEXT, { end: undefined })), undefined);
});

test('an operator may turn it off', () => {
  const off = { routers: { classifiesTraffic: false } } as Parameters<typeof createTagger>[0]['config'];
  assert.equal(createTagger({ config: off, clock: fakeClock() }), undefined);
});
