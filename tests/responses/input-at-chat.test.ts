import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { chatChunkSchema, chatResultSchema } from '../../src/wire/chat/response/response-schema.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { textOf } from '../../src/wire/json-fields.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { emit, speak } from '../support/upstreams/speak.ts';

const PATCH = '*** Begin Patch\n+\t"quoted" \\u0041 🌊\n*** End Patch';
const CUSTOM = {
  type: 'custom',
  name: 'apply_patch',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: A' },
};
const CALLED = speak({
  parts: [
    { type: 'text', text: 'I patch.' },
    { type: 'call', id: 'call_a', name: 'apply_patch', input: JSON.stringify({ input: PATCH }) },
  ],
});

interface Opened {
  readonly gateway: RunningGateway;
  readonly upstream: ScriptedUpstream;
  readonly ask: (body: JsonObject, status?: number) => Promise<JsonObject>;
}

/** One model each behind the formats of chat, messages and responses. */
async function open(t: { after(close: () => Promise<void>): void }): Promise<Opened> {
  const upstream = await startUpstream(emit('Done.'));
  const gateway = await startGateway({
    yaml: `
providers:
  openai: { adapter: openai, base_url: "${upstream.baseUrl}", api_key: upstream-secret }
  claude: { adapter: anthropic, base_url: "${upstream.baseUrl}", api_key: upstream-secret }
  plain: { adapter: openai-compatible, base_url: "${upstream.baseUrl}", api_key: upstream-secret }
models:
  acme/chat: { endpoints: [{ provider: plain, model: one, price: { prompt: 1, completion: 2 } }] }
  acme/messages: { endpoints: [{ provider: claude, model: claude-sonnet-4-5, price: { prompt: 1, completion: 2 } }] }
  acme/responses: { endpoints: [{ provider: openai, model: gpt-5.4-pro, price: { prompt: 1, completion: 2 } }] }
`,
  });
  t.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  return {
    gateway,
    upstream,
    async ask(body, status = 200) {
      const response = await gateway.post('/chat/completions', body);
      const text = await response.text();
      assert.equal(response.status, status, text);
      return JSON.parse(text) as JsonObject;
    },
  };
}

function messageOf(result: JsonObject): JsonObject {
  return objectOf(objectOf(listOf(chatResultSchema.parse(result).choices as unknown as Json)[0])['message']);
}

/** Of the first fault of a refused body. */
function faultOf({ error }: JsonObject): Json | undefined {
  return objectOf(listOf(objectOf(objectOf(error)['metadata'])['issues'])[0])['path'];
}

suite('bodies of the responses format at POST /chat/completions', () => {
  // @spec chat-45, responses-pains-44
  test('get the response of chat, whole and in chunks', async (t) => {
    const { gateway, upstream, ask } = await open(t);
    for (const model of ['acme/chat', 'acme/messages', 'acme/responses']) {
      const body = {
        model,
        instructions: 'Be brief.',
        input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
        tools: [{ type: 'function', name: 'ls', parameters: { type: 'object', properties: {} } }],
        max_output_tokens: 500,
      };
      assert.equal(messageOf(await ask(body))['content'], 'Done.');
      assert.match(upstream.arrived.at(-1)?.text ?? '', /Be brief\..*Hello/s);
      const stream = await gateway.post('/chat/completions', { ...body, stream: true });
      const data = [...(await stream.text()).matchAll(/^data: (.+)$/gm)].map(([, text]) => text ?? '');
      assert.equal(data.pop(), '[DONE]');
      const chunks = data.map((text) => chatChunkSchema.parse(JSON.parse(text)));
      assert.equal(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), 'Done.');
    }
  });

  // @spec chat-45, responses-pains-44
  test('are refused with the path of what only /responses can do', async (t) => {
    const { ask } = await open(t);
    const body = { model: 'acme/chat', input: 'Hello' };
    for (const [member, value] of [
      ['previous_response_id', 'resp_1'],
      ['store', true],
      ['background', true],
    ] as const)
      assert.equal(faultOf(await ask({ ...body, [member]: value }, 400)), member);
    const wrong = await ask({ model: 'acme/chat', input: [{ role: 'nobody' }] }, 400);
    assert.equal(faultOf(wrong), 'input[0].role');
    const both = await ask({ ...body, messages: [] }, 400);
    assert.equal(faultOf(both), 'messages');
    const trigger = [{ role: 'user', content: 'Hello' }, { type: 'compaction_trigger' }];
    assert.equal(faultOf(await ask({ ...body, input: trigger }, 400)), 'input');
  });
});

suite('custom tools at POST /chat/completions', () => {
  // @spec chat-46, chat-47, responses-pains-44
  test('are called with their text, by every upstream, and answered by a tool message', async (t) => {
    const { gateway, upstream, ask } = await open(t);
    const nested = {
      type: 'custom',
      custom: {
        name: 'apply_patch',
        format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: A' } },
      },
    };
    const call = { id: 'call_a', type: 'custom', custom: { name: 'apply_patch', input: PATCH } };
    for (const model of ['acme/chat', 'acme/messages', 'acme/responses'])
      for (const tool of [CUSTOM, nested]) {
        upstream.script = CALLED;
        const asked = { role: 'user', content: 'Patch it.' };
        const body = { model, messages: [asked], tools: [tool], tool_choice: { type: 'custom', name: 'apply_patch' } };
        const message = messageOf(await ask(body));
        assert.deepEqual(message['tool_calls'], [call]);
        assert.match(upstream.arrived.at(-1)?.text ?? '', /start: A/);
        const stream = await gateway.post('/chat/completions', { ...body, stream: true });
        const deltas = [...(await stream.text()).matchAll(/^data: (\{.+)$/gm)].flatMap(([, text]) =>
          listOf(
            objectOf(objectOf(listOf(objectOf(JSON.parse(text ?? '') as Json)['choices'])[0])['delta'])['tool_calls'],
          ),
        );
        assert.equal(deltas.map((delta) => textOf(objectOf(objectOf(delta)['custom'])['input']) ?? '').join(''), PATCH);
        assert.deepEqual([objectOf(deltas[0])['type'], objectOf(deltas[0])['id']], ['custom', 'call_a']);
        upstream.script = emit('Done.');
        const messages = [asked, message, { role: 'tool', tool_call_id: 'call_a', content: 'ok' }] as Json;
        assert.equal(messageOf(await ask({ model, messages, tools: [tool] }))['content'], 'Done.');
        const sent = upstream.arrived.at(-1)?.text ?? '';
        assert.ok(
          sent.includes(JSON.stringify(PATCH).slice(1, -1)) ||
            sent.includes(JSON.stringify(JSON.stringify(PATCH)).slice(3, -3)),
        );
      }
  });

  // @spec chat-46
  test('and flat functions are refused at the wrong member', async (t) => {
    const { ask } = await open(t);
    const body = { model: 'acme/chat', messages: [{ role: 'user', content: 'Hello' }] };
    const paramOf = async (tools: readonly Json[], more: JsonObject = {}): Promise<Json | undefined> =>
      faultOf(await ask({ ...body, tools, ...more }, 400));
    assert.equal(await paramOf([{ type: 'function' }]), 'tools[0].function');
    assert.equal(await paramOf([{ type: 'function', name: 'a b' }]), 'tools[0].name');
    assert.equal(await paramOf([{ type: 'function', name: 'ls', parameters: 1 }]), 'tools[0].parameters');
    assert.equal(await paramOf([{ type: 'custom' }]), 'tools[0].custom');
    assert.equal(await paramOf([CUSTOM], { tool_choice: { type: 'custom', name: 'other' } }), 'tool_choice.name');
  });
});
