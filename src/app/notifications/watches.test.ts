import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Model } from '../../catalog/model.ts';
import type { NewEvent } from '../../notifications/raise.ts';
import type { EndpointReport } from '../../routing/health.ts';
import { silentTokens } from '../console/scim-notices.ts';
import { createHealthWatch } from './watch-health.ts';
import { createMachineWatch } from './watch-machine.ts';
import { createModelWatch } from './watch-models.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Marks count as in the outbox: what has one is raised once, until it is cleared. */
function setUp() {
  const marks = new Set<string>();
  const raised: NewEvent[] = [];
  return {
    types: () => raised.splice(0).map(({ type }) => type),
    raised,
    deps: {
      raise: (event: NewEvent) => {
        if (event.mark === undefined || !marks.has(event.mark)) raised.push(event);
        if (event.mark !== undefined) marks.add(event.mark);
        return Promise.resolve();
      },
      clear: (gone: readonly string[]) => Promise.resolve(gone.filter((mark) => marks.delete(mark)).length),
    },
  };
}

suite('endpoints', () => {
  const report = (more: Partial<EndpointReport>): EndpointReport => ({
    endpoint: 'alpha one',
    rank: 0,
    open: false,
    streak: 0,
    ...more,
  });

  // @spec notification-9
  test('are reported after five minutes without an answer, once, and when they are back', async () => {
    const { deps, types, raised } = setUp();
    let [nowMs, reports] = [0, [report({ open: true, rank: 2 })]];
    const look = createHealthWatch({ list: () => reports }, deps, () => nowMs);
    await look();
    nowMs = 4 * MINUTE_MS;
    await look();
    assert.deepEqual(types(), []);
    nowMs = 6 * MINUTE_MS;
    await look();
    await look();
    assert.deepEqual([raised[0]?.severity, raised[0]?.facts['provider']], ['critical', 'alpha']);
    assert.deepEqual(types(), ['provider.down']);
    reports = [report({})];
    await look();
    await look();
    assert.deepEqual(types(), ['provider.recovered']);
    reports = [report({ open: true, rank: 2 })];
    await look();
    reports = [report({})];
    await look();
    assert.deepEqual(types(), [], 'a short outage needs no person');
  });

  // @spec notification-9
  test('are reported as back by one of the processes that saw them down', async () => {
    const { deps, types } = setUp();
    let [nowMs, reports] = [0, [report({ open: true })]];
    const looks = [0, 1].map(() => createHealthWatch({ list: () => reports }, deps, () => nowMs));
    const lookAll = () => Promise.all(looks.map((look) => look()));
    await lookAll();
    nowMs = 6 * MINUTE_MS;
    await lookAll();
    assert.deepEqual(types(), ['provider.down']);
    reports = [report({})];
    await lookAll();
    assert.deepEqual(types(), ['provider.recovered']);
  });

  // @spec notification-9
  test('are reported as back, and as down anew, by a process that was started during the outage', async () => {
    for (const seesItOpen of [true, false]) {
      const { deps, types } = setUp();
      let [nowMs, reports] = [0, [report({ open: true })]];
      const earlier = createHealthWatch({ list: () => reports }, deps, () => nowMs);
      await earlier();
      nowMs = 6 * MINUTE_MS;
      await earlier();
      assert.deepEqual(types(), ['provider.down']);
      const look = createHealthWatch({ list: () => reports }, deps, () => nowMs);
      if (seesItOpen) await look();
      reports = [report({ streak: 1 })];
      if (!seesItOpen) await look();
      assert.deepEqual(types(), [], 'a failure is no sign that it is back');
      reports = [report({})];
      await look();
      await look();
      assert.deepEqual(types(), ['provider.recovered']);
      reports = [report({ open: true })];
      await look();
      nowMs = 12 * MINUTE_MS;
      await look();
      assert.deepEqual(types(), ['provider.down']);
    }
  });

  // @spec notification-9
  test('are reported once a day where they refuse the credential lately', async () => {
    const { deps, types } = setUp();
    const failure = { kind: 'status', status: 502, upstreamStatus: 401, agoMs: 1_000 } as const;
    let reports = [report({ lastFailure: failure })];
    const look = createHealthWatch({ list: () => reports }, deps, () => 0);
    await look();
    await look();
    assert.deepEqual(types(), ['credential.rejected']);
    reports = [
      report({ endpoint: 'beta one', lastFailure: { ...failure, agoMs: 300_000 } }),
      report({ endpoint: 'gamma one', lastFailure: { ...failure, upstreamStatus: 500 } }),
    ];
    await look();
    assert.deepEqual(types(), []);
  });
});

suite('the machine', () => {
  function machine() {
    const given = setUp();
    const now = { ms: 0, isAway: false, free: 0.5, differences: 0 };
    const look = createMachineWatch({
      ...given.deps,
      nowMs: () => now.ms,
      ping: () => (now.isAway ? Promise.reject(new Error('away')) : Promise.resolve()),
      freePart: () => Promise.resolve(now.free),
      countDifferences: () => Promise.resolve(now.differences),
      containerProblem: undefined,
    });
    return { ...given, now, look };
  }

  // @spec notification-10
  test('reports a database that was away for long, once it answers again', async () => {
    const { look, now, types } = machine();
    for (const [ms, isAway] of [
      [0, true],
      [10_000, false],
      [20_000, true],
      [60_000, true],
    ] as const) {
      Object.assign(now, { ms, isAway });
      await look();
    }
    assert.deepEqual(types(), []);
    Object.assign(now, { ms: 70_000, isAway: false });
    await look();
    await look();
    assert.deepEqual(types(), ['database.away']);
  });

  // @spec notification-10
  test('reports a full disk once, and again after there was room', async () => {
    const { look, now, types } = machine();
    for (const free of [0.09, 0.05, 0.11, 0.09]) {
      now.free = free;
      await look();
    }
    assert.deepEqual(types(), ['disk.low']);
    for (const free of [0.13, 0.09]) {
      now.free = free;
      await look();
    }
    assert.deepEqual(types(), ['disk.low']);
  });

  // @spec notification-10
  test('reports books that do not agree, and looks once a day', async () => {
    const { look, now, types } = machine();
    await look();
    now.differences = 2;
    await look();
    assert.deepEqual(types(), []);
    now.ms = DAY_MS;
    await look();
    assert.deepEqual(types(), ['ledger.mismatch']);
  });
});

suite('models', () => {
  const model = (slug: string, more: object = {}): Model => ({ slug, name: slug, endpoints: [], ...more });
  const priced = (prompt: number) => ({ endpoints: [{ provider: 'a', upstreamModel: 'm', price: { prompt } }] });

  // @spec notification-11
  test('are reported when they end, are gone or cost something else, where they were used lately', async () => {
    const { deps, types, raised } = setUp();
    let list = [
      model('a/ends', { expirationDate: '2026-12-01' }),
      model('a/unused', { expirationDate: '2026-12-01' }),
      model('a/leaves'),
      model('a/unused-too'),
      model('a/priced', priced(1)),
    ];
    const used = new Set(['a/ends', 'a/leaves', 'a/priced']);
    const nowMs = Date.parse('2026-11-28T00:00:00Z');
    const look = createModelWatch(
      { list: () => list },
      (sinceMs) => {
        assert.equal(sinceMs, nowMs - 30 * DAY_MS);
        return Promise.resolve(used);
      },
      deps,
      () => nowMs,
    );
    await look();
    assert.match(raised[0]?.text ?? '', /in 3 days/);
    assert.deepEqual(types(), ['model.deprecated']);
    list = [model('a/ends', { expirationDate: '2026-12-01' }), model('a/priced', priced(2))];
    await look();
    await look();
    assert.deepEqual(types(), ['model.gone', 'price.changed']);
  });
});

// @spec scim-14
test('reports a token of an identity provider that sent nothing for a week', () => {
  const token = { id: 't', name: 'Entra', tokenHash: '', label: '', expiresAtMs: null, lastUsedFrom: null };
  const nowMs = 8 * DAY_MS;
  const found = silentTokens(
    [
      { ...token, createdAtMs: 0, lastUsedAtMs: 2 * DAY_MS },
      { ...token, createdAtMs: 2 * DAY_MS, lastUsedAtMs: null },
      { ...token, id: 'silent', createdAtMs: 0, lastUsedAtMs: DAY_MS },
    ],
    nowMs,
  );
  assert.deepEqual(
    found.map(({ type, subject }) => [type, subject]),
    [['scim.silent', 'scim-token:silent']],
  );
});
