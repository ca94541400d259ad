import assert from 'node:assert/strict';
import { chmod, lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import type { CommandLimits } from '../contract.ts';
import { openPodman } from './runtime.ts';

const LIMITS: CommandLimits = {
  memoryBytes: 67_108_864,
  cpus: 0.5,
  processes: 32,
  diskBytes: 16_777_216,
  commandMs: 5_000,
  outputBytes: 4_096,
};

/** Gives files away. */
const IS_ROOT = process.getuid?.() === 0;

/** In the place of podman: writes down what it is called with, and does what a command of a test says. */
async function setUp(t: TestContext, rootless: string) {
  const folder = await mkdtemp(join(tmpdir(), 'podman-test-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const program = join(folder, 'podman');
  const log = join(folder, 'log');
  await writeFile(
    program,
    `#!/bin/sh
echo "$*" >> ${log}
env > ${folder}/env
case $1 in
  info) echo "${rootless} crun";;
  ps) cat ${folder}/left 2> /dev/null;;
  kill) test ! -e ${folder}/stuck && kill $(cat ${folder}/pid);;
  rm) test ! -e ${folder}/stuck;;
  run) echo $$ > ${folder}/pid; case $(cat) in sleep) exec sleep 30;; *) echo ran;; esac;;
esac
`,
  );
  await chmod(program, 0o755);
  const rootfs = join(folder, 'rootfs');
  await mkdir(join(rootfs, 'bin'), { recursive: true });
  await writeFile(join(rootfs, 'bin/bash'), '');
  const home = join(folder, 'home');
  await mkdir(home);
  const left: string[] = [];
  const env = { PATH: '/usr/bin:/bin', HOME: folder, GATEWAY_SECRET: 'canary' };
  return {
    folder,
    rootfs,
    home,
    open: (allowsRootful = false) =>
      openPodman({ program, rootfs, allowsRootful, env, onLeft: (name) => left.push(name) }),
    left,
    calls: async () => (await readFile(log, 'utf8')).trim().split('\n'),
  };
}

suite('podman', () => {
  // @spec container-3, container-7
  test('runs a command without a network, rights, variables of the gateway, or more than its limits', async (t) => {
    const { folder, rootfs, home, open, calls } = await setUp(t, 'true');
    const runtime = await open();
    const { signal } = new AbortController();
    const result = await runtime.run({ home, command: 'secret words', limits: LIMITS, signal });
    assert.deepEqual([result.stdout, result.exitCode, result.stopped], ['ran\n', 0, undefined]);
    const run = (await calls()).find((call) => call.startsWith('run ')) ?? assert.fail();
    for (const wanted of [
      '--network none',
      '--cap-drop all',
      '--security-opt no-new-privileges',
      '--security-opt mask=/sys',
      '--userns keep-id:uid=1000,gid=1000',
      '--read-only --read-only-tmpfs=false',
      '--memory 67108864b --memory-swap 67108864b --cpus 0.5',
      '--pids-limit 32',
      `--volume ${home}:/home/agent:rw,nosuid,nodev`,
      `--rootfs ${rootfs} /bin/bash`,
    ])
      assert.ok(run.includes(wanted), `${wanted} in ${run}`);
    assert.doesNotMatch(run, /--privileged|--device|--pid host|secret words/);
    assert.doesNotMatch(await readFile(join(folder, 'env'), 'utf8'), /canary/);
    assert.match((await calls()).at(-1) ?? '', /^rm --force --ignore gateway-\d+-/, 'nothing is left behind');
  });

  test('lets its engine end a command whose time is over', async (t) => {
    const { home, open, calls } = await setUp(t, 'true');
    const runtime = await open();
    const { signal } = new AbortController();
    const result = await runtime.run({ home, command: 'sleep', limits: { ...LIMITS, commandMs: 100 }, signal });
    assert.equal(result.stopped, 'timeout');
    assert.ok((await calls()).some((call) => /^kill --signal SIGTERM gateway-\d+-/.test(call)));
  });

  // @spec container-2, container-15
  test('is not used as root unless it may be', async (t) => {
    const { open } = await setUp(t, 'false');
    await assert.rejects(open(), /allow_rootful/);
    assert.match((await open(true)).enforces.join(), /engine of root/);
  });

  // @spec container-15
  test('removes what gateways have left that are gone, and nothing of those that are there', async (t) => {
    const { folder, open, calls } = await setUp(t, 'true');
    const left = ['gateway-999999-old', `gateway-${process.pid}-own`, 'gateway-1-alive', 'stranger'];
    await writeFile(join(folder, 'left'), left.join('\n'));
    await (await open()).clear();
    assert.equal((await calls()).at(-1), 'rm --force --ignore gateway-999999-old');
  });

  // @spec container-7
  test('ends the program of a command that its engine does not kill, and removes the container later', async (t) => {
    const { folder, home, left, open, calls } = await setUp(t, 'true');
    const runtime = await open();
    await writeFile(join(folder, 'stuck'), '');
    const controller = new AbortController();
    const running = runtime.run({ home, command: 'sleep', limits: LIMITS, signal: controller.signal });
    setTimeout(() => controller.abort(), 100);
    assert.equal((await running).stopped, 'aborted');
    const [name = assert.fail()] = left;
    assert.match(name, /^gateway-\d+-/);
    assert.deepEqual(left, [name], 'is reported once');
    await rm(join(folder, 'stuck'));
    const { signal } = new AbortController();
    await runtime.run({ home, command: 'other', limits: LIMITS, signal });
    const removed = async () => (await calls()).filter((call) => call === `rm --force --ignore ${name}`).length;
    for (let waitMs = 0; waitMs < 2_000 && (await removed()) < 2; waitMs += 50)
      await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(await removed(), 2);
  });

  // @spec container-15
  test(
    'gives uploads to the user of commands where podman is root, and nothing that they lead to',
    { skip: !IS_ROOT },
    async (t) => {
      const { folder, home, open } = await setUp(t, 'false');
      const mnt = join(folder, 'mnt');
      await mkdir(join(mnt, 'uploads'), { recursive: true, mode: 0o700 });
      await writeFile(join(mnt, 'uploads/one.txt'), 'one', { mode: 0o600 });
      await writeFile(join(folder, 'other'), '');
      await symlink(join(folder, 'other'), join(mnt, 'uploads/link'));
      const { signal } = new AbortController();
      await (await open(true)).run({ home, mnt, command: 'any', limits: LIMITS, signal });
      const ownerOf = async (path: string) => (await lstat(join(folder, path))).uid;
      const places = ['home', 'mnt', 'mnt/uploads', 'mnt/uploads/one.txt', 'mnt/uploads/link', 'other'];
      assert.deepEqual(await Promise.all(places.map(ownerOf)), [101_000, 101_000, 101_000, 101_000, 101_000, 0]);
    },
  );
});
