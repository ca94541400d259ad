import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { StdioTransport } from './stdio-transport.ts';

const ANOTHER_USER = 65_534;
const LOOK =
  'if cat /proc/$PPID/environ > /dev/null 2>&1; then echo open >&2; else echo closed >&2; fi; id -u >&2; id -g >&2';

const isRoot = process.getuid?.() === 0;
const isLinux = process.platform === 'linux';

async function look(user: { readonly uid?: number; readonly gid?: number }): Promise<readonly string[]> {
  const lines: string[] = [];
  const transport = new StdioTransport({
    settings: { transport: 'stdio', command: '/bin/sh', args: ['-c', LOOK], env: {}, cwd: '/', ...user },
    inherited: { PATH: process.env['PATH'] ?? '' },
    onLine: (line) => lines.push(line),
  });
  const closed = new Promise<void>((onclose) => Object.assign(transport, { onclose }));
  await transport.start();
  await closed;
  return lines;
}

suite('the user of an MCP server that is a process', () => {
  test('cannot read the environment of the gateway with a uid of its own', { skip: !isLinux || !isRoot }, async () => {
    assert.deepEqual(await look({ uid: ANOTHER_USER, gid: ANOTHER_USER }), ['closed', '65534', '65534']);
  });

  test(
    "equals the gateway's when unset, and the process then reads the gateway's environment",
    { skip: !isLinux },
    async () => {
      const [environment, uid] = await look({});
      assert.deepEqual([environment, uid], ['open', String(process.getuid?.())]);
    },
  );

  test('is refused in words where the gateway may not choose it', { skip: !isLinux || isRoot }, async () => {
    await assert.rejects(look({ uid: ANOTHER_USER, gid: ANOTHER_USER }), /takes a gateway that runs as root/);
  });
});
