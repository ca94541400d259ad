import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ShellError, type Shell, type ShellCall } from '../../canonical/tools/shell.ts';
import type { ToolContext } from '../contract.ts';
import { shell } from './shell.ts';
import { bash, sandboxedBash } from './tool.ts';

const service = { engine: 'service' } as const;

function open(sandbox: Shell | undefined) {
  const context = {
    principal: { accountId: 'a', workspaceId: 'w', keyHash: 'k' },
    nowMs: () => 0,
    request: { turns: [], directives: { sessionId: 's1' }, settings: {} },
    abilities: sandbox === undefined ? {} : { shell: sandbox },
  };
  const tool = sandboxedBash.open(service, context as unknown as ToolContext);
  const run = (input: object) => tool.run({ input, signal: new AbortController().signal } as never);
  return { run };
}

suite('the bash tool', () => {
  // @spec tool-39, container-1
  test('is a function of the caller, unless the sandbox of the gateway is named', () => {
    assert.equal(bash.clientFunction?.({}, 'p')?.name, 'bash');
    assert.equal(sandboxedBash.clientFunction?.({ engine: 'auto' }, 'p')?.name, 'bash');
    assert.equal(sandboxedBash.clientFunction?.(service, 'p'), undefined);
    assert.throws(() => bash.clientFunction?.(service, 'p'), {
      status: 400,
      message: /p\.engine: .*containers\.runtime/,
    });
  });

  // @spec container-4
  test('runs commands in the container of the session, and reports each', async () => {
    const calls: ShellCall[] = [];
    const { run } = open({
      run: (call) => {
        calls.push(call);
        return Promise.resolve(call.commands.map((command) => ({ command, stdout: 'o', stderr: 'e', exitCode: 3 })));
      },
    });
    const one = await run({ command: 'ls', timeout_ms: 5, max_output_length: 6, restart: true });
    assert.deepEqual(one.result, { command: 'ls', stdout: 'o', stderr: 'e', exitCode: 3, container_id: 'sess_s1' });
    assert.partialDeepStrictEqual(calls.at(0), { containerId: 'sess_s1', timeoutMs: 5, outputBytes: 6, restart: true });
    const two = await run({ commands: ['a', 'b'] });
    assert.partialDeepStrictEqual(two.result, {
      output: [{ command: 'a' }, { command: 'b' }],
      container_id: 'sess_s1',
    });
  });

  // @spec container-10
  test('is a shell with outcomes, too, which starts with a command and has no engine of the caller', async () => {
    const openHosted = (calls: ShellCall[]) =>
      shell.open({ environment: { type: 'container_reference', container_id: 'mine' } }, {
        principal: { accountId: 'a', workspaceId: 'w', keyHash: 'k' },
        nowMs: () => 0,
        request: { turns: [], directives: {}, settings: {} },
        abilities: {
          shell: {
            run(call: ShellCall) {
              calls.push(call);
              return Promise.resolve([
                { command: 'a', stdout: 'o', stderr: '', exitCode: 0 },
                { command: 'b', stdout: '', stderr: '', exitCode: null, stopped: 'timeout' },
              ]);
            },
          },
        },
      } as unknown as ToolContext);
    const calls: ShellCall[] = [];
    const input = { commands: ['a', 'b'], max_output_length: 7 };
    const { result } = await openHosted(calls).run({ input, signal: new AbortController().signal } as never);
    assert.partialDeepStrictEqual(result, {
      output: [
        { stdout: 'o', outcome: { type: 'exit', exit_code: 0 } },
        { outcome: { type: 'timeout' }, stopped: 'timeout' },
      ],
      container_id: 'mine',
    });
    assert.partialDeepStrictEqual(calls.at(0), { commands: ['a', 'b'], restart: false, outputBytes: 7 });
    assert.equal(shell.parameters.safeParse({ engine: 'native' }).success, false);
    const { arguments: schema } = shell.describe({});
    assert.ok('safeParse' in schema && !schema.safeParse({ commands: [] }).success);
  });

  // @spec container-4
  test('fails a call, and never the request, where nothing can be run', async () => {
    const refusing = open({ run: () => Promise.reject(new ShellError('too_many_requests', 'Try again later.')) });
    assert.partialDeepStrictEqual(await refusing.run({ command: 'ls' }), {
      failed: true,
      errorCode: 'too_many_requests',
    });
    assert.partialDeepStrictEqual(await refusing.run({}), { failed: true });
    assert.partialDeepStrictEqual(await open(undefined).run({ command: 'ls' }), { failed: true });
  });
});
