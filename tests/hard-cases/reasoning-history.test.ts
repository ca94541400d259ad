import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import type { KnownProvider } from '../../src/providers/known-provider.ts';
import { KNOWN_PROVIDERS } from '../../src/providers/known-providers.ts';
import { CALLERS, PATHS, shareAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { startGateway } from '../support/gateway.ts';
import { messageOf, resultsFor, toolsOf } from '../support/next-turn.ts';
import { emit } from '../support/upstreams/speak.ts';
import { listOf, objectOf } from '../support/reported.ts';
import {
  chatAnswer,
  chatChunk,
  json,
  sse,
  startUpstream,
  stream,
  type Arrived,
  type Script,
} from '../support/upstream.ts';

const shared = shareAllUpstreams();
const USER = { role: 'user', content: 'Look.' };
const CALL = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };

/** Thinks in this member, then calls a tool. */
function thinkIn(member: string, thought: string): Script {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return (arrived, response, request) => {
    const half = Math.floor(thought.length / 2);
    const whole = json(
      200,
      chatAnswer('', {
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: null, [member]: thought, tool_calls: [CALL] },
            finish_reason: 'tool_calls',
          },
        ],
      }),
    );
    const streamed = stream(
      sse([
        chatChunk({ role: 'assistant', [member]: thought.slice(0, half) }),
        chatChunk({ [member]: thought.slice(half) }),
        chatChunk({ tool_calls: [{ index: 0, ...CALL }] }),
        chatChunk({}, 'tool_calls'),
        { ...chatChunk({}), choices: [], usage },
        '[DONE]',
      ]),
    );
    return (arrived.body['stream'] === true ? streamed : whole)(arrived, response, request);
  };
}

/** The assistant's message as it arrived at the upstream. */
function assistantIn({ body }: Arrived): JsonObject {
  const messages = listOf(body['messages'] as Json).map((message) => objectOf(message));
  return messages.find(({ role }) => role === 'assistant') ?? assert.fail('there is one');
}

const plainMembers = ({ reasoning, reasoning_content: content }: JsonObject): JsonObject => ({
  ...(reasoning !== undefined && { reasoning }),
  ...(content !== undefined && { reasoning_content: content }),
});

suite('reasoning of earlier turns', () => {
  for (const caller of CALLERS)
    for (const streamed of [false, true])
      for (const member of ['reasoning_content', 'reasoning'] as const)
        // @spec reasoning-17
        test(`is sent back in the field that the upstream used: ${member}, ${caller} caller, stream: ${streamed}`, async () => {
          const { upstream, ask } = shared();
          const thought = `I look: ${caller}, ${member}, ${streamed}.`;
          upstream.script = thinkIn(member, thought);
          const request = { max_tokens: 100, stream: streamed, tools: toolsOf(caller, 'look') };
          const { reported } = await ask(caller, 'chat', { ...request, messages: [USER] });
          upstream.script = emit('Grey.');
          const messages = [USER, messageOf(caller, reported), ...resultsFor(caller, reported)];
          const { arrived, warnings } = await ask(caller, 'chat', { ...request, messages });
          assert.deepEqual(plainMembers(assistantIn(arrived)), { [member]: thought });
          assert.ok(!warnings.some((warning) => warning.startsWith('content-dropped')), warnings.join());
        });

  test('stays away from another upstream whose field is unknown, and the record says so', async () => {
    const { upstream, ask } = shared();
    upstream.script = emit('Grey.');
    const messages = [USER, { role: 'assistant', content: 'Hm.', reasoning: 'From elsewhere.' }, USER];
    const { arrived, warnings } = await ask('chat', 'chat', { messages });
    assert.deepEqual(plainMembers(assistantIn(arrived)), {});
    assert.deepEqual(warnings, ['content-dropped messages[1].reasoning']);
  });
});

suite('the setting reasoning_history', () => {
  const encodings: Readonly<Record<string, JsonObject>> = {
    none: { content: 'So.' },
    reasoning: { content: 'So.', reasoning: 'Hm.' },
    reasoning_content: { content: 'So.', reasoning_content: 'Hm.' },
    think_tags: { content: '<think>\nHm.\n</think>\n\nSo.' },
  };
  for (const caller of CALLERS)
    test(`applies by provider, model, endpoint and prefix: ${caller} caller`, async (t) => {
      const upstream = await startUpstream(emit('Grey.'));
      const provider = (history?: string): JsonObject => ({
        adapter: 'openai-compatible',
        base_url: upstream.baseUrl,
        api_key: 'upstream-secret-history',
        ...(history !== undefined && { reasoning_history: history }),
      });
      const endpoint = (name: string, history?: string): JsonObject => ({
        provider: name,
        model: 'one',
        ...(history !== undefined && { reasoning_history: history }),
      });
      const gateway = await startGateway({
        yaml: JSON.stringify({
          providers: { tags: provider('think_tags'), plain: provider() },
          models: {
            'acme/provider': { endpoints: [endpoint('tags')] },
            'acme/model': { reasoning_history: 'reasoning', endpoints: [endpoint('tags')] },
            'acme/endpoint': { reasoning_history: 'reasoning', endpoints: [endpoint('tags', 'reasoning_content')] },
            'acme/none': { reasoning_history: 'none', endpoints: [endpoint('tags')] },
            'prefix/*': { provider: 'plain', reasoning_history: 'reasoning_content' },
          },
        }),
      });
      t.after(async () => {
        await gateway.close();
        await upstream.close();
      });
      const stated =
        caller === 'chat'
          ? { role: 'assistant', content: 'So.', reasoning: 'Hm.' }
          : {
              role: 'assistant',
              content: [
                { type: 'thinking', thinking: 'Hm.', signature: '' },
                { type: 'text', text: 'So.' },
              ],
            };
      for (const [model, history] of [
        ['acme/provider', 'think_tags'],
        ['acme/model', 'reasoning'],
        ['acme/endpoint', 'reasoning_content'],
        ['acme/none', 'none'],
        ['prefix/one', 'reasoning_content'],
      ] as const) {
        const response = await gateway.post(PATHS[caller], { model, max_tokens: 100, messages: [USER, stated, USER] });
        assert.equal(response.status, 200, await response.text());
        const { content, ...others } = assistantIn(upstream.arrived.at(-1) ?? assert.fail());
        const [part] = listOf(content);
        const text = typeof content === 'string' ? content : objectOf(part)['text'];
        assert.deepEqual({ ...plainMembers(others), content: text }, encodings[history], model);
      }
    });

  test('is refused at start with its path for an unknown value', async () => {
    const yaml = JSON.stringify({
      models: { 'acme/one': { reasoning_history: 'all', endpoints: [{ provider: 'sandbox', model: 'echo' }] } },
    });
    await assert.rejects(startGateway({ yaml }), /reasoning_history/);
  });
});

test('sends reasoning to known hosts in their documented field', () => {
  const members = KNOWN_PROVIDERS.map((row: KnownProvider) => [row.id, row.dialect?.reasoningMember]);
  assert.deepEqual(Object.fromEntries(members), {
    groq: 'reasoning',
    mistral: 'content',
    deepseek: 'reasoning_content',
    xai: undefined,
    together: undefined,
    fireworks: 'reasoning_content',
    openrouter: 'reasoning_details',
    cerebras: 'reasoning',
    deepinfra: undefined,
    moonshotai: 'reasoning_content',
    'z-ai': 'reasoning_content',
    minimax: 'reasoning_details',
    alibaba: undefined,
    nvidia: undefined,
    perplexity: undefined,
    ollama: 'reasoning',
    vllm: 'reasoning',
    'lm-studio': undefined,
    'llama.cpp': 'reasoning_content',
  });
});
