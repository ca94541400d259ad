import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countWorkers, parseQuota, workersFor } from './count-workers.ts';

const GB = 1_073_741_824;
const LARGE = { cores: 8, memoryBytes: 64 * GB, sharesPorts: true };

test('takes a given number as it is', () => {
  assert.equal(countWorkers(3, GB), 3);
});

test('counts cores, the quota rounded up, and 400 MB for each worker', () => {
  assert.equal(workersFor(LARGE), 8);
  assert.equal(workersFor({ ...LARGE, quota: 1.5 }), 2);
  assert.equal(workersFor({ ...LARGE, quota: 0.25 }), 1);
  assert.equal(workersFor({ ...LARGE, quota: 12 }), 8);
  assert.equal(workersFor({ ...LARGE, memoryBytes: 2 * GB }), 5);
  assert.equal(workersFor({ ...LARGE, memoryBytes: 256 * 1_048_576 }), 1, 'at least one');
  assert.equal(workersFor({ ...LARGE, sharesPorts: false }), 1);
});

test('finds the quota of both versions of cgroups', () => {
  const files = (texts: Readonly<Record<string, string>>) => (path: string) => texts[path] ?? '';
  assert.equal(parseQuota(files({ '/sys/fs/cgroup/cpu.max': '150000 100000\n' })), 1.5);
  assert.equal(parseQuota(files({ '/sys/fs/cgroup/cpu.max': 'max 100000\n' })), undefined);
  const old = (quota: string) =>
    files({ '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': quota, '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n' });
  assert.equal(parseQuota(old('400000\n')), 4);
  assert.equal(parseQuota(old('-1\n')), undefined);
  assert.equal(parseQuota(files({})), undefined);
});
