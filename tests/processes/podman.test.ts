import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { CommandLimits, CommandResult, ContainerRuntime } from '../../src/containers/contract.ts';
import { openRuntime } from '../../src/containers/open-runtime.ts';
import { makeRootfs } from '../../src/containers/rootfs.ts';

const MB = 1_048_576;
const LIMITS: CommandLimits = {
  memoryBytes: 96 * MB,
  cpus: 1,
  processes: 48,
  diskBytes: 16 * MB,
  commandMs: 10_000,
  outputBytes: 4_096,
};

/** Only an isolation that is there can be tried. `REQUIRE_PODMAN=1` makes its absence a failure. */
const isThere = process.platform === 'linux' && existsSync('/usr/bin/podman');
const skip =
  isThere || process.env['REQUIRE_PODMAN'] === '1'
    ? false
    : 'podman is not installed here: NOTHING of its isolation was tried';
if (skip !== false) process.stderr.write(`${skip}\n`);

suite('commands in containers of podman', { skip }, () => {
  let folder: string;
  let runtime: ContainerRuntime;

  // Opening it is the self-test: files, environment, rights, network, processes and memory.
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'podman-'));
    // Users of containers reach the root file system by it.
    await chmod(folder, 0o755);
    const rootfs = join(folder, 'rootfs');
    await makeRootfs(rootfs);
    // Crun refuses control groups of both versions at once.
    const settings = join(folder, 'containers.conf');
    await writeFile(settings, existsSync('/usr/sbin/runc') ? '[engine]\nruntime = "runc"\n' : '');
    const env = { ...process.env, CONTAINERS_CONF: settings };
    const place = { rootfs, cgroup: undefined, dataDir: folder, port: 9, env };
    runtime = await openRuntime({ ...place, choice: 'podman', allowsRootful: true });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function run(command: string, home?: string, limits: Partial<CommandLimits> = {}): Promise<CommandResult> {
    const { signal } = new AbortController();
    const place = home ?? (await mkdtemp(join(folder, 'home-')));
    return runtime.run({ home: place, command, limits: { ...LIMITS, ...limits }, signal });
  }

  // @spec container-3
  test('change nothing of the root file system, and are a user that has no rights', async () => {
    const { stdout } = await run('echo x 2> /dev/null > /usr/bin/x || echo refused; id -u; ls /sys | wc -l');
    assert.equal(stdout, 'refused\n1000\n0\n');
  });

  // @spec container-4
  test('keep files, variables and the directory from command to command', async () => {
    const home = await mkdtemp(join(folder, 'home-'));
    await run('export WORD=kept; mkdir -p below; cd below; echo one > file', home);
    assert.equal((await run('echo "$WORD $PWD $(cat file)"', home)).stdout, 'kept /home/agent/below one\n');
  });

  // @spec container-15
  test('read what was uploaded, and cannot change it', async () => {
    const home = await mkdtemp(join(folder, 'home-'));
    const mnt = join(folder, 'mnt');
    await mkdir(join(mnt, 'uploads'), { recursive: true, mode: 0o700 });
    await writeFile(join(mnt, 'uploads/one.txt'), 'one\n', { mode: 0o600 });
    const command = 'cat /mnt/uploads/one.txt; (echo two > /mnt/uploads/one.txt) 2> /dev/null || echo refused';
    const { signal } = new AbortController();
    const { stdout } = await runtime.run({ home, mnt, command, limits: LIMITS, signal });
    assert.equal(stdout, 'one\nrefused\n');
  });

  // @spec container-7
  test('end at their limits of time and disk, with all that they started', async () => {
    const late = await run('(setsid sleep 60 &) ; sleep 60', undefined, { commandMs: 1_000 });
    assert.equal(late.stopped, 'timeout');
    const full = await run('head -c 40000000 /dev/zero > file; sleep 30');
    assert.equal(full.stopped, 'disk');
  });
});
