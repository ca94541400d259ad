import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScimRequestRow } from '../store/scim/columns.ts';
import { createScimRequestLog } from './request-log.ts';

// @spec scim-12
test('keeps what could not be written for the next time, and of too much the newest', async () => {
  const written: ScimRequestRow[] = [];
  let isAway = true;
  const log = createScimRequestLog({
    insert(rows) {
      if (isAway) return Promise.reject(new Error('away'));
      written.push(...rows);
      return Promise.resolve();
    },
    page: () => Promise.reject(new Error('not read here')),
    clearAway: () => Promise.resolve(),
  });
  const note = (atMs: number): void =>
    log.note({ atMs, tokenId: null, address: '127.0.0.1', method: 'GET', path: '/Users', status: 200, outcome: '' });
  note(1);
  await assert.rejects(log.flush(), /away/);
  note(2);
  await assert.rejects(log.flush(), /away/);
  for (let atMs = 3; atMs <= 1_001; atMs++) note(atMs);
  await assert.rejects(log.flush(), /away/);
  isAway = false;
  await log.flush();
  assert.equal(written.length, 1_000);
  assert.deepEqual([written[0]?.atMs, written.at(-1)?.atMs], [2, 1_001]);
});
