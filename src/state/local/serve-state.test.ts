import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Allowance, PermitRequest, SharedState } from '../contract.ts';
import { ReservationsBusy } from '../contract.ts';
import { openLocalState } from '../../../tests/support/services/local-state.ts';

const SUBJECT = 'key:a:ever:0';
const nothingSpent = (): Promise<number> => Promise.resolve(0);

function allow(wantNanoUsd: number): Allowance {
  return { subject: SUBJECT, limitNanoUsd: 100, wantNanoUsd, minNanoUsd: wantNanoUsd };
}

function reserve(state: SharedState | undefined, id: string, wantNanoUsd: number, loadSpent = nothingSpent) {
  assert.ok(state !== undefined);
  return state.reservations.reserve({ id, expiresInMs: 60_000, allowances: [allow(wantNanoUsd)] }, loadSpent);
}

function onePlace(id: string): PermitRequest {
  return { slots: { id, expiresInMs: 60_000, subjects: [{ subject: 'key:a', limit: 1 }] }, rates: [] };
}

test('counts what the first process and its workers reserve together', async (t) => {
  const { server, workers } = await openLocalState(t, 2);
  assert.equal((await reserve(server.state, '1', 40)).ok, true);
  assert.equal((await reserve(workers[0], '2', 40)).ok, true);
  const refused = await reserve(workers[1], '3', 40);
  assert.deepEqual(refused, { ok: false, subject: SUBJECT, leftNanoUsd: 20, reservedByOthersNanoUsd: 80 });
});

test('takes the permit with the reservation, in one call', async (t) => {
  const { workers } = await openLocalState(t, 2);
  const asked = (id: string) => ({ id, expiresInMs: 60_000, allowances: [allow(10)], permit: onePlace(id) });
  const first = await workers[0]?.reservations.reserve(asked('1'), nothingSpent);
  assert.ok(first?.ok === true && first.permitted?.ok === true);
  const second = await workers[1]?.reservations.reserve(asked('2'), nothingSpent);
  assert.ok(second?.ok === true);
  assert.deepEqual(second.permitted, { ok: false, by: 'slots', subject: 'key:a' });
  await first.permitted.permit.end();
  assert.equal((await workers[1]?.rateLimitState.acquire(onePlace('2')))?.ok, true);
});

test('rejects with what the reading of a sum throws, and tells the others to try again', async (t) => {
  const { workers } = await openLocalState(t, 2);
  const fault = new Error('There is no sum.');
  const failing = (): Promise<number> => Promise.reject(fault);
  await assert.rejects(reserve(workers[0], '1', 1, failing), (error) => error === fault);
  const slow = Promise.withResolvers<number>();
  const first = reserve(workers[0], '2', 1, () => slow.promise);
  await wait(20);
  const second = reserve(workers[1], '3', 1);
  await wait(20);
  slow.reject(fault);
  await assert.rejects(first, (error) => error === fault);
  await assert.rejects(second, ReservationsBusy);
});

test('frees what a worker held once it is gone and its records are durable', async (t) => {
  const durable = Promise.withResolvers<void>();
  const { workers, cut } = await openLocalState(t, 2, { adopted: () => durable.promise });
  assert.equal((await reserve(workers[0], '1', 100)).ok, true);
  assert.equal((await workers[0]?.rateLimitState.acquire(onePlace('1')))?.ok, true);
  await cut(0);
  assert.equal((await reserve(workers[1], '2', 30)).ok, false, 'its last charge may not be durable');
  durable.resolve();
  await wait(20);
  assert.equal((await workers[1]?.rateLimitState.acquire(onePlace('2')))?.ok, true);
  // The worker's last charge of 80 came into the database and was not settled.
  const afterCharge = (): Promise<number> => Promise.resolve(80);
  assert.equal((await reserve(workers[1], '2', 30, afterCharge)).ok, false);
  assert.equal((await reserve(workers[1], '3', 20, afterCharge)).ok, true);
});

test('reports a change as delivered once every worker heard it, and passes on what a worker announces', async (t) => {
  const { server, workers } = await openLocalState(t, 3);
  const heard: string[] = [];
  for (const [at, { invalidations }] of [server.state, ...workers].entries())
    invalidations.subscribe('key', (message) => heard.push(`${at} ${message}`));
  server.state.invalidations.announce('key', 'a');
  await server.delivered();
  assert.deepEqual(heard.toSorted(), ['1 a', '2 a', '3 a']);
  heard.length = 0;
  workers[1]?.invalidations.announce('key', 'b');
  await wait(50);
  assert.deepEqual(heard.toSorted(), ['0 b', '1 b', '3 b']);
});

test('waits for no worker that is gone', async (t) => {
  const { server, cut } = await openLocalState(t, 2);
  server.state.invalidations.announce('key', 'a');
  await cut(1);
  await server.delivered();
});

test('shares values among workers, and forgets them in time', async (t) => {
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const { server, workers } = await openLocalState(t, 2, { clock });
  workers[0]?.values?.set('name', 'value', 60_000);
  while ((await server.state.values?.get('name')) === undefined) await wait(5);
  assert.equal(await workers[1]?.values?.get('name'), 'value');
  nowMs = 60_001;
  assert.equal(await workers[1]?.values?.get('name'), undefined);
});
