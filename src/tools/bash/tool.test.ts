import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ShellError, type Shell, type ShellCall } from '../../canonical/tools/shell.ts';
import type { ToolContext } from '../contract.ts';
import { bash, sandboxedBash } from './tool.ts';

const service = { engine: 'service' } as const;

function open(shell: Shell | undefined) {
  const context = {
    principal: { accountId: 'a', workspaceId: 'w', keyHash: 'k' },
    request: { turns: [], directives: { sessionId: 's1' }, settings: {} },
    abilities: shell === undefined ? {} : { shell },
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
    assert.throws(() => bash.clientFunction?.(service, 'p'), { status: 400, message: /p\.engine: .*no sandbox/ });
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
