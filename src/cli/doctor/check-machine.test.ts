import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkClock, checkDataDir, checkSecret } from './check-machine.ts';

test('accepts a writable folder, and leaves it as it was', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'doctor-'));
  assert.equal((await checkDataDir(join(folder, 'data'))).verdict, 'ok');
  assert.deepEqual(await readdir(join(folder, 'data')), []);
  await rm(folder, { recursive: true });
});

test('names a folder that is not writable with the reason', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'doctor-'));
  await writeFile(join(folder, 'file'), '');
  const finding = await checkDataDir(join(folder, 'file'));
  assert.equal(finding.verdict, 'failed');
  assert.match(finding.message, /file cannot be written to \((?:EEXIST|ENOTDIR)\)\.$/);
  await rm(folder, { recursive: true });
});

test('never shows a secret, and warns of a short one', () => {
  assert.equal(checkSecret(undefined).verdict, 'ok');
  assert.equal(checkSecret('0123456789abcdef').verdict, 'ok');
  const short = checkSecret('hunter2');
  assert.equal(short.verdict, 'warning');
  assert.ok(!short.message.includes('hunter2'));
});

const found = (clockAheadMs?: number) => ({
  verdict: 'ok' as const,
  message: '',
  ...(clockAheadMs !== undefined && { clockAheadMs }),
});

test('accepts a clock that agrees with most providers', () => {
  assert.equal(checkClock([]).verdict, 'ok');
  assert.equal(checkClock([found()]).verdict, 'ok');
  assert.equal(checkClock([found(500), found(-700), found(9_000_000)]).verdict, 'ok');
});

test('says how much and which way a clock is off', () => {
  assert.match(checkClock([found(600_000)]).message, /600 seconds ahead of the providers/);
  assert.match(checkClock([found(-240_000), found(-250_000), found()]).message, /240 seconds behind the providers/);
  assert.equal(checkClock([found(600_000)]).verdict, 'failed');
});
