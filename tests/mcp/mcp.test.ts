import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { suite, test } from 'node:test';
import { DEFAULT_WORKSPACE_ID } from '../../src/accounts/principal.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { setFilters } from '../guardrails/filtered-gateway.ts';
import { API_KEY } from '../support/gateway.ts';
import { startMcpHttpServer, type McpHttpServer } from '../support/mcp/http-server.ts';
import { httpServer, obedient, openNotes, please, stdioServer, type Notes } from '../support/mcp/run.ts';
import { ODD_SCHEMA, PICTURE } from '../support/mcp/tools.ts';
import { messageOf } from '../support/next-turn.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { ask, ASKINGS, nameOf, recordOf, startToolTurns, type Asking, type ToolTurns } from '../support/tool-turns.ts';

type Test = Parameters<typeof openNotes>[0];

interface Setup extends ToolTurns {
  readonly notes: Notes;
  readonly http: McpHttpServer;
  readonly old: McpHttpServer;
}

const KEY_HASH = createHash('sha256').update(API_KEY).digest('hex');

/** Servers of all kinds, none of which starts before a request names it. */
async function start(t: Test): Promise<Setup> {
  const notes = await openNotes(t);
  const [http, old] = [await startMcpHttpServer('new'), await startMcpHttpServer('old')];
  const turns = await startToolTurns(t, obedient, {
    yaml: `
  acme/blind: { input_modalities: [text], endpoints: [{ provider: chatty, model: two, price: { prompt: 1, completion: 2 } }] }
mcp_servers:
${stdioServer('local', 'new', notes)}${stdioServer('fragile', 'fragile', notes)}${stdioServer('broken', 'broken', notes)}
${httpServer('remote', http.url)}${httpServer('sessions', old.url)}
${httpServer('narrow', http.url, ', tools: ["a*", "echo"]')}
${httpServer('private', http.url, `, keys: ["${KEY_HASH.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))}"]`)}
${httpServer('mine', http.url, `, keys: ["${KEY_HASH}"], workspaces: []`)}
${httpServer('ours', http.url, `, keys: [], workspaces: ["${DEFAULT_WORKSPACE_ID}"]`)}
${httpServer('off', http.url, ', enabled: false')}`,
  });
  t.after(async () => {
    await Promise.all([http.close(), old.close()]);
  });
  return { ...turns, notes, http, old };
}

const WHOLE: Asking = { format: 'chat', model: 'acme/chat', stream: false };

function using(server: string, more: object = {}): readonly object[] {
  return [{ type: 'service:mcp', parameters: { server, ...more } }];
}

/** Names of the functions that the model was offered with this request. */
function offeredIn(body: Readonly<Record<string, unknown>> | undefined): readonly unknown[] {
  return listOf((body?.['tools'] ?? []) as JsonObject[]).map((one) => {
    const tool = objectOf(one);
    return objectOf(tool['function'] ?? tool)['name'];
  });
}

/** A member that is text. */
function textOf(value: unknown): string {
  assert.ok(typeof value === 'string');
  return value;
}

const NAMES = ['add', 'echo', 'fail', 'picture', 'wait', 'crash', 'environment', 'grow'];

// @spec mcp-1
test('offers each tool of a server as a function, for every caller and every upstream', async (t) => {
  const setup = await start(t);
  for (const server of ['local', 'remote', 'sessions', 'fragile'])
    for (const asking of ASKINGS) {
      const stated = `${server}, ${nameOf(asking)}`;
      const { arrived } = asking.model === 'acme/chat' ? setup.chat : setup.messages;
      const first = arrived.length;
      const reported = await ask(setup, asking, {
        messages: [please(`mcp_${server}_add`, { a: 2, b: 3 })],
        tools: using(server),
      });
      assert.equal(reported.text, 'It said: {"content":[],"structured_content":{"sum":5}}', stated);
      const offered = offeredIn(arrived[first]?.body);
      for (const name of NAMES) assert.ok(offered.includes(`mcp_${server}_${name}`), `${stated}: ${name}`);
    }
  assert.equal(
    (await setup.notes.pids()).length,
    3,
    'one process serves all requests; one exited on too many messages',
  );
});

// @spec mcp-2
test('sends schemas to the model as the server wrote them, under a name that every vendor accepts', async (t) => {
  const setup = await start(t);
  await ask(setup, WHOLE, { messages: [please('mcp_remote_echo', { words: 'x' })], tools: using('remote') });
  const odd = listOf(setup.chat.arrived[0]?.body['tools'] as JsonObject[])
    .map((tool) => objectOf(objectOf(tool)['function']))
    .find(({ description }) => description === 'Odd.');
  assert.deepEqual(odd?.['parameters'], ODD_SCHEMA);
  assert.match(textOf(odd?.['name']), /^mcp_remote_odd_name_[0-9a-f]{8}$/);
  const reported = await ask(setup, WHOLE, {
    messages: [please(textOf(odd?.['name']), { tree: {}, meta_x: 'y' })],
    tools: using('remote'),
  });
  assert.match(reported.text, /\\"meta_x\\":\\"y\\"/);
});

test('shows the caller each call with its result', async (t) => {
  const setup = await start(t);
  const requested = { messages: [please('mcp_local_echo', { words: 'hello' })], tools: using('local') };
  const chat = await ask(setup, { ...WHOLE, stream: true }, requested);
  const [detail] = listOf(chat.message['reasoning_details']).map((one) => objectOf(one));
  assert.equal(detail?.['tool_name'], 'service:mcp');
  assert.equal(detail?.['function_name'], 'mcp_local_echo');
  assert.equal(detail?.['result'], '{"content":[{"type":"text","text":"hello"}]}');
  assert.deepEqual(objectOf(chat.usage['server_tool_use_details'] ?? {})['tool_calls_executed'], 1);
  const messages = await ask(setup, { ...WHOLE, format: 'messages' }, requested);
  const [use, result] = listOf(messages.message['content']).map((one) => objectOf(one));
  assert.deepEqual([use?.['type'], use?.['name']], ['server_tool_use', 'mcp_local_echo']);
  assert.deepEqual(
    [result?.['type'], result?.['content'], result?.['tool_use_id'] === use?.['id']],
    ['service_mcp_tool_result', { content: [{ type: 'text', text: 'hello' }] }, true],
  );
});

for (const asking of ASKINGS)
  test(`restores the turns of a response that comes back: ${nameOf(asking)}`, async (t) => {
    const setup = await start(t);
    const { arrived } = asking.model === 'acme/chat' ? setup.chat : setup.messages;
    const user = please('mcp_remote_echo', { words: 'hello' });
    const reported = await ask(setup, asking, { messages: [user], tools: using('remote') });
    const before = JSON.stringify(arrived.at(-1)?.body['messages']).slice(0, -1);
    const next = please('mcp_remote_echo', { words: 'again' });
    await ask(setup, asking, { messages: [user, messageOf(asking.format, reported), next], tools: using('remote') });
    const after = JSON.stringify(arrived.at(-2)?.body['messages']);
    assert.ok(after.startsWith(before), `${before}\n${after}`);
  });

suite('the result of a call', () => {
  // @spec mcp-5
  test('is an error for the model when a tool fails, and the request continues', async (t) => {
    const setup = await start(t);
    const reported = await ask(setup, WHOLE, { messages: [please('mcp_remote_fail')], tools: using('remote') });
    assert.equal(reported.text, 'It said: Error: {"status":"error","error":"There is no such city."}');
  });

  test("is the server's own error for invalid arguments", async (t) => {
    const setup = await start(t);
    const reported = await ask(setup, WHOLE, {
      messages: [please('mcp_remote_add', { a: 'x' })],
      tools: using('remote'),
    });
    assert.match(reported.text, /Error: .*Invalid arguments for tool add/);
  });

  test('comes from numbers that reach the server as the model wrote them', async (t) => {
    const setup = await start(t);
    const content = 'CALL mcp_local_echo {"words":"x","size":12345678901234567890,"half":0.50}';
    await ask(setup, WHOLE, { messages: [{ role: 'user', content }], tools: using('local') });
    const [line = ''] = (await setup.notes.read()).filter((note) => note.startsWith('wire '));
    assert.ok(line.includes('{"words":"x","size":12345678901234567890,"half":0.50}'), line);
  });

  test('shows images to a model, and describes them with all other content', async (t) => {
    const setup = await start(t);
    const requested = { messages: [please('mcp_remote_picture')], tools: using('remote') };
    const reported = await ask(setup, { ...WHOLE, model: 'acme/messages' }, requested);
    const [result] = listOf(reported.message['reasoning_details']).map((one) => objectOf(one)['result']);
    assert.deepEqual(JSON.parse(textOf(result)), {
      content: [
        { type: 'text', text: 'A dot.' },
        { type: 'image', mime_type: 'image/png', bytes: 70 },
        { type: 'resource', uri: 'file:///notes.txt', mime_type: 'text/plain', text: 'Notes.' },
        { type: 'resource_link', uri: 'file:///more.txt', name: 'more' },
        { type: 'audio', mime_type: 'audio/wav', bytes: 3 },
      ],
    });
    assert.ok(setup.messages.arrived[1]?.text.includes(PICTURE));
    await ask(setup, WHOLE, requested);
    assert.ok(setup.chat.arrived[1]?.text.includes(`data:image/png;base64,${PICTURE}`));
  });

  test('is only a description of images for a model without image input', async (t) => {
    const setup = await start(t);
    const reported = await ask(
      setup,
      { ...WHOLE, model: 'acme/blind' },
      {
        messages: [please('mcp_remote_picture')],
        tools: using('remote'),
      },
    );
    assert.match(reported.text, /"type":"image","mime_type":"image\/png"/);
    assert.ok(!setup.chat.arrived[1]?.text.includes(PICTURE));
  });
});

suite('a server that does not respond', () => {
  for (const asking of ASKINGS)
    // @spec mcp-6
    test(`fails no request: the model reads that it is unavailable (${nameOf(asking)})`, async (t) => {
      const setup = await start(t);
      const reported = await ask(
        setup,
        asking,
        { messages: [please('mcp_broken')], tools: [...using('broken'), ...using('remote')] },
        { 'x-service-metadata': 'enabled' },
      );
      assert.equal(reported.status, 200);
      assert.match(reported.text, /The MCP server \\?"broken\\?" cannot be reached\./);
      const { arrived } = asking.model === 'acme/chat' ? setup.chat : setup.messages;
      assert.ok(offeredIn(arrived[0]?.body).includes('mcp_remote_add'), 'the others are there');
    });

  // @spec mcp-6
  test('is reported in the metadata without a call', async (t) => {
    const { gateway } = await start(t);
    const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }], tools: using('broken') };
    const answer = await gateway.post('/chat/completions', body, { 'x-service-metadata': 'enabled' });
    assert.equal(answer.status, 200);
    const text = await answer.text();
    assert.match(text, /tools\[0\]\.parameters\.server/);
    assert.match(text, /The MCP server \\"broken\\" cannot be reached/);
  });
});

suite('the offered tools', () => {
  // @spec mcp-3
  test('are only those that the operator allows', async (t) => {
    const setup = await start(t);
    await ask(setup, WHOLE, { messages: [please('mcp_narrow_add', { a: 1, b: 1 })], tools: using('narrow') });
    assert.deepEqual(offeredIn(setup.chat.arrived[0]?.body), ['mcp_narrow_add', 'mcp_narrow_echo']);
  });

  // @spec mcp-3
  test('are only those that the caller selects, and an unknown one is reported', async (t) => {
    const setup = await start(t);
    const answer = await setup.gateway.post(
      '/chat/completions',
      {
        model: 'acme/chat',
        messages: [please('mcp_remote_echo', { words: 'x' })],
        tools: using('remote', { allowed_tools: ['echo', 'no_such'] }),
      },
      { 'x-service-metadata': 'enabled' },
    );
    assert.match(await answer.text(), /tools\[0\]\.parameters\.allowed_tools\[1\]/);
    assert.deepEqual(offeredIn(setup.chat.arrived[0]?.body), ['mcp_remote_echo']);
  });

  // @spec mcp-8
  test('can be forced by name or by type, in the first turn', async (t) => {
    const setup = await start(t);
    const choose = async (choice: object): Promise<unknown> => {
      const first = setup.chat.arrived.length;
      const messages = [please('mcp_remote_echo', { words: 'x' })];
      await ask(setup, WHOLE, { messages, tools: using('remote'), tool_choice: choice });
      return setup.chat.arrived[first]?.body['tool_choice'];
    };
    const echo = { type: 'function', function: { name: 'mcp_remote_echo' } };
    assert.deepEqual(await choose(echo), echo);
    assert.equal(await choose({ type: 'service:mcp' }), 'required');
    assert.equal(await choose({ type: 'function', function: { name: 'mcp_remote_no_such' } }), undefined);
  });

  // @spec mcp-8
  test('can be the type in a stop rule, which covers all of them', async (t) => {
    const setup = await start(t);
    const stop = [{ type: 'has_tool_call', tool_name: 'service:mcp' }];
    const messages = [please('mcp_remote_echo', { words: 'x' })];
    await ask(setup, WHOLE, { messages, tools: using('remote'), stop_server_tools_when: stop });
    assert.equal(setup.chat.arrived[1]?.body['tool_choice'], 'none');
  });

  test('are included in token counts', async (t) => {
    const { gateway } = await start(t);
    const count = async (tools: readonly object[]): Promise<number> => {
      const messages = [{ role: 'user', content: 'Hi' }];
      const answer = await gateway.post('/messages/count_tokens', { model: 'acme/chat', messages, tools });
      return ((await answer.json()) as { readonly input_tokens: number }).input_tokens;
    };
    assert.ok((await count(using('remote'))) > (await count(using('remote', { allowed_tools: ['add'] }))));
  });
});

suite('access to a server', () => {
  const refused: readonly (readonly [name: string, tools: readonly object[], status: number, path: string])[] = [
    ['a server that there is not', using('nowhere'), 400, 'tools[0].parameters.server'],
    ['a server that is switched off', using('off'), 400, 'tools[0].parameters.server'],
    ['a server that is for other keys', using('private'), 403, 'tools[0].parameters.server'],
    ['a server twice', [...using('remote'), ...using('remote')], 400, 'tools[1].parameters.server'],
    ['no server at all', [{ type: 'service:mcp' }], 400, 'tools[0].parameters.server'],
    ['an address of the caller', using('x', { url: 'http://127.0.0.1:1' }), 400, 'tools[0].parameters'],
  ];
  for (const [name, tools, status, path] of refused)
    // @spec mcp-1, mcp-4
    test(`is ${status} at its place: ${name}`, async (t) => {
      const { gateway, chat } = await start(t);
      for (const route of ['/chat/completions', '/messages']) {
        const body = { model: 'acme/chat', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], tools };
        const answer = await gateway.post(route, body);
        const text = await answer.text();
        assert.equal(answer.status, status, text);
        assert.ok(text.includes(path), text);
      }
      assert.equal(chat.arrived.length, 0);
    });

  // @spec mcp-4
  test('is open to a listed key, and to every key of a listed workspace', async (t) => {
    const setup = await start(t);
    for (const server of ['mine', 'ours']) {
      const messages = [please(`mcp_${server}_echo`, { words: 'x' })];
      const reported = await ask(setup, WHOLE, { messages, tools: using(server) });
      assert.equal(reported.text, 'It said: {"content":[{"type":"text","text":"x"}]}');
    }
  });
});

// @spec mcp-9
test('passes a server its entry, and of the environment only the path of programs', async (t) => {
  const setup = await start(t);
  const reported = await ask(setup, WHOLE, { messages: [please('mcp_local_environment')], tools: using('local') });
  const names = /"text":"([^"]*)"/.exec(reported.text)?.[1]?.split(' ') ?? [];
  const known = ['MCP_NOTES', 'MCP_TOKEN', 'NODE_COMPILE_CACHE', 'PATH', 'HOME'];
  assert.deepEqual(
    names.filter((name) => !known.includes(name)),
    [],
  );
  assert.ok(names.includes('MCP_TOKEN'));
  await ask(setup, WHOLE, { messages: [please('mcp_remote_echo', { words: 'x' })], tools: using('remote') });
  assert.ok(setup.http.headers.every(({ authorization }) => authorization === 'Bearer a-secret-of-the-server'));
});

// @spec mcp-10
test('applies content filters to results before a model reads them', async (t) => {
  const setup = await start(t);
  await setFilters(setup.gateway, { content_filter_builtins: [{ slug: 'email', action: 'redact' }] });
  const reported = await ask(setup, WHOLE, { messages: [please('mcp_remote_contact')], tools: using('remote') });
  assert.match(reported.text, /Ann is \[EMAIL\]\./);
  assert.ok(setup.chat.arrived.every(({ text }) => !text.includes('ann@example.com')));
});

test('counts calls like those of other tools', async (t) => {
  const setup = await start(t);
  const reported = await ask(setup, WHOLE, {
    messages: [please('mcp_remote_echo', { words: 'x' })],
    tools: using('remote'),
  });
  assert.equal((await recordOf(setup.gateway, reported.id)).id, reported.id);
  assert.deepEqual(reported.usage['server_tool_use_details'], {
    tool_calls_requested: 1,
    tool_calls_executed: 1,
    web_search_requests: 0,
  });
});
