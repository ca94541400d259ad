import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { GatewayError } from '../canonical/gateway-error.ts';
import { containerIdOf, ShellError, type ShellCall } from '../canonical/tools/shell.ts';
import { createContainers } from './containers.ts';
import { ContainerError, type CommandResult, type CommandRun } from './contract.ts';

const LIMITS = { memoryBytes: 1, cpus: 1, processes: 1, diskBytes: 1, commandMs: 60_000, outputBytes: 65_536 };

async function setUp(t: TestContext, run: (one: CommandRun) => Promise<CommandResult>) {
  const directory = await mkdtemp(join(tmpdir(), 'containers-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const clock = { now: 0, nowMs: () => Date.now() + clock.now, monotonicMs: () => clock.now };
  const runs: CommandRun[] = [];
  const containers = createContainers(
    { run: (one) => (runs.push(one), run(one)) },
    { directory, limits: LIMITS, callMs: 100_000, expiresMs: 1_000_000 },
    clock,
    (error) => assert.fail(String(error)),
  );
  const call = (more: Partial<ShellCall> = {}) =>
    containers.run({
      owner: { accountId: 'a', workspaceId: 'w' },
      containerId: 'c',
      commands: ['true'],
      restart: false,
      signal: new AbortController().signal,
      ...more,
    });
  return { containers, call, runs, clock, directory };
}

const fine: CommandResult = { stdout: 'out', stderr: '', exitCode: 0 };

suite('containers', () => {
  // @spec container-5
  test('of one id are one home in a workspace, and another one in every other', async (t) => {
    const { call, runs } = await setUp(t, () => Promise.resolve(fine));
    await call();
    await call();
    await call({ owner: { accountId: 'a', workspaceId: 'other' } });
    await call({ containerId: 'd' });
    const homes = runs.map(({ home }) => basename(dirname(home)));
    assert.equal(homes[0], homes[1]);
    assert.equal(new Set(homes).size, 3);
  });

  test('of an id with any characters stay below their directory', async (t) => {
    const { call, directory } = await setUp(t, () => Promise.resolve(fine));
    await call({ containerId: '../../x' });
    assert.match((await readdir(directory)).join(), /^[0-9a-f]{40}$/);
  });

  // @spec container-7
  test('run the commands of a call within its limit, and one call after the other', async (t) => {
    const order: string[] = [];
    const bench = await setUp(t, async ({ command }) => {
      order.push(`begin ${command}`);
      await new Promise((resolve) => setImmediate(resolve));
      bench.clock.now += 60_000;
      order.push(`end ${command}`);
      return fine;
    });
    const outputs = await bench.call({ commands: ['one', 'two', 'three'] });
    assert.deepEqual(
      outputs.map(({ command, stopped }) => [command, stopped]),
      [
        ['one', undefined],
        ['two', undefined],
        ['three', 'timeout'],
      ],
    );
    assert.equal(bench.runs.at(1)?.limits.commandMs, 40_000, 'what is left of the call');
    order.length = 0;
    await Promise.all([bench.call({ commands: ['four'] }), bench.call({ commands: ['five'] })]);
    assert.deepEqual(order, ['begin four', 'end four', 'begin five', 'end five']);
  });

  // @spec container-7
  test('take lower limits of a call, and no higher ones', async (t) => {
    const { call, runs } = await setUp(t, () => Promise.resolve(fine));
    await call({ timeoutMs: 5, outputBytes: 7 });
    await call({ timeoutMs: 10_000_000, outputBytes: 1e9 });
    assert.deepEqual(
      runs.map(({ limits }) => [limits.commandMs, limits.outputBytes]),
      [
        [5, 7],
        [60_000, 1_048_576],
      ],
    );
  });

  // @spec container-9
  test('refuse calls beyond those that a workspace and the gateway may have under way', async (t) => {
    const { promise, resolve } = Promise.withResolvers<CommandResult>();
    const { call } = await setUp(t, () => promise);
    const started = Array.from({ length: 8 }, (_, at) => call({ containerId: `c${at}` }));
    await assert.rejects(call({ containerId: 'more' }), { name: 'ShellError', code: 'too_many_requests' });
    const others = Array.from({ length: 24 }, (_, at) =>
      call({ containerId: 'c', owner: { accountId: 'a', workspaceId: `w${at}` } }),
    );
    await assert.rejects(call({ owner: { accountId: 'a', workspaceId: 'last' } }), ShellError);
    resolve(fine);
    assert.equal((await Promise.all([...started, ...others])).length, 32);
    assert.equal((await call()).length, 1, 'there is room again');
  });

  test('report a sandbox that fails without what it says', async (t) => {
    const { call } = await setUp(t, () => Promise.reject(new ContainerError('no group in /sys/fs/cgroup/x')));
    await assert.rejects(call(), (error: unknown) => {
      assert.ok(error instanceof ShellError);
      assert.doesNotMatch(error.message, /sys/);
      return true;
    });
  });

  // @spec container-11
  test('are made once by requests of the same moment', async (t) => {
    const { containers } = await setUp(t, () => Promise.resolve(fine));
    const owner = { accountId: 'a', workspaceId: 'w', keyHash: 'k' };
    for (let round = 0; round < 5; round++) {
      const made = await Promise.allSettled(
        Array.from({ length: 10 }, () => containers.kept.create(owner, { id: `c${round}` })),
      );
      const others = made.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
      assert.equal(others.length, 9);
      for (const error of others) assert.equal(error instanceof GatewayError && error.status, 409, String(error));
    }
  });

  // @spec container-6
  test('are removed with their files when they have expired', async (t) => {
    const { containers, call, directory } = await setUp(t, () => Promise.resolve(fine));
    await call({ containerId: 'old' });
    const [old] = await containers.list();
    assert.ok(old);
    const longAgo = new Date(Date.now() - 2_000_000);
    await utimes(join(directory, old.folder), longAgo, longAgo);
    await call({ containerId: 'new' });
    await containers.reap();
    const left = await containers.list();
    assert.equal(left.length, 1);
    assert.notEqual(left[0]?.folder, old.folder);
    assert.equal(await containers.remove(left[0]?.folder ?? ''), true);
    assert.equal(await containers.remove('../..'), false);
  });
});

suite('the id of a container', () => {
  const naming = { keyHash: 'k', opening: 'hi' };

  // @spec container-5
  test('is the named one, else that of the session, else that of the conversation', () => {
    assert.equal(containerIdOf({ ...naming, containerId: 'mine', sessionId: 's' }), 'mine');
    assert.equal(containerIdOf({ ...naming, sessionId: 's-1', promptCacheKey: 'p' }), 'sess_s-1');
    assert.equal(containerIdOf({ ...naming, sessionId: 'a b', promptCacheKey: 'p' }), 'sess_p');
    const made = containerIdOf(naming);
    assert.match(made, /^gen_[0-9a-f]{16}$/);
    assert.notEqual(containerIdOf({ ...naming, keyHash: 'other' }), made);
  });

  // @spec container-5
  test('has at most 20 characters, and tells long names with one beginning apart', () => {
    const [one, other] = ['x'.repeat(40), `${'x'.repeat(39)}y`].map((sessionId) =>
      containerIdOf({ ...naming, sessionId }),
    );
    assert.notEqual(one, other);
    assert.match(one ?? '', /^sess_[\w-]{15}$/);
  });
});
