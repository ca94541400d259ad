import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { httpServer, obedient, openNotes, stdioServer } from '../support/mcp/run.ts';
import { startMcpHttpServer } from '../support/mcp/http-server.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { startToolTurns, type ToolTurns } from '../support/tool-turns.ts';
import { checkStream, lastResponse } from '../support/wire/responses/stream-checker.ts';

type Test = Parameters<typeof openNotes>[0];

interface Setup extends ToolTurns {
  readonly respond: (input: readonly Json[], more?: JsonObject) => Promise<readonly JsonObject[]>;
  readonly stream: (input: readonly Json[]) => Promise<string>;
}

const TOOLS = [{ type: 'mcp', server_label: 'notes', require_approval: 'never' }];
const please = (call: string): JsonObject => ({ role: 'user', content: `CALL ${call}` });
const ECHO = please('mcp_notes_echo {"words":"hello"}');

async function start(t: Test, tools: readonly Json[] = TOOLS): Promise<Setup> {
  const http = await startMcpHttpServer('new');
  t.after(() => http.close());
  const notes = await openNotes(t);
  const turns = await startToolTurns(t, obedient, {
    yaml: `mcp_servers:\n${httpServer('notes', http.url)}${stdioServer('broken', 'broken', notes)}`,
  });
  const post = (input: readonly Json[], more: JsonObject): Promise<Response> =>
    turns.gateway.post('/responses', { model: 'acme/chat', store: false, tools, input, ...more });
  return {
    ...turns,
    async respond(input, more = {}) {
      const response = await post(input, more);
      const body = objectOf((await response.json()) as Json);
      assert.equal(response.status, 200, JSON.stringify(body));
      return listOf(body['output'] as Json[]).map((item) => objectOf(item));
    },
    stream: async (input) => (await post(input, { stream: true })).text(),
  };
}

const typesOf = (items: readonly JsonObject[]): readonly unknown[] => items.map(({ type }) => type);

// @spec responses-138
suite('a server that the caller names as the vendor does', () => {
  test("shows its tools once, and its calls as the vendor's items", async (t) => {
    const { respond } = await start(t);
    const [list, call, message] = await respond([ECHO]);
    assert.deepEqual(typesOf([list ?? {}, call ?? {}, message ?? {}]), ['mcp_list_tools', 'mcp_call', 'message']);
    assert.match(JSON.stringify(list?.['id']), /^"mcpl_/);
    assert.equal(list?.['server_label'], 'notes');
    const echo = listOf(list['tools'] as Json[])
      .map((tool) => objectOf(tool))
      .find(({ name }) => name === 'echo');
    assert.equal(typeof objectOf(echo?.['input_schema'] ?? {})['type'], 'string');
    assert.match(JSON.stringify(call?.['id']), /^"mcp_/);
    const { id: _id, call_id: callId, ...members } = call ?? {};
    assert.equal(typeof callId, 'string');
    assert.deepEqual(members, {
      type: 'mcp_call',
      approval_request_id: null,
      arguments: '{"words":"hello"}',
      error: null,
      name: 'echo',
      output: '{"content":[{"type":"text","text":"hello"}]}',
      server_label: 'notes',
      status: 'completed',
      turn: 0,
    });
  });

  test("streams them by the vendor's events", async (t) => {
    const { stream } = await start(t);
    const streamed = await stream([ECHO]);
    const events = checkStream(streamed);
    const seen = events.map(({ name }) => name);
    assert.deepEqual(
      seen.filter((name) => name.startsWith('mcp_')),
      [
        'mcp_list_tools.in_progress',
        'mcp_list_tools.completed',
        'mcp_call.in_progress',
        'mcp_call_arguments.delta',
        'mcp_call_arguments.done',
        'mcp_call.completed',
      ],
    );
    const output = listOf(lastResponse(events)['output'] as Json[]).map((item) => objectOf(item));
    assert.deepEqual(typesOf(output), ['mcp_list_tools', 'mcp_call', 'message']);
  });

  test('gives the model the same turns when the items come back', async (t) => {
    const setup = await start(t);
    const { arrived } = setup.chat;
    const output = await setup.respond([ECHO]);
    const before = JSON.stringify(arrived.at(-1)?.body['messages']).slice(0, -1);
    const again = await setup.respond([ECHO, ...output, please('mcp_notes_echo {"words":"again"}')]);
    const after = JSON.stringify(arrived.at(-2)?.body['messages']);
    assert.ok(after.startsWith(before), `${before}\n${after}`);
    assert.deepEqual(typesOf(again), ['mcp_list_tools', 'mcp_call', 'message']);
    assert.doesNotMatch(after, /mcp_list_tools/);
  });

  test('tells the call and its result to a model whose request does not name the server again', async (t) => {
    const setup = await start(t);
    const output = await setup.respond([ECHO]);
    await setup.respond([ECHO, ...output, { role: 'user', content: 'Go on.' }], { tools: [] });
    const sent = JSON.stringify(setup.chat.arrived.at(-1)?.body['messages']);
    assert.match(sent, /mcp_notes_echo/);
    assert.match(sent, /hello/);
  });

  test('says in its item why its tools are not known, and why a call failed', async (t) => {
    const setup = await start(t, [...TOOLS, { type: 'mcp', server_label: 'broken' }]);
    const [, broken, call] = await setup.respond([please('mcp_notes_fail {}')]);
    assert.deepEqual([broken?.['server_label'], broken?.['tools']], ['broken', []]);
    assert.equal(typeof broken?.['error'], 'string');
    assert.deepEqual([call?.['status'], call?.['output']], ['failed', null]);
    assert.match(JSON.stringify(call?.['error']), /There is no such city/);
  });
});

test("shows a server that the caller names as the gateway's tool by the gateway's item", async (t) => {
  const { respond } = await start(t, [{ type: 'service:mcp', parameters: { server: 'notes' } }]);
  assert.deepEqual(typesOf(await respond([ECHO])), ['service:mcp', 'message']);
});
