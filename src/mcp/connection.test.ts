import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { McpError } from '../canonical/tools/mcp.ts';
import { McpConnection, type McpTransport } from './connection.ts';

/** What a scripted server says to a request; `undefined`: nothing. */
type Answer = (method: string) => object | undefined;

const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'scripted', version: '1' },
};

/** Speaks the protocol of 2025 in memory. */
class ScriptedTransport implements McpTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #answer: Answer;
  readonly #sent: string[];

  constructor(answer: Answer, sent: string[]) {
    this.#answer = answer;
    this.#sent = sent;
  }

  async start(): Promise<void> {}

  async close(): Promise<void> {
    this.onclose?.();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message)) return;
    this.#sent.push(message.method);
    if (!('id' in message) || message.id === undefined) return;
    const { id } = message;
    const answer = this.#answer(message.method);
    if (answer === undefined) return;
    queueMicrotask(() => this.onmessage?.({ jsonrpc: '2.0', id, ...answer } as JSONRPCMessage));
  }
}

const speaks: Answer = (method) => {
  if (method === 'initialize') return { result: INITIALIZED };
  if (method === 'tools/call') return { result: { content: [{ type: 'text', text: 'done' }] } };
  return { error: { code: -32_601, message: 'Method not found' } };
};

function connect(open: () => McpTransport) {
  let nowMs = 0;
  let opened = 0;
  const troubles: string[] = [];
  const connection = new McpConnection({
    name: 'tests',
    callMsMax: 1_000,
    open: () => {
      opened++;
      return open();
    },
    monotonicMs: () => nowMs,
    onChanged: () => undefined,
    redact: (text) => text,
    onTrouble: (message) => troubles.push(message),
  });
  const call = (): Promise<object | string> =>
    connection
      .call('any', {}, new AbortController().signal)
      .catch((error: unknown) => (error instanceof McpError ? error.message : String(error)));
  return {
    connection,
    call,
    troubles,
    opened: () => opened,
    pass: (ms: number) => (nowMs += ms),
  };
}

suite('a server that cannot be reached', () => {
  const nowhere = (): never => {
    throw new Error('connect ECONNREFUSED');
  };

  // @spec mcp-7
  test('is tried again at once, then after a second, and at most a minute', async () => {
    const { call, opened, pass } = connect(nowhere);
    for (const [waitMs, tries] of [
      [0, 1],
      [0, 2],
      [999, 2],
      [1, 3],
      [1_999, 3],
      [1, 4],
      [4_000, 5],
      [8_000, 6],
      [16_000, 7],
      [32_000, 8],
      [59_999, 8],
      [1, 9],
      [60_000, 10],
    ] as const) {
      pass(waitMs);
      assert.equal(await call(), 'The MCP server "tests" cannot be reached.');
      assert.equal(opened(), tries, `after ${waitMs} ms more`);
    }
  });

  test('is reported to the operator with the reason, and to callers without', async () => {
    const { call, troubles } = connect(nowhere);
    assert.doesNotMatch(JSON.stringify(await call()), /ECONNREFUSED/);
    assert.deepEqual(troubles, ['connect ECONNREFUSED']);
  });

  test('is connected once for concurrent requests', async () => {
    const sent: string[] = [];
    const { call, opened } = connect(() => new ScriptedTransport(speaks, sent));
    await Promise.all([call(), call(), call()]);
    assert.equal(opened(), 1);
    assert.equal(sent.filter((method) => method === 'tools/call').length, 3);
  });
});

suite('a connection that ends', () => {
  test('is opened again at once after it has held for long, and later when it ends at once', async () => {
    let current: ScriptedTransport | undefined;
    const { call, opened, pass } = connect(() => (current = new ScriptedTransport(speaks, [])));
    const done = { content: [{ type: 'text', text: 'done' }], failed: false };
    assert.deepEqual(await call(), done);
    for (let times = 2; times < 5; times++) {
      pass(60_001);
      await current?.close();
      assert.deepEqual(await call(), done, 'a failure long after the last one counts as the first');
      assert.equal(opened(), times);
    }
    await current?.close();
    assert.match(JSON.stringify(await call()), /is not up again yet/);
    pass(1_000);
    assert.deepEqual(await call(), done);
  });
});

test('refuses more concurrent calls than the limit, with the reason', async () => {
  const silent: Answer = (method) => (method === 'tools/call' ? undefined : speaks(method));
  const { connection, call } = connect(() => new ScriptedTransport(silent, []));
  const caller = new AbortController();
  const running = Array.from({ length: 64 }, () => connection.call('any', {}, caller.signal).catch(() => 'over'));
  assert.equal(await call(), 'The MCP server "tests" is busy with other calls.');
  caller.abort();
  assert.deepEqual(new Set(await Promise.all(running)), new Set(['over']));
});

test('keeps the connection after an interrupted call, which is cancelled at the server', async () => {
  const sent: string[] = [];
  let isSilent = true;
  const answer: Answer = (method) => (method === 'tools/call' && isSilent ? undefined : speaks(method));
  const { connection, call, opened } = connect(() => new ScriptedTransport(answer, sent));
  const caller = new AbortController();
  const running = connection.call('any', {}, caller.signal);
  setImmediate(() => caller.abort('over'));
  await assert.rejects(running, McpError);
  isSilent = false;
  assert.deepEqual(await call(), { content: [{ type: 'text', text: 'done' }], failed: false });
  assert.ok(sent.includes('notifications/cancelled'));
  assert.equal(opened(), 1);
});

test('opens nothing after it was closed', async () => {
  const { connection, call, opened } = connect(() => new ScriptedTransport(speaks, []));
  await connection.close();
  assert.equal(await call(), 'The gateway is stopping.');
  assert.equal(opened(), 0);
});
