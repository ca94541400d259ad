import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { link, lstat, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { CommandLimits, CommandResult, ContainerRuntime } from '../../src/containers/contract.ts';
import { measureHome } from '../../src/containers/measure-home.ts';
import { openRuntime } from '../../src/containers/open-runtime.ts';
import { ask, startToolTurns } from '../support/tool-turns.ts';
import { makeRootfs } from '../../src/containers/rootfs.ts';

const MB = 1_048_576;
const PLACE = {
  choice: 'bubblewrap' as const,
  cgroup: undefined,
  allowsRootful: false,
  port: 9,
  env: { PATH: process.env['PATH'] },
};
const LIMITS: CommandLimits = {
  memoryBytes: 96 * MB,
  cpus: 1,
  processes: 48,
  diskBytes: 16 * MB,
  commandMs: 5_000,
  outputBytes: 4_096,
};

/** Only an isolation that is there can be tried. `REQUIRE_CONTAINERS=1` makes its absence a failure. */
const isThere = process.platform === 'linux' && existsSync('/usr/bin/bwrap');
const skip =
  isThere || process.env['REQUIRE_CONTAINERS'] === '1'
    ? false
    : 'bubblewrap is not installed here: NOTHING of the isolation was tried';
if (skip !== false) process.stderr.write(`${skip}\n`);

suite('attempts to break out of a container', { skip }, () => {
  let folder: string;
  let rootfs: string;
  let runtime: ContainerRuntime;
  const ownerCanary = 'canary-of-the-gateway-0123456789';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'escape-'));
    rootfs = join(folder, 'rootfs');
    await makeRootfs(rootfs);
    process.env['GATEWAY_SECRET'] = ownerCanary;
    runtime = await openRuntime({ ...PLACE, rootfs, dataDir: folder });
  });
  after(async () => {
    delete process.env['GATEWAY_SECRET'];
    await rm(folder, { recursive: true, force: true });
  });

  const makeHome = (): Promise<string> => mkdtemp(join(folder, 'home-'));

  async function run(command: string, limits: Partial<CommandLimits> = {}, home?: string): Promise<CommandResult> {
    const { signal } = new AbortController();
    return runtime.run({ home: home ?? (await makeHome()), command, limits: { ...LIMITS, ...limits }, signal });
  }

  // @spec container-3
  test('find no file, no process and no environment of the host', async () => {
    const { stdout } = await run(
      `cat /etc/shadow /etc/passwd 2>&1; ls ${folder} 2>&1; cat /proc/[0-9]*/environ | tr '\\0' '\\n'; ls /proc | grep -c '^[0-9]'; cat /proc/1/cmdline | tr '\\0' ' '; ls /sys /run /root 2>&1`,
    );
    assert.ok(!stdout.includes(ownerCanary), stdout);
    assert.ok(!stdout.includes('root:'), stdout);
    assert.match(stdout, new RegExp(`ls: cannot access '${folder}'`));
    assert.match(stdout, /^\d$/m, 'its own processes alone');
  });

  // @spec container-3
  test('change nothing of the root file system', async () => {
    const { stdout } = await run(
      'touch /usr/bin/x /x /etc/x 2>&1; echo hi > /proc/sys/kernel/hostname; mknod /tmp/d b 8 0 2>&1; ls -la /dev | grep -c disk',
    );
    assert.equal(stdout.match(/Read-only file system/g)?.length, 3, stdout);
    assert.deepEqual(
      (await readdir(rootfs)).filter((name) => name === 'x'),
      [],
    );
  });

  // @spec container-3
  test('gain no rights, no namespace, and see no other process', async () => {
    const { stdout } = await run(`python3 - <<'EOF'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(name, number, *args):
    ctypes.set_errno(0)
    result = libc.syscall(number, *args)
    print(name, 'refused' if result == -1 else 'ALLOWED', ctypes.get_errno())
call('unshare', 272, 0x10000000)
call('mount', 165, b'none', b'/mnt', b'tmpfs', 0, None)
call('ptrace', 101, 16, 1, 0, 0)
call('setns', 308, 0, 0)
call('bpf', 321, 0, None, 0)
call('keyctl', 250, 0, -3, 0)
call('io_uring', 425, 1, None)
call('open_by_handle_at', 304, -100, None, 0)
call('pivot_root', 155, b'/', b'/')
call('clone3', 435, None, 0)
call('setuid', 105, 0)
EOF
grep -E '^(Cap(Eff|Prm|Bnd)|NoNewPrivs|Seccomp):' /proc/self/status; id -u`);
    // The numbers above are those of x64, and the machine may have no Python.
    if (process.arch === 'x64' && stdout.includes('unshare')) {
      assert.doesNotMatch(stdout, /ALLOWED/, stdout);
      assert.match(stdout, /clone3 refused 38/);
    }
    assert.match(stdout, /CapEff:\s0+\n/);
    assert.match(stdout, /NoNewPrivs:\s1\nSeccomp:\s2\n1000\n/);
  });

  // @spec container-3
  test('reach no address: not the gateway, not the host, not the metadata of a cloud', async () => {
    const server = createServer((socket) => socket.end('reached'));
    server.listen(0, '0.0.0.0');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { stdout } = await run(
      `for to in 127.0.0.1/${port} 0.0.0.0/${port} 10.0.0.1/80 169.254.169.254/80 8.8.8.8/53; do (exec 9<> /dev/tcp/$to && echo "REACHED $to") 2>&1 | grep -c REACHED; done; tail -n +2 /proc/net/route | wc -l; cut -d: -f1 -s /proc/net/dev`,
    );
    server.close();
    assert.match(stdout, /^(?:0\n){6}\s*lo\n$/, stdout);
  });

  // @spec container-7
  test('start no more processes than they may, and hold up nothing', async () => {
    const startMs = performance.now();
    let slowestMs = 0;
    let lastMs = startMs;
    const timer = setInterval(() => {
      slowestMs = Math.max(slowestMs, performance.now() - lastMs);
      lastMs = performance.now();
    }, 10);
    const { stopped } = await run(':(){ :|:& };:; while :; do :; done', { commandMs: 1_500 });
    clearInterval(timer);
    assert.equal(stopped, 'timeout');
    assert.ok(performance.now() - startMs < 8_000);
    assert.ok(slowestMs < 500, `${slowestMs} ms`);
  });

  // @spec container-7
  test('take no more memory than they may, in a process, in /tmp and in many', async () => {
    const hog = await run('x=x; while :; do x=$x$x; done');
    assert.equal(hog.exitCode, 137, JSON.stringify(hog));
    const fill = await run('head -c 200000000 /dev/zero > /tmp/x; echo "$?"; stat -c %s /tmp/x');
    assert.match(fill.stdout, /^1\n/);
    assert.ok(Number(fill.stdout.split('\n')[1]) <= 32 * MB, fill.stdout);
  });

  // @spec container-7
  test('fill no disk, by large files, many files or files with holes', async () => {
    const home = await makeHome();
    const filled = await run('while :; do head -c 4000000 /dev/zero >> f || break; done', {}, home);
    assert.equal(filled.stopped, 'disk');
    assert.ok((await measureHome(home)) < 2_000 * MB);
    const holes = await run('truncate -s 1000000000000 f; echo made');
    assert.deepEqual([holes.stdout, holes.stopped], ['made\n', undefined]);
    const other = await run('echo fine > f; cat f');
    assert.equal(other.stdout, 'fine\n', 'another container writes on');
  });

  // @spec container-8
  test('write no more than is returned', async () => {
    const beforeBytes = process.memoryUsage().rss;
    const { stdout, stopped } = await run('yes | head -c 10000000000');
    assert.equal(stopped, 'output');
    assert.ok(stdout.length < LIMITS.outputBytes + 100);
    assert.ok(process.memoryUsage().rss - beforeBytes < 60 * MB);
  });

  // @spec container-7
  test('outlive neither their command nor its limit of time', async () => {
    const home = await makeHome();
    const mark = 'for i in 1 2 3 4 5 6 7 8; do echo x >> /home/agent/mark; sleep 0.25; done';
    await run(`setsid bash -c '${mark}' > /dev/null 2>&1 & disown; sleep 0.3`, {}, home);
    const afterEnd = await measureHome(home);
    const count = (): Promise<CommandResult> => run('wc -l < mark; ps 2> /dev/null | grep -c sleep', {}, home);
    const first = await count();
    const second = await count();
    assert.equal(first.stdout, second.stdout, 'nothing writes any more');
    assert.ok(afterEnd > 0);
    const deaf = await run("trap '' TERM INT HUP; while :; do sleep 0.1; done", { commandMs: 300 });
    assert.equal(deaf.stopped, 'timeout');
  });

  // @spec container-4
  test('keep variables and the directory from command to command, whatever they write there', async () => {
    const home = await makeHome();
    await run('export A="one two"; mkdir -p d; cd d', {}, home);
    assert.equal((await run('echo "$A"; pwd', {}, home)).stdout, 'one two\n/home/agent/d\n');
    await run('rm -f ~/.shell-state; ln -s /etc/shadow ~/.shell-state; trap - EXIT', {}, home);
    assert.equal((await run('echo still', {}, home)).stdout, 'still\n');
    assert.equal((await lstat(join(home, '.shell-state'))).isSymbolicLink(), true);
  });

  test('lead the gateway nowhere by links, pipes and odd names in a home', async () => {
    const home = await makeHome();
    await run(
      "mkfifo p; ln -s / up; ln -s up loop; mkdir -p a/b; printf x > $'odd\\nname'; mkdir z; chmod 0 z",
      {},
      home,
    );
    await symlink('/proc', join(home, 'proc'));
    const outside = join(folder, 'outside');
    await writeFile(outside, 'x'.repeat(100_000));
    await link(outside, join(home, 'hard'));
    assert.ok((await measureHome(home)) < 1 * MB, 'no link is followed');
  });

  test('leave no control group, no home and no open file behind', async () => {
    const countFds = async (): Promise<number> => (await readdir('/proc/self/fd')).length;
    await run('true');
    const atFirst = await countFds();
    for (let times = 0; times < 20; times++) await run('sleep 5 & true');
    assert.ok((await countFds()) <= atFirst + 1);
    const left = await Promise.all(
      ['memory', 'pids', 'cpu', ''].map((name) => readdir(join('/sys/fs/cgroup', name)).catch(() => [])),
    );
    assert.deepEqual(
      left.flat().filter((name) => name.startsWith(`mgw-${process.pid}-`)),
      [],
    );
  });

  // @spec container-1, container-4
  test('are what a model gets, in one home a session, and a failed command fails no request', async (t) => {
    const commands = ['echo $((6 * 7)) > n; exit 4', 'cat n'];
    const turns = await startToolTurns(
      t,
      (arrived, at) =>
        at % 2 === 0
          ? { calls: [{ name: 'service_bash', input: JSON.stringify({ command: commands[at / 2] }) }] }
          : { text: `It said: ${JSON.stringify(arrived.body['messages']).slice(-600)}` },
      { yaml: `containers: { runtime: auto, rootfs: "${rootfs}", limits: { memory_mb: 96, disk_mb: 16 } }` },
    );
    const tools = [{ type: 'service:bash', parameters: { engine: 'service' } }];
    const asking = { format: 'messages', model: 'acme/messages', stream: false } as const;
    const first = await ask(turns, asking, { tools, session_id: 'one' });
    assert.equal(first.status, 200, JSON.stringify(first));
    assert.match(first.text, /exitCode\W+4/);
    const second = await ask(turns, asking, { tools, session_id: 'one' });
    assert.match(second.text, /42/);
    assert.match(second.text, /sess_one/);
  });

  // @spec container-10
  test('are a hosted shell in both formats that have one, in the container that the caller names', async (t) => {
    const calls = [['echo one > n', 'cat n; echo two >&2; exit 3'], ['cat n'], ['sleep 9']];
    const turns = await startToolTurns(
      t,
      (arrived, at) =>
        at % 2 === 0
          ? { calls: [{ name: 'service_shell', input: JSON.stringify({ commands: calls[at / 2], timeout_ms: 900 }) }] }
          : { text: JSON.stringify(arrived.body['messages']).slice(-600) },
      { yaml: `containers: { runtime: auto, rootfs: "${rootfs}", limits: { memory_mb: 96, disk_mb: 16 } }` },
    );
    const environment = { type: 'container_reference', container_id: 'mine-1' };
    const tools = [{ type: 'service:shell', parameters: { engine: 'service', environment } }];
    const first = await ask(turns, { format: 'messages', model: 'acme/messages', stream: false }, { tools });
    assert.match(first.text, /"type\W+exit\W+exit_code\W+0.*one\W.*two.*exit_code\W+3.*mine-1/s);
    const items = await turns.gateway.post('/responses', { model: 'acme/messages', input: 'Go on.', tools });
    const text = await items.text();
    assert.equal(items.status, 200, text);
    const { output }: { output: { type: string; output?: unknown; commands?: unknown }[] } = JSON.parse(text);
    const item = output.find(({ type }) => type === 'service:shell');
    assert.deepEqual(item?.commands, ['cat n']);
    assert.deepEqual(item?.output, [{ stdout: 'one\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } }]);
    const late = await ask(turns, { format: 'messages', model: 'acme/messages', stream: false }, { tools });
    assert.match(late.text, /outcome\W+type\W+timeout/);
  });

  // @spec container-2
  test('are not even made where a part of the isolation is missing', async () => {
    const settings = { ...PLACE, rootfs, dataDir: folder };
    for (const [change, why] of [
      [{ rootfs: undefined }, /containers\.rootfs is not set/],
      [{ rootfs: folder }, /no bin\/bash/],
      [{ env: { PATH: folder } }, /install bubblewrap/],
      [{ env: { PATH: folder }, choice: 'podman' }, /install podman/],
      [{ env: { PATH: folder }, choice: 'auto' }, /install bubblewrap.*install podman/],
    ] as const)
      await assert.rejects(openRuntime({ ...settings, ...change }), { name: 'ContainerError', message: why });
    // What lets everything through fails the self-test.
    const { findEscapes } = await import('../../src/containers/self-test.ts');
    const { spawnSync } = await import('node:child_process');
    const open: ContainerRuntime = {
      ...runtime,
      run({ command }) {
        const { stdout, stderr, status } = spawnSync('bash', ['-c', command], { encoding: 'utf8', timeout: 300 });
        return Promise.resolve({ stdout, stderr, exitCode: status ?? 0 });
      },
    };
    const found = await findEscapes(open, { dataDir: folder, port: 9 });
    assert.ok(
      found.includes('reads files of the host') && found.includes('has rights, or may gain some'),
      found.join(),
    );
  });
});
