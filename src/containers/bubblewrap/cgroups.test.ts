import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { openControlGroups } from './cgroups.ts';

const LIMITS = { memoryBytes: 67_108_864, cpus: 0.5, processes: 32, diskBytes: 1, commandMs: 1, outputBytes: 1 };

/** A folder that looks like a control group of version 2. */
async function makeGroup(t: TestContext, controllers: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cgroup-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'cgroup.controllers'), controllers);
  return folder;
}

suite('control groups of commands', () => {
  // @spec container-7
  test('have the limits of the command, and no swap', async (t) => {
    const parent = await makeGroup(t, 'cpuset cpu io memory pids\n');
    const groups = await openControlGroups(parent);
    assert.equal(groups.version, 'v2');
    assert.equal(await readFile(join(parent, 'cgroup.subtree_control'), 'utf8'), '+memory +pids +cpu');
    const { joins } = await groups.create('1', LIMITS);
    const own = join(parent, `mgw-${process.pid}-1`);
    assert.deepEqual(joins, [join(own, 'cgroup.procs')]);
    const read = (name: string): Promise<string> => readFile(join(own, name), 'utf8');
    const names = ['memory.max', 'memory.swap.max', 'pids.max', 'cpu.max'];
    assert.deepEqual(await Promise.all(names.map(read)), ['67108864', '0', '32', '50000 100000']);
  });

  test('of gateways that are gone are removed, and no others', async (t) => {
    const parent = await makeGroup(t, 'cpu memory pids');
    for (const name of ['mgw-1-1', 'mgw-2-1', 'other']) await mkdir(join(parent, name));
    await (await openControlGroups(parent)).clear((pid) => pid === 2);
    const left = (await readdir(parent)).filter((name) => !name.startsWith('cgroup'));
    assert.deepEqual(left.toSorted(), ['mgw-2-1', 'other']);
  });

  // @spec container-2
  test('are refused with the cure where a limit would be missing', async (t) => {
    const without = await makeGroup(t, 'cpu memory');
    await assert.rejects(openControlGroups(without), { name: 'ContainerError', message: /memory, pids, cpu/ });
    await assert.rejects(openControlGroups('/nothing/here'), { name: 'ContainerError', message: /containers\.cgroup/ });
  });
});
