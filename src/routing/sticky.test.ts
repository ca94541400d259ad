import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { NO_USAGE } from '../canonical/usage.ts';
import type { SharedValues } from '../state/contract.ts';
import { createStickySessions, type SessionPin, type StickySessions } from './sticky.ts';
import { modelOf, priced, requestOf } from '../../tests/support/route-plan.ts';

const MINUTE_MS = 60_000;
const CACHED = { price: { prompt: 1_000_000, completion: 2_000_000, cacheRead: 100_000 } };
const model = modelOf('acme/one', priced('a', 1, CACHED), priced('b', 1, CACHED));
const [first, backup] = model.endpoints;
assert.ok(first !== undefined && backup !== undefined);

/** Sessions under a clock of their own. */
function createSessions(): { readonly sticky: StickySessions; readonly wait: (ms: number) => void } {
  let nowMs = 0;
  const sticky = createStickySessions({ clock: { nowMs: () => nowMs, monotonicMs: () => nowMs } });
  return { sticky, wait: (ms) => (nowMs += ms) };
}

function unnamed(sticky: StickySessions) {
  const session = sticky.sessionOf(requestOf(), 'account');
  assert.ok(session !== undefined);
  return session;
}

function named(sticky: StickySessions, sessionId: string, account = 'account') {
  const { directives } = requestOf();
  const session = sticky.sessionOf(requestOf({ directives: { ...directives, sessionId } }), account);
  assert.ok(session !== undefined);
  return session;
}

suite('a sticky session', () => {
  // @spec route-37
  test('ends ten minutes after its last success, however often it is looked at', () => {
    const { sticky, wait } = createSessions();
    const session = named(sticky, 's');
    sticky.succeeded(session, first, undefined);
    wait(9 * MINUTE_MS);
    assert.equal(sticky.find(session, model), 'a one-2026');
    sticky.succeeded(session, first, undefined);
    wait(9 * MINUTE_MS);
    assert.equal(sticky.find(session, model), 'a one-2026');
    wait(MINUTE_MS);
    assert.equal(sticky.find(session, model), undefined);
  });

  // @spec route-36
  test('is of one account and of one model', () => {
    const { sticky } = createSessions();
    sticky.succeeded(named(sticky, 's'), first, undefined);
    assert.equal(sticky.find(named(sticky, 's'), model), 'a one-2026');
    assert.equal(sticky.find(named(sticky, 's', 'another'), model), undefined);
    assert.equal(sticky.find(named(sticky, 's'), modelOf('acme/two', first, backup)), undefined);
  });

  test('leaves an endpoint that fails, but not for the failure of another', () => {
    const { sticky } = createSessions();
    const session = named(sticky, 's');
    sticky.succeeded(session, first, undefined);
    sticky.failed(session, backup);
    assert.equal(sticky.find(session, model), 'a one-2026');
    sticky.failed(session, first);
    assert.equal(sticky.find(session, model), undefined);
  });

  test('begins without a name after a response that used a cache, and continues without a cache hit', () => {
    const { sticky } = createSessions();
    const session = sticky.sessionOf(requestOf(), 'account');
    assert.ok(session !== undefined && !session.isNamed);
    sticky.succeeded(session, first, NO_USAGE);
    assert.equal(sticky.find(session, model), undefined);
    sticky.succeeded(session, first, { ...NO_USAGE, cacheWriteTokens: 9 });
    sticky.succeeded(session, first, NO_USAGE);
    assert.equal(sticky.find(session, model), 'a one-2026');
  });

  // @spec route-34, route-35
  test('is tied without a cache that saves where it has a name, and nowhere where the caller gave an order', () => {
    const { sticky } = createSessions();
    const plain = modelOf('acme/one', priced('a', 1), priced('b', 1));
    const [one, other] = plain.endpoints;
    assert.ok(one !== undefined && other !== undefined);
    const session = named(sticky, 's');
    sticky.succeeded(session, other, undefined);
    assert.equal(sticky.find(session, plain), 'b one-2026');
    sticky.failed(session, other);
    assert.equal(sticky.find(session, plain), undefined);
    const without = unnamed(sticky);
    sticky.succeeded(without, other, { ...NO_USAGE, cacheReadTokens: 9 });
    assert.equal(sticky.find(without, plain), undefined);
    const { directives } = requestOf();
    const ordered = requestOf({
      directives: { ...directives, sessionId: 's', provider: { ...directives.provider, order: ['a'] } },
    });
    assert.equal(sticky.sessionOf(ordered, 'account'), undefined);
  });

  test('stays pinned by a router without a cache, until the router ends it, apart from the session by name', () => {
    const { sticky, wait } = createSessions();
    const plain = modelOf('acme/one', priced('a', 1), priced('b', 1));
    const [, second] = plain.endpoints;
    assert.ok(second !== undefined);
    const kept: string[] = [];
    const pin: SessionPin = {
      name: 'router',
      models: ['acme/one'],
      idleMs: 5 * MINUTE_MS,
      keep: (slug) => void kept.push(slug),
    };
    const held = { ...named(sticky, 's'), pin };
    sticky.succeeded(held, second, undefined);
    assert.deepEqual(kept, ['acme/one']);
    wait(4 * MINUTE_MS);
    assert.equal(sticky.find(held, plain), 'b one-2026');
    assert.equal(sticky.find(named(sticky, 's'), plain), undefined);
    sticky.succeeded(held, second, undefined);
    wait(4 * MINUTE_MS);
    assert.equal(sticky.find(held, plain), 'b one-2026');
    wait(MINUTE_MS);
    assert.equal(sticky.find(held, plain), undefined);
    sticky.succeeded(held, second, undefined);
    sticky.failed(held, second);
    assert.equal(sticky.find(held, plain), undefined);
  });

  test('is not pinned for models that the router did not choose', () => {
    const { sticky } = createSessions();
    const pin: SessionPin = { name: 'router', models: [], idleMs: MINUTE_MS, keep: () => assert.fail('not chosen') };
    const plain = modelOf('acme/two', priced('a', 1), priced('b', 1));
    const held = { ...unnamed(sticky), pin };
    for (const endpoint of plain.endpoints) sticky.succeeded(held, endpoint, undefined);
    assert.equal(sticky.find(held, plain), undefined);
  });

  test('is forgotten after a hundred thousand others, the one without success for longest first', () => {
    const { sticky } = createSessions();
    for (let count = 0; count <= 100_000; count++) sticky.succeeded(named(sticky, `s-${count}`), first, undefined);
    assert.equal(sticky.find(named(sticky, 's-0'), model), undefined);
    assert.equal(sticky.find(named(sticky, 's-1'), model), 'a one-2026');
    assert.equal(sticky.find(named(sticky, 's-100000'), model), 'a one-2026');
  });

  // @spec route-39
  test('continues in another process, which looks it up only when it is unknown', async () => {
    const { processes, requested } = createProcesses();
    const [one, next] = processes;
    assert.equal((await next.findShared(named(next, 's'), [model]))?.get(model), undefined);
    one.succeeded(named(one, 's'), backup, undefined);
    assert.equal((await next.findShared(named(next, 's'), [model]))?.get(model), 'b one-2026');
    next.succeeded(named(next, 's'), backup, undefined);
    requested.length = 0;
    assert.equal(next.findShared(named(next, 's'), [model]), undefined);
    assert.equal(next.find(named(next, 's'), model), 'b one-2026');
    assert.deepEqual(requested, []);
  });

  test('leaves its endpoint in every process', async () => {
    const [one, next] = createProcesses().processes;
    one.succeeded(named(one, 's'), first, undefined);
    one.failed(named(one, 's'), first);
    assert.equal((await next.findShared(named(next, 's'), [model]))?.get(model), undefined);
  });

  test('is not looked up when there is nothing to save or to choose', () => {
    const [one] = createProcesses().processes;
    assert.equal(one.findShared(named(one, 's'), [modelOf('acme/one', first)]), undefined);
    assert.equal(one.findShared(unnamed(one), [modelOf('acme/two', priced('a', 1), priced('b', 1))]), undefined);
  });

  test('is reported at intervals while it continues', () => {
    const { processes, reported, wait } = createProcesses();
    const [one] = processes;
    for (let second = 0; second < 120; second++) {
      one.succeeded(named(one, 's'), first, undefined);
      wait(1_000);
    }
    assert.equal(reported.length, 2);
  });
});

/** Two processes that share what values they set. */
function createProcesses() {
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const shared = new Map<string, string>();
  const requested: string[] = [];
  const reported: string[] = [];
  const values: SharedValues = {
    get(key) {
      requested.push(key);
      return Promise.resolve(shared.get(key));
    },
    set(key, value) {
      reported.push(key);
      shared.set(key, value);
    },
  };
  const processes = [createStickySessions({ clock, values }), createStickySessions({ clock, values })] as const;
  return { processes, requested, reported, wait: (ms: number) => (nowMs += ms) };
}
