import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { CALLERS, shareAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { listOf, objectOf } from '../support/reported.ts';

const shared = shareAllUpstreams();

const PLAIN: JsonObject = { max_tokens: 100, messages: [{ role: 'user', content: 'Look.' }] };
const SCHEMA = { type: 'object', properties: { at: { type: 'string' } } };
const TOOLS = {
  chat: [{ type: 'function', function: { name: 'look', parameters: SCHEMA } }],
  messages: [{ name: 'look', input_schema: SCHEMA }],
};
const EFFORT = {
  chat: { reasoning_effort: 'high' },
  messages: { output_config: { effort: 'high' } },
};

suite('a model of OpenAI without tools in chat', () => {
  for (const caller of CALLERS)
    for (const model of ['gpt-5.4', 'gpt-5.6-luna', 'gpt-6-sol', 'gpt-6-astra', 'gpt-6.1-sol'])
      test(`is called in responses with tools, otherwise in chat: ${model}, ${caller} caller`, async () => {
        const { ask } = shared();
        const requested = { ...PLAIN, ...EFFORT[caller] };
        const without = await ask(caller, `openai/${model}`, requested);
        assert.match(without.arrived.path, /\/v1\/chat\/completions$/);
        const { arrived } = await ask(caller, `openai/${model}`, { ...requested, tools: TOOLS[caller] });
        assert.match(arrived.path, /\/v1\/responses$/);
        const [tool] = listOf((arrived.body as JsonObject)['tools']);
        assert.equal(objectOf(tool)['name'], 'look');
        assert.equal(objectOf((arrived.body as JsonObject)['reasoning'])['effort'], 'high');
      });

  test('gets its highest effort there, and the next one in chat', async () => {
    const { ask } = shared();
    const requested = { ...PLAIN, reasoning_effort: 'max' };
    const inChat = await ask('chat', 'openai/gpt-6-astra', requested);
    assert.equal(inChat.arrived.body['reasoning_effort'], 'xhigh');
    const { arrived } = await ask('chat', 'openai/gpt-6-astra', { ...requested, tools: TOOLS.chat });
    assert.equal(objectOf((arrived.body as JsonObject)['reasoning'])['effort'], 'max');
  });
});

for (const caller of CALLERS)
  test(`is called in chat with tools if it is an earlier model: ${caller} caller`, async () => {
    const { ask } = shared();
    const { arrived } = await ask(caller, 'openai/gpt-5.1', { ...PLAIN, tools: TOOLS[caller] });
    assert.match(arrived.path, /\/v1\/chat\/completions$/);
  });
