import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import type { ToolOutcome } from '../../src/tools/contract.ts';
import { messageOf } from '../support/next-turn.ts';
import { readChatStream } from '../support/http/read-stream.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { ask, ASKINGS, nameOf, startToolTurns, testTool, type Asking, type Model } from '../support/tool-turns.ts';
import { json } from '../support/upstream.ts';

const SEARCH = [{ type: 'service:web_search' }];
const HITS = [{ url: 'https://a.example/1', title: 'One', content: 'The first page.' }];
const FOUND: ToolOutcome = {
  result: HITS,
  searches: 1,
  citations: HITS.map(({ url, title, content }) => ({ type: 'url', url, title, excerpt: content })),
};

const search = (outcome: ToolOutcome) => testTool('web_search', () => Promise.resolve(outcome));
const searches: Model = (_arrived, at) =>
  at === 0 ? { calls: [{ name: 'service_web_search', input: '{"query":"one"}' }] } : { text: 'It is one.' };

const blocksOf = (message: JsonObject): readonly JsonObject[] =>
  listOf(message['content']).map((block) => objectOf(block));

suite('sources of a search', () => {
  for (const asking of ASKINGS) {
    // @spec tool-19
    test(`are in the response, and the search is counted: ${nameOf(asking)}`, async (t) => {
      const turns = await startToolTurns(t, searches, { serverTools: [search(FOUND)] });
      const reported = await ask(turns, asking, { tools: SEARCH });
      assert.equal(reported.text, 'It is one.');
      if (asking.format === 'chat') {
        assert.deepEqual(reported.message['annotations'], [
          {
            type: 'url_citation',
            url_citation: {
              url: 'https://a.example/1',
              title: 'One',
              start_index: 0,
              end_index: 10,
              content: 'The first page.',
            },
          },
        ]);
        assert.deepEqual(reported.usage['server_tool_use_details'], {
          tool_calls_requested: 1,
          tool_calls_executed: 1,
          web_search_requests: 1,
        });
        assert.deepEqual(reported.usage['server_tool_use'], { web_search_requests: 1 });
        return;
      }
      const [call, result, text] = blocksOf(reported.message);
      assert.equal(call?.['name'], 'web_search');
      assert.deepEqual(result, {
        type: 'web_search_tool_result',
        tool_use_id: call?.['id'],
        caller: { type: 'direct' },
        content: [
          {
            type: 'web_search_result',
            url: 'https://a.example/1',
            title: 'One',
            encrypted_content: 'The first page.',
            page_age: null,
          },
        ],
      });
      const [citation] = listOf(text?.['citations']).map((one) => objectOf(one));
      assert.equal(citation?.['type'], 'web_search_result_location');
      assert.equal(citation?.['url'], 'https://a.example/1');
      assert.deepEqual(reported.usage['server_tool_use'], { web_search_requests: 1, web_fetch_requests: 0 });
    });
  }

  test('come in a delta before the last one', async (t) => {
    const { gateway } = await startToolTurns(t, searches, { serverTools: [search(FOUND)] });
    const body = { model: 'acme/chat', stream: true, messages: [{ role: 'user', content: 'Go.' }], tools: SEARCH };
    const { chunks } = readChatStream(await (await gateway.post('/chat/completions', body)).text());
    const deltas = (chunks as readonly JsonObject[]).map((chunk) =>
      objectOf(objectOf(listOf(chunk['choices'])[0])['delta']),
    );
    const at = deltas.findIndex(({ annotations }) => annotations !== undefined);
    const text = deltas.findLastIndex(({ content }) => typeof content === 'string' && content !== '');
    assert.ok(text < at && at < deltas.length - 2, 'after the text, before the chunks of the end and of the usage');
  });

  test('come back with the next request as what the model read', async (t) => {
    const asking: Asking = { format: 'messages', model: 'acme/messages', stream: true };
    const turns = await startToolTurns(t, searches, { serverTools: [search(FOUND)] });
    const reported = await ask(turns, asking, { tools: SEARCH });
    const messages = [
      { role: 'user', content: 'Go.' },
      messageOf('messages', reported),
      { role: 'user', content: 'Why?' },
    ];
    await ask(turns, asking, { tools: SEARCH, messages });
    const sent = turns.messages.arrived.map(({ body }) => listOf(body['messages'] as JsonObject[]));
    assert.deepEqual(sent[2]?.slice(0, 3), sent[1], 'the same conversation, as a prompt cache knows it');
  });

  test('have the error of the format for a failed search', async (t) => {
    const failed: ToolOutcome = {
      result: { status: 'error', error: 'no quota' },
      failed: true,
      errorCode: 'too_many_requests',
    };
    const turns = await startToolTurns(t, searches, { serverTools: [search(failed)] });
    const reported = await ask(turns, { format: 'messages', model: 'acme/chat', stream: false }, { tools: SEARCH });
    assert.deepEqual(blocksOf(reported.message)[1]?.['content'], {
      type: 'web_search_tool_result_error',
      error_code: 'too_many_requests',
      error_message: 'no quota',
    });
  });
});

// @spec tool-19
test("adds a tool's images to the response", async (t) => {
  const picture = testTool('image_generation', () =>
    Promise.resolve({
      result: { status: 'ok', imageUrl: 'data:image/png;base64,AAAA' },
      modelReads: [{ type: 'text', text: 'The picture is shown to the user.' }],
      media: [{ type: 'media', media: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' } }],
    }),
  );
  const model: Model = (_arrived, at) =>
    at === 0 ? { calls: [{ name: 'service_image_generation' }] } : { text: 'Here it is.' };
  for (const stream of [true, false]) {
    const turns = await startToolTurns(t, model, { serverTools: [picture] });
    const reported = await ask(
      turns,
      { format: 'chat', model: 'acme/chat', stream },
      { tools: [{ type: 'service:image_generation' }] },
    );
    const [image] = listOf(reported.message['images']).map((one) => objectOf(one));
    assert.deepEqual(image?.['image_url'], { url: 'data:image/png;base64,AAAA' });
    assert.match(turns.chat.arrived[1]?.text ?? '', /The picture is shown/);
    assert.doesNotMatch(turns.chat.arrived[1]?.text ?? '', /AAAA/, 'the model does not read the bytes');
  }
});

suite('a tool that the endpoint runs itself', () => {
  const native = testTool('web_search', () => Promise.resolve(FOUND), {
    nativeTool: (_parameters, { runsNativeTools }) =>
      runsNativeTools ? { type: 'web_search_20250305', name: 'web_search' } : undefined,
  });
  const VENDOR = { serverTools: [native], yaml: '' };
  const answered = json(200, {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-6',
    content: [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'one' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
      { type: 'text', text: 'Found by the vendor.' },
    ],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5, server_tool_use: { web_search_requests: 1 } },
  });

  // @spec tool-5
  test('is sent as its own, and does not run in the gateway', async (t) => {
    const turns = await startToolTurns(t, () => answered, VENDOR);
    const body = {
      model: 'acme/messages',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Go.' }],
      tools: SEARCH,
      tool_choice: { type: 'tool', name: 'service:web_search' },
    };
    const answer = await turns.gateway.post('/messages', body, { 'x-service-metadata': 'enabled' });
    const reported = objectOf((await answer.json()) as JsonObject);
    assert.equal(turns.messages.arrived.length, 1);
    assert.deepEqual(turns.messages.arrived[0]?.body['tools'], [{ type: 'web_search_20250305', name: 'web_search' }]);
    assert.deepEqual(turns.messages.arrived[0]?.body['tool_choice'], { type: 'tool', name: 'web_search' });
    assert.equal(blocksOf(reported)[2]?.['text'], 'Found by the vendor.');
    const stages = listOf(objectOf(reported['service_metadata'])['pipeline']).map((stage) => objectOf(stage));
    assert.deepEqual(stages.find(({ type }) => type === 'server_tools')?.['data'], {
      mode: 'native',
      tools: ['service:web_search'],
    });
  });

  // @spec web-3
  test('runs in the gateway for an endpoint without it', async (t) => {
    const turns = await startToolTurns(t, searches, VENDOR);
    const reported = await ask(turns, { format: 'chat', model: 'acme/chat', stream: true }, { tools: SEARCH });
    assert.equal(reported.text, 'It is one.');
    assert.equal(turns.chat.arrived.length, 2);
  });
});

test("replaces a vendor's tool by the gateway's for other hosts", async (t) => {
  const own = testTool('web_search', () => Promise.resolve(FOUND), {
    readNativeTool: ({ type, max_uses: uses = null }) =>
      type === 'web_search_20250305' ? { max_uses: uses } : undefined,
  });
  const turns = await startToolTurns(t, searches, { serverTools: [own] });
  const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }];
  const choice = { tool_choice: { type: 'tool', name: 'web_search' } };
  const reported = await ask(turns, { format: 'messages', model: 'acme/chat', stream: true }, { tools, ...choice });
  assert.equal(reported.text, 'It is one.');
  assert.deepEqual(turns.chat.arrived[0]?.body['tool_choice'], {
    type: 'function',
    function: { name: 'service_web_search' },
  });
  assert.equal(blocksOf(reported.message)[1]?.['type'], 'web_search_tool_result');
  const explained = await turns.gateway.post(
    '/route/explain',
    { model: 'acme/chat', max_tokens: 9, messages: [{ role: 'user', content: 'Go.' }], tools },
    { 'anthropic-version': '2023-06-01' },
  );
  const { candidates } = objectOf((await explained.json()) as JsonObject);
  assert.equal(listOf(candidates).length, 1, 'the route is explained as it is served');
});
