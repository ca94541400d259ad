import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { sampleFacts, settledRecord } from '../../../tests/support/settled-record.ts';
import { createLiveHub, type LiveBus, type LiveEvent, type LiveHub } from './live-hub.ts';

/** Processes that hear each other, as a shared state connects them. */
function connect(onMessage: (message: string) => void): () => LiveBus {
  const members: Map<string, (message: string) => void>[] = [];
  return () => {
    const own = new Map<string, (message: string) => void>();
    members.push(own);
    return {
      subscribe: (topic, listener) => void own.set(topic, listener),
      announce(topic, message) {
        onMessage(message);
        for (const other of members) if (other !== own) other.get(topic)?.(message);
      },
    };
  };
}

interface Setup {
  readonly hubs: readonly LiveHub[];
  readonly made: () => number;
  /** Characters of the longest message, as Redis' bus sends it. */
  readonly longest: () => number;
}

function setUp(t: TestContext, processes = 1, title = ''): Setup {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let nowMs = 0;
  let longest = 0;
  const bus = connect((message) => (longest = Math.max(longest, JSON.stringify(message).length)));
  let made = 0;
  const tick = t.mock.timers.tick.bind(t.mock.timers);
  t.mock.timers.tick = (ms) => {
    nowMs += ms;
    tick(ms);
  };
  const hubs = Array.from({ length: processes }, () =>
    createLiveHub({
      clock: { monotonicMs: () => nowMs },
      bus: bus(),
      toRow: ({ id }) => {
        made++;
        return { id, api_key_hash: 'k', title };
      },
    }),
  );
  return { hubs, made: () => made, longest: () => longest };
}

function collect(
  hub: LiveHub | undefined,
  owner?: string,
): { readonly events: LiveEvent[]; readonly end: (() => void) | undefined } {
  const events: LiveEvent[] = [];
  return { events, end: hub?.subscribe((event) => events.push(event), owner) };
}

const rowsIn = (events: readonly LiveEvent[]) => events.flatMap((event) => (event.kind === 'rows' ? event.rows : []));
const requestsIn = (events: readonly LiveEvent[]) =>
  events.reduce((sum, event) => sum + (event.kind === 'counts' ? event.counts.requests : 0), 0);

suite('the hub of live views', () => {
  test('makes no row while nothing views, before the first view and after the last', (t) => {
    const { hubs, made } = setUp(t);
    const [hub] = hubs;
    hub?.offer(settledRecord(sampleFacts()));
    const { end } = collect(hub);
    hub?.offer(settledRecord(sampleFacts()));
    end?.();
    for (let second = 0; second < 6; second++) t.mock.timers.tick(1_000);
    hub?.offer(settledRecord(sampleFacts()));
    assert.equal(made(), 1);
    assert.equal(hub?.isWatched, false);
  });

  test('leaves rows out beyond a thousand a second, and says so, with counts that are exact', (t) => {
    const { hubs } = setUp(t);
    const { events } = collect(hubs[0]);
    for (let each = 0; each < 5_000; each++) hubs[0]?.offer(settledRecord(sampleFacts()));
    t.mock.timers.tick(1_000);
    const [first] = events;
    assert.ok(first?.kind === 'rows' && first.isSampled);
    assert.deepEqual([rowsIn(events).length, requestsIn(events)], [250, 5_000]);
  });

  test('tells other processes while one of them has a view, and stops soon after', (t) => {
    const { hubs, made } = setUp(t, 2);
    const [viewed, other] = hubs;
    const { events, end } = collect(viewed);
    other?.offer(settledRecord(sampleFacts()));
    t.mock.timers.tick(250);
    assert.equal(rowsIn(events).length, 1);
    t.mock.timers.tick(1_000);
    assert.equal(requestsIn(events), 1);
    for (let second = 0; second < 40; second++) t.mock.timers.tick(1_000);
    other?.offer(settledRecord(sampleFacts()));
    assert.equal(made(), 2);
    end?.();
    for (let second = 0; second < 40; second++) t.mock.timers.tick(1_000);
    other?.offer(settledRecord(sampleFacts()));
    assert.equal(made(), 2);
  });

  test('keeps 2,000 rows for views that come back, and knows which are gone', (t) => {
    const { hubs } = setUp(t);
    const [hub] = hubs;
    collect(hub);
    for (let frame = 0; frame < 10; frame++) {
      for (let each = 0; each < 250; each++) hub?.offer(settledRecord(sampleFacts()));
      t.mock.timers.tick(250);
    }
    assert.equal(hub?.last, 2_500);
    assert.equal(hub.rowsAfter(500)?.length, 2_000);
    assert.equal(hub.rowsAfter(499), undefined);
    assert.deepEqual(hub.rowsAfter(2_500), []);
    assert.equal(hub.rowsAfter(2_501), undefined);
  });

  test('keeps rows for a view that is away for a moment, and tells one that comes back too late of a gap', (t) => {
    const { hubs } = setUp(t, 2);
    const [hub, other] = hubs;
    const first = collect(hub);
    hub?.offer(settledRecord(sampleFacts()));
    t.mock.timers.tick(1_000);
    const seen = hub?.last ?? 0;
    first.end?.();
    hub?.offer(settledRecord(sampleFacts()));
    other?.offer(settledRecord(sampleFacts()));
    t.mock.timers.tick(1_000);
    const second = collect(hub);
    assert.equal(hub?.rowsAfter(seen)?.length, 2);
    second.end?.();
    for (let passed = 0; passed < 6; passed++) t.mock.timers.tick(1_000);
    collect(hub);
    assert.equal(hub.rowsAfter(seen + 2), undefined);
    assert.deepEqual(hub.rowsAfter(hub.last), []);
  });

  test('sends no message that a bus with 65,536 characters drops, and keeps all rows and counts', (t) => {
    const wide = 'q"\\'.repeat(120);
    const { hubs, longest } = setUp(t, 2, wide);
    const [viewed, other] = hubs;
    const { events } = collect(viewed);
    for (let each = 0; each < 250; each++) other?.offer(settledRecord(sampleFacts()));
    for (let frame = 0; frame < 8; frame++) t.mock.timers.tick(250);
    assert.deepEqual([rowsIn(events).length, requestsIn(events)], [250, 250]);
    assert.ok(longest() > 20_000 && longest() <= 65_000, `${longest()} characters`);
  });

  test('leaves room for others where one owner opens many views', (t) => {
    const { hubs } = setUp(t);
    const opened = Array.from({ length: 6 }, () => collect(hubs[0], 'a').end);
    assert.equal(opened.filter((end) => end !== undefined).length, 4);
    assert.ok(collect(hubs[0], 'b').end !== undefined);
    opened[0]?.();
    assert.ok(collect(hubs[0], 'a').end !== undefined);
  });

  test('takes twenty views, and passes over messages that it does not understand', (t) => {
    const { hubs } = setUp(t);
    for (let each = 0; each < 20; each++) assert.ok(collect(hubs[0]).end !== undefined);
    assert.equal(collect(hubs[0]).end, undefined);
  });
});
