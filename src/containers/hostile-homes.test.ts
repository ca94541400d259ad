import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { createContainers } from './containers.ts';
import { folderOf, placesIn } from './manifest.ts';
import { measureHome } from './measure-home.ts';
import { removeTree } from './remove-tree.ts';

const SOMEONE = 65_534;
const MIB = 1_048_576;

/** A home of a user without the rights of root; until the end of the test this process acts as that user. */
async function setUp(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'hostile-home-'));
  if (process.geteuid?.() === 0) {
    await chown(root, SOMEONE, SOMEONE);
    process.seteuid?.(SOMEONE);
    t.after(() => process.seteuid?.(0));
  }
  t.after(() => removeTree(root).catch(() => undefined));
  return root;
}

/** A path that is longer than the kernel takes: its lower half is made apart and then moved. */
async function makeDeep(root: string): Promise<void> {
  const half = (at: string) => join(root, at, ...Array.from({ length: 15 }, () => 'd'.repeat(200)));
  await mkdir(half('a'), { recursive: true });
  await mkdir(half('b'), { recursive: true });
  await writeFile(join(half('b'), 'file'), Buffer.alloc(MIB, 1));
  await rename(join(root, 'b'), join(half('a'), 'b'));
}

suite('homes that commands make hard to read', { skip: process.platform !== 'linux' }, () => {
  // @spec container-11, container-6
  test('are removed, with folders without rights and with paths that are too long', async (t) => {
    const root = await setUp(t);
    const outside = await mkdtemp(join(tmpdir(), 'hostile-outside-'));
    t.after(() => removeTree(outside));
    await writeFile(join(outside, 'kept'), '');
    await makeDeep(root);
    await mkdir(join(root, 'closed', 'inner'), { recursive: true });
    await writeFile(join(root, 'closed', 'inner', 'file'), '');
    await symlink(outside, join(root, 'closed', 'link'));
    await chmod(join(root, 'closed', 'inner'), 0);
    await chmod(join(root, 'closed'), 0o400);
    await removeTree(join(root, 'closed'));
    await removeTree(join(root, 'a'));
    assert.ok(!existsSync(join(root, 'closed')));
    assert.ok(!existsSync(join(root, 'a')));
    assert.ok(existsSync(join(outside, 'kept')), 'no link is followed');
  });

  // @spec container-7
  test('count with what lies in folders without rights, and as too large where a path is too long', async (t) => {
    const root = await setUp(t);
    for (const [name, rights] of [
      ['none', 0],
      ['list', 0o400],
      ['enter', 0o100],
    ] as const) {
      const home = join(root, name);
      await mkdir(join(home, 'closed'), { recursive: true });
      await writeFile(join(home, 'closed', 'file'), Buffer.alloc(MIB, 1));
      await chmod(join(home, 'closed'), rights);
      assert.ok((await measureHome(home)) >= MIB, name);
    }
    const home = join(root, 'deep');
    await mkdir(home);
    await makeDeep(home);
    assert.equal(await measureHome(home), Infinity);
  });

  // @spec container-6
  test('let the others expire when one cannot be removed', { skip: process.geteuid?.() !== 0 }, async (t) => {
    const directory = await setUp(t);
    const clock = { nowMs: () => Date.now(), monotonicMs: () => 0 };
    const failed: unknown[] = [];
    const limits = { memoryBytes: 1, cpus: 1, processes: 1, diskBytes: 1, commandMs: 1, outputBytes: 1 };
    const containers = createContainers(
      { run: () => Promise.reject(new Error('no command runs here')) },
      { directory, limits, callMs: 1, expiresMs: 1_000 },
      clock,
      (error) => failed.push(error),
    );
    const owner = { accountId: 'a', workspaceId: 'w', keyHash: 'k' };
    const [stuck, other] = [folderOf(owner, 'stuck'), folderOf(owner, 'other')];
    await containers.kept.create(owner, { id: 'stuck' });
    await containers.kept.create(owner, { id: 'other' });
    const { home } = placesIn(directory, stuck);
    await writeFile(join(home, 'file'), '');
    process.seteuid?.(0);
    await chown(home, 0, 0);
    process.seteuid?.(SOMEONE);
    for (const [folder, ageMs] of [
      [stuck, 5_000],
      [other, 9_000],
    ] as const) {
      const then = new Date(Date.now() - ageMs);
      await utimes(join(directory, folder), then, then);
    }
    await containers.reap();
    assert.ok(!existsSync(join(directory, other)));
    assert.equal(failed.length, 1);
  });
});
