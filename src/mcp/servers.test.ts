import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createMcpServers, type McpDeps } from './servers.ts';

/**
 * A process that speaks the protocol of 2025, with the given tools, and writes `noise` to both outputs. What is too
 * long for its environment it creates itself: `pad` characters of a description.
 */
const SCRIPT = `
  const { tools, noise } = JSON.parse(process.env.SAYS);
  for (let line = 0; line < noise; line++) console.error('noise ' + process.env.TOKEN);
  for (let line = 0; line < noise; line++) console.log('no message');
  const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'scripted', version: '1' } },
    'tools/list': { tools: tools.map(({ pad, ...tool }) => (pad ? { ...tool, description: 'x'.repeat(pad) } : tool)) },
    'tools/call': { content: [{ type: 'text', text: 'done' }] },
  };
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'Method not found' } };
    console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });
`;

interface States {
  readonly tools: readonly object[];
  readonly noise?: number;
}

async function listed({ tools, noise = 0 }: States, more: object = {}) {
  const events: Parameters<McpDeps['log']>[1][] = [];
  const mcp = createMcpServers({
    servers: [
      {
        name: 'tests',
        callMsMax: 1_000,
        transport: 'stdio',
        command: process.execPath,
        args: ['-e', SCRIPT],
        env: { SAYS: JSON.stringify({ tools, noise }), TOKEN: 'a-secret-of-the-server' },
        ...more,
      },
    ],
    env: {},
    monotonicMs: () => 0,
    log: (_server, event) => events.push(event),
  });
  try {
    const server = mcp.find('tests', { workspaceId: '', keyHash: '' });
    assert.ok(typeof server === 'object');
    return { tools: await server.tools(new AbortController().signal), events };
  } finally {
    await mcp.close();
  }
}

const tool = (name: string, more: object = {}): object => ({ name, inputSchema: { type: 'object' }, ...more });

suite('tools of a server', () => {
  test('are described by their description, title, or name', async () => {
    const { tools } = await listed({
      tools: [
        tool('a', { description: 'Says a.', title: 'A' }),
        tool('b', { title: 'B' }),
        tool('c', { description: '' }),
      ],
    });
    assert.deepEqual(
      tools.map(({ description }) => description),
      ['Says a.', 'B', 'c'],
    );
  });

  test('are left out when they are too many or too long, and the operator is informed', async () => {
    const many = Array.from({ length: 300 }, (_, at) => tool(`tool_${at}`));
    const { tools, events } = await listed({ tools: many });
    assert.equal(tools.length, 256);
    assert.deepEqual(events, [{ trouble: '44 tools are left out: too many, or too long. The first is tool_256.' }]);
    const long = await listed({
      tools: [tool('long', { pad: 1_048_576 }), tool('n'.repeat(129)), tool('short')],
    });
    assert.deepEqual(
      long.tools.map(({ name }) => name),
      ['short'],
    );
  });

  test('are one when they have the same name', async () => {
    const { tools } = await listed({ tools: [tool('twice', { title: '1' }), tool('twice', { title: '2' })] });
    assert.deepEqual(
      tools.map(({ description }) => description),
      ['1'],
    );
  });
});

test('fills no log with endless output, which shows none of its secrets', async () => {
  const { tools, events } = await listed({ tools: [tool('a')], noise: 5_000 });
  assert.equal(tools.length, 1, 'lines that are no messages are passed over');
  assert.equal(events.length, 120);
  assert.ok(events.every((event) => !JSON.stringify(event).includes('a-secret-of-the-server')));
});

test('hides credentials of arguments in the output of a process', async () => {
  const script = `console.error(process.argv.slice(1).join(' ')); ${SCRIPT}`;
  const credentials = ['--api-key=first-secret-1=', '--auth-token', 'second-secret-2'];
  const { events } = await listed(
    { tools: [] },
    { args: ['-e', script, '--', ...credentials, '--mode', 'production'] },
  );
  assert.deepEqual(events, [{ line: '--api-key=[redacted] --auth-token [redacted] --mode production' }]);
});

test('runs a process in the folder of its entry', async () => {
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  const script = `console.error(process.cwd() + '/');${SCRIPT}`;
  const { events } = await listed({ tools: [] }, { cwd, args: ['-e', script] });
  assert.deepEqual(events[0], { line: cwd });
});

test('delays one request for ten seconds when it is silent, and no later one', async (t) => {
  let nowMs = 0;
  const script = 'setInterval(() => undefined, 1000)';
  const settings = { name: 'silent', callMsMax: 1_000, transport: 'stdio', command: process.execPath } as const;
  const mcp = createMcpServers({
    servers: [{ ...settings, args: ['-e', script], env: {} }],
    env: {},
    monotonicMs: () => nowMs,
    log: () => undefined,
  });
  const server = mcp.find('silent', { workspaceId: '', keyHash: '' });
  assert.ok(typeof server === 'object');
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let isOver = false;
  const first = server.tools(new AbortController().signal).catch((error: unknown) => {
    isOver = true;
    return error;
  });
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms;
    t.mock.timers.tick(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await pass(9_999);
  assert.ok(!isOver);
  await pass(1);
  assert.match(String(await first), /The MCP server "silent" is not ready yet\./);
  await pass(5_000);
  const second = server.tools(new AbortController().signal).catch(String);
  await pass(1);
  assert.match(JSON.stringify(await second), /is not ready yet/);
  t.mock.timers.reset();
  await mcp.close();
});

test('ends a process that is starting when the gateway stops, and starts no other', async () => {
  const started = Promise.withResolvers<void>();
  let starts = 0;
  const mcp = createMcpServers({
    servers: [
      {
        name: 'silent',
        callMsMax: 1_000,
        transport: 'stdio',
        command: process.execPath,
        args: ['-e', 'console.error("started"); process.stdin.resume()'],
        env: {},
      },
    ],
    env: {},
    monotonicMs: () => 0,
    log: (_server, event) => {
      if (!('line' in event)) return;
      starts++;
      started.resolve();
    },
  });
  const requested = mcp.check('silent').catch(() => 'over');
  await started.promise;
  await mcp.close();
  assert.equal(await requested, 'over');
  assert.equal(starts, 1);
});

/** Answers `tools/call` with its token: in text, in Base64, and as a value. */
const ECHO = `
  const token = process.env.TOKEN;
  const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } },
    'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
    'tools/call': {
      content: [{ type: 'text', text: 'it is ' + token + ' or ' + Buffer.from('u:' + token).toString('base64') }],
      structuredContent: { [token]: token },
    },
  };
  require('node:readline').createInterface(process.stdin).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    const result = results[method];
    if (id !== undefined)
      console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'unknown' } }) }));
  });
`;

// @spec vault-19
test('shows a model no secret of the vault that a server repeats', async (t) => {
  const value = 'a-secret-of-the-vault';
  const mcp = createMcpServers({
    servers: [
      {
        name: 'echo',
        callMsMax: 5_000,
        transport: 'stdio',
        command: process.execPath,
        args: ['-e', ECHO],
        env: { TOKEN: 'vault:echo' },
      },
    ],
    env: {},
    monotonicMs: () => performance.now(),
    log: () => undefined,
    fill: () => Promise.resolve({ texts: { TOKEN: value }, values: [value] }),
  });
  t.after(() => mcp.close());
  const result = await mcp.callTool('echo', 'echo', {}, AbortSignal.timeout(10_000));
  assert.match(JSON.stringify(result.content), /it is \[secret\] or \S*\[secret\]/);
  assert.deepEqual(result.structured, { '[secret]': '[secret]' });
});
