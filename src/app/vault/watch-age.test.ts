import assert from 'node:assert/strict';
import { once, EventEmitter } from 'node:events';
import { suite, test } from 'node:test';
import type { NewEvent } from '../../notifications/raise.ts';
import type { VaultSecretRow } from '../../store/vault/columns.ts';
import { createAgeWatch } from './watch-age.ts';

const DAY_MS = 86_400_000;
const NOW_MS = 1_000 * DAY_MS;

const row = (name: string, days: number, more: Partial<VaultSecretRow> = {}): VaultSecretRow => ({
  id: name,
  scopeKind: 'workspace',
  scopeId: 'w1',
  name,
  hosts: ['a.example'],
  sealed: 'sealed',
  secretId: 's',
  external: null,
  createdAtMs: 0,
  updatedAtMs: NOW_MS - days * DAY_MS,
  ...more,
});

/** What one look reports. */
async function look(rows: readonly VaultSecretRow[], maxAgeMs: number | undefined): Promise<readonly NewEvent[]> {
  const events: NewEvent[] = [];
  const looked = new EventEmitter();
  const watch = createAgeWatch({
    store: {
      all: () => {
        setImmediate(() => looked.emit('done'));
        return Promise.resolve(rows);
      },
    },
    maxAgeMs,
    clock: {
      nowMs() {
        if (maxAgeMs === undefined) looked.emit('done');
        return NOW_MS;
      },
      monotonicMs: () => 0,
    },
    raise: (event) => Promise.resolve(void events.push(event)),
    onFailed: (error) => assert.fail(String(error)),
    everyMs: 1,
  });
  const done = once(looked, 'done', { signal: AbortSignal.timeout(maxAgeMs === undefined ? 50 : 5_000) });
  watch.start();
  await done.catch(() => undefined);
  await watch.stop();
  return events;
}

suite('the age of secrets', () => {
  // @spec vault-25
  test('is reported once for each value that is too old, and not of values outside', async () => {
    const rows = [
      row('young', 89),
      row('old', 91),
      row('elsewhere', 500, { sealed: null, secretId: null, external: 'hashicorp:a#b' }),
      row('operators', 100, { scopeKind: 'operator', scopeId: 'operator' }),
    ];
    const events = await look(rows, 90 * DAY_MS);
    const found = new Map(events.map((event) => [event.subject, event]));
    assert.deepEqual([...found.keys()], ['secret:w1:old', 'secret:operator:operators']);
    const old = found.get('secret:w1:old');
    assert.equal(old?.workspaceId, 'w1');
    assert.equal(old?.facts['days'], 91);
    assert.equal(found.get('secret:operator:operators')?.workspaceId, undefined);
    const [again] = await look([row('old', 91)], 90 * DAY_MS);
    assert.equal(again?.mark, old?.mark, 'the outbox takes a mark once');
    const [next] = await look([row('old', 92)], 90 * DAY_MS);
    assert.notEqual(next?.mark, old?.mark);
  });

  test('is nothing where no age is too old', async () => {
    assert.deepEqual(await look([row('old', 5_000)], undefined), []);
  });
});
