import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { claimSqlite } from './claim.ts';

let path = '';
before(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'claim-')), 'gateway.db');
});
after(() => rm(join(path, '..'), { recursive: true }));

test('shows the second of two gateways on one database that it is not alone, until the first one ends', () => {
  const first = claimSqlite(path);
  assert.equal(first.isAlone, true);
  assert.equal(claimSqlite(path).isAlone, false);
  first.release();
  const next = claimSqlite(path);
  assert.equal(next.isAlone, true);
  next.release();
});

test('ignores the claim of a killed process', async (t) => {
  const claim = new URL('claim.ts', import.meta.url).href;
  const script = `const { claimSqlite } = await import(${JSON.stringify(claim)});
    const claim = (globalThis.claim = claimSqlite(process.argv[1])); // a claim that is collected is released
    console.log(claim.isAlone); setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script, path]);
  t.after(() => child.kill('SIGKILL'));
  const [reported] = await once(child.stdout.setEncoding('utf8'), 'data');
  assert.equal(reported, 'true\n');
  assert.equal(claimSqlite(path).isAlone, false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const next = claimSqlite(path);
  assert.equal(next.isAlone, true);
  next.release();
});
