import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '../../src/lib/json.ts';
import { startMcpHttpServer } from '../support/mcp/http-server.ts';
import {
  httpServer,
  isAlive,
  obedient,
  openNotes,
  please,
  stdioCommand,
  stdioServer,
  until,
  type Notes,
} from '../support/mcp/run.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { ask, startToolTurns, type Asking, type ToolTurns } from '../support/tool-turns.ts';

type Test = Parameters<typeof openNotes>[0];

const WHOLE: Asking = { format: 'chat', model: 'acme/chat', stream: false };
const BOTH: readonly Asking[] = [
  { format: 'chat', model: 'acme/chat', stream: false },
  { format: 'messages', model: 'acme/messages', stream: true },
];

const using = (server: string): readonly object[] => [{ type: 'service:mcp', parameters: { server } }];

const setUp = (t: Test, servers: string): Promise<ToolTurns> =>
  startToolTurns(t, obedient, { yaml: `mcp_servers:\n${servers}` });

/** Has the model call a tool of the server, and gives what it read. */
async function call(
  turns: ToolTurns,
  server: string,
  tool: string,
  asking = WHOLE,
  input: object = {},
): Promise<string> {
  const reported = await ask(turns, asking, {
    messages: [please(`mcp_${server}_${tool}`, input)],
    tools: using(server),
  });
  assert.equal(reported.status, 200);
  return reported.text;
}

const ECHO = { words: 'hello' };
const ECHOED = 'It said: {"content":[{"type":"text","text":"hello"}]}';

function offeredLast({ chat }: ToolTurns): readonly unknown[] {
  return listOf((chat.arrived.at(-1)?.body['tools'] ?? []) as JsonObject[]).map(
    (tool) => objectOf(objectOf(tool)['function'])['name'],
  );
}

suite('a server that ends during a call', () => {
  for (const asking of BOTH)
    // @spec mcp-7
    test(`fails the call and not the request, and is restarted: ${asking.format}`, async (t) => {
      const notes = await openNotes(t);
      const turns = await setUp(t, stdioServer('local', 'new', notes));
      const before = await call(turns, 'local', 'crash', asking);
      assert.match(before, /The MCP server \\?"local\\?" ended before it had answered/);
      assert.equal(await call(turns, 'local', 'echo', asking, ECHO), ECHOED);
      assert.equal((await notes.pids()).length, 2);
    });

  test('is not restarted in a loop: a second failure makes callers wait', async (t) => {
    const notes = await openNotes(t);
    const turns = await setUp(t, stdioServer('local', 'new', notes));
    await call(turns, 'local', 'crash');
    await call(turns, 'local', 'crash');
    const started = (await notes.pids()).length;
    assert.match(await call(turns, 'local', 'echo', WHOLE, ECHO), /unavailable|ended|reached/);
    assert.equal((await notes.pids()).length, started);
    const back = await until(
      () => call(turns, 'local', 'echo', WHOLE, ECHO),
      (text) => text === ECHOED,
    );
    assert.equal(back, ECHOED);
  });
});

suite('a call that takes too long', () => {
  for (const protocol of ['process', 'new', 'old'] as const)
    // @spec mcp-5
    test(`ends with a result that says so, and is cancelled at the server: ${protocol}`, async (t) => {
      const notes = await openNotes(t);
      const http = await startMcpHttpServer(protocol === 'old' ? 'old' : 'new');
      t.after(() => http.close());
      const limit = ', timeout_ms: 300';
      const turns = await setUp(
        t,
        protocol === 'process' ? stdioServer('slow', 'new', notes, limit) : httpServer('slow', http.url, limit),
      );
      assert.match(await call(turns, 'slow', 'wait'), /gave no result within 0\.3 seconds/);
      await until(
        async () => (protocol === 'process' ? notes.read() : http.notes),
        (seen) => seen.includes('cancelled'),
      );
      // The connection is as good as before.
      assert.equal(await call(turns, 'slow', 'echo', WHOLE, ECHO), ECHOED);
    });
});

suite('a caller that hangs up', () => {
  for (const protocol of ['process', 'new', 'old'] as const)
    test(`cancels the running call: ${protocol}`, async (t) => {
      const notes = await openNotes(t);
      const http = await startMcpHttpServer(protocol === 'old' ? 'old' : 'new');
      t.after(() => http.close());
      const turns = await setUp(
        t,
        protocol === 'process' ? stdioServer('slow', 'new', notes) : httpServer('slow', http.url),
      );
      const read = async (): Promise<readonly string[]> => (protocol === 'process' ? notes.read() : http.notes);
      const caller = new AbortController();
      const body = { model: 'acme/chat', stream: true, messages: [please('mcp_slow_wait')], tools: using('slow') };
      const requested = turns.gateway
        .post('/chat/completions', body, {}, caller.signal)
        .then((answer) => answer.text());
      await until(read, (seen) => seen.includes('wait'));
      caller.abort();
      await assert.rejects(requested);
      await until(read, (seen) => seen.includes('cancelled'));
      assert.equal(turns.chat.arrived.length, 1, 'there is no further turn');
    });
});

suite('a server whose tools change', () => {
  for (const protocol of ['process', 'new', 'old'] as const)
    test(`offers the new ones to the next request: ${protocol}`, async (t) => {
      const notes = await openNotes(t);
      const http = await startMcpHttpServer(protocol === 'old' ? 'old' : 'new');
      t.after(() => http.close());
      const turns = await setUp(
        t,
        protocol === 'process' ? stdioServer('alive', 'new', notes) : httpServer('alive', http.url),
      );
      await call(turns, 'alive', 'grow');
      assert.ok(!offeredLast(turns).includes('mcp_alive_later'));
      await until(
        async () => {
          await call(turns, 'alive', 'echo', WHOLE, ECHO);
          return offeredLast(turns);
        },
        (names) => names.includes('mcp_alive_later'),
      );
      assert.equal(await call(turns, 'alive', 'later'), 'It said: {"content":[{"type":"text","text":"Here I am."}]}');
    });
});

test('opens a new session when a server has forgotten it, and makes the call', async (t) => {
  const http = await startMcpHttpServer('old');
  t.after(() => http.close());
  const turns = await setUp(t, httpServer('sessions', http.url));
  assert.equal(await call(turns, 'sessions', 'echo', WHOLE, ECHO), ECHOED);
  http.forget();
  assert.equal(await call(turns, 'sessions', 'echo', WHOLE, ECHO), ECHOED);
  assert.equal(http.sessions.size, 1);
});

test('offers the last known tools of a server that is down, and a call says that it is down', async (t) => {
  const http = await startMcpHttpServer('new');
  const turns = await setUp(t, httpServer('remote', http.url));
  assert.equal(await call(turns, 'remote', 'echo', WHOLE, ECHO), ECHOED);
  await http.close();
  assert.match(await call(turns, 'remote', 'echo', WHOLE, ECHO), /The MCP server \\?"remote\\?" cannot be reached/);
  assert.ok(offeredLast(turns).includes('mcp_remote_echo'));
});

suite('a server with an invalid response', () => {
  const answering = async (t: Test, listener: RequestListener): Promise<string> => {
    const server = createServer(listener);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  };

  test('is not followed to another host, which would read its credentials', async (t) => {
    const elsewhere = await startMcpHttpServer('new');
    t.after(() => elsewhere.close());
    const url = await answering(t, (_request, response) => {
      response.writeHead(307, { location: elsewhere.url }).end();
    });
    const turns = await setUp(t, httpServer('moved', url));
    const reported = await ask(turns, WHOLE, { messages: [please('mcp_moved')], tools: using('moved') });
    assert.match(reported.text, /The MCP server \\?"moved\\?"/);
    assert.deepEqual(elsewhere.headers, []);
  });

  test('fails no request with a web page, or a message beyond the limit', async (t) => {
    const page = await answering(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    });
    const flood = await answering(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(1_048_576, 32)));
      };
      response.on('drain', more);
      more();
    });
    const turns = await setUp(t, httpServer('page', page) + httpServer('flood', flood));
    for (const name of ['page', 'flood']) {
      const reported = await ask(turns, WHOLE, { messages: [please(`mcp_${name}`)], tools: using(name) });
      assert.match(reported.text, new RegExp(`The MCP server \\\\?"${name}\\\\?"`));
    }
  });
});

suite('the end of the gateway', () => {
  const stopped = async (t: Test, entry: (notes: Notes) => string): Promise<readonly string[]> => {
    const notes = await openNotes(t);
    const turns = await setUp(t, entry(notes));
    await call(turns, 'local', 'echo', WHOLE, ECHO);
    const pids = await notes.pids();
    assert.equal(pids.filter(isAlive).length, 1);
    await turns.gateway.app.close();
    // What was killed with its whole group is gone a moment later.
    await until(
      () => pids.filter(isAlive),
      (alive) => alive.length === 0,
    );
    return notes.read();
  };

  // @spec mcp-11
  test('leaves no process of a server', async (t) => {
    await stopped(t, (notes) => stdioServer('local', 'new', notes));
  });

  test('kills a process that does not exit', async (t) => {
    const notes = await stopped(t, (notes_) => stdioServer('local', 'stubborn', notes_));
    assert.ok(notes.includes('got SIGTERM'));
  });

  test('ends what a wrapper started, too', async (t) => {
    await stopped(t, (notes) => {
      const line = `${stdioCommand('stubborn').join(' ')}; true`;
      const env = `{ MCP_NOTES: "${notes.path}" }`;
      return `  local: { command: sh, args: ["-c", "${line}"], env: ${env} }\n`;
    });
  });

  // @spec mcp-11
  test('closes sessions', async (t) => {
    const http = await startMcpHttpServer('old');
    t.after(() => http.close());
    const turns = await setUp(t, httpServer('sessions', http.url));
    await call(turns, 'sessions', 'echo', WHOLE, ECHO);
    assert.equal(http.sessions.size, 1);
    await turns.gateway.app.close();
    assert.equal(http.sessions.size, 0);
  });

  test('finds no process for a server that was never used', async (t) => {
    const notes = await openNotes(t);
    const turns = await setUp(t, stdioServer('local', 'new', notes));
    await turns.gateway.app.close();
    await wait(0);
    assert.deepEqual(await notes.read(), []);
  });
});
