import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ChatOrMessages } from '../support/chat-or-messages.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { CALLERS, PATHS, shareAllUpstreams, type UpstreamName } from '../support/upstreams/all-upstreams.ts';
import { PNG_BASE64, PNG_DATA_URL } from '../support/files/media.ts';
import { toolsOf } from '../support/next-turn.ts';
import { refuse, unpairedResults } from '../support/upstreams/strict-upstream.ts';

const shared = shareAllUpstreams();

/** A caller's own format gets what the caller wrote: whether it is right is between the two. */
const ACROSS: Readonly<Record<ChatOrMessages, readonly UpstreamName[]>> = {
  chat: ['claude', 'messages-plain', 'gemini', 'responses', 'converse', 'nova', 'cohere'],
  messages: ['chat', 'openai', 'gemini', 'responses', 'converse', 'nova', 'cohere'],
};

const user = (content: unknown): JsonObject => ({ role: 'user', content }) as JsonObject;
const call = (id: string): JsonObject => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } });
const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'look', input: {} });
const result = (id: string, content: unknown): JsonObject =>
  ({ type: 'tool_result', tool_use_id: id, content }) as JsonObject;

/** Histories as clients really send them, each with the texts that must and must not reach the model. */
const HISTORIES: Readonly<
  Record<
    string,
    { readonly reported: readonly string[]; readonly lost?: readonly string[] } & Record<
      ChatOrMessages,
      readonly JsonObject[]
    >
  >
> = {
  'a user message between the calls and their results': {
    reported: ['first seen', 'second seen', 'In between.'],
    chat: [
      user('Look.'),
      { role: 'assistant', content: null, tool_calls: [call('call_1'), call('call_2')] },
      { role: 'tool', tool_call_id: 'call_1', content: 'first seen' },
      user('In between.'),
      { role: 'tool', tool_call_id: 'call_2', content: 'second seen' },
    ],
    messages: [
      user('Look.'),
      { role: 'assistant', content: [use('call_1'), use('call_2')] },
      user([{ type: 'text', text: 'In between.' }, result('call_1', 'first seen')]),
      user([result('call_2', 'second seen')]),
    ],
  },
  'a result that came twice, of which the last counts': {
    reported: ['last seen'],
    lost: ['once seen'],
    chat: [
      user('Look.'),
      { role: 'assistant', content: null, tool_calls: [call('call_1')] },
      { role: 'tool', tool_call_id: 'call_1', content: 'once seen' },
      { role: 'tool', tool_call_id: 'call_1', content: 'last seen' },
    ],
    messages: [
      user('Look.'),
      { role: 'assistant', content: [use('call_1')] },
      user([result('call_1', 'once seen'), result('call_1', 'last seen')]),
    ],
  },
  'a call that was never answered': {
    reported: ['seen', 'Never mind.'],
    chat: [
      user('Look.'),
      { role: 'assistant', content: 'Two looks.', tool_calls: [call('call_1'), call('call_2')] },
      { role: 'tool', tool_call_id: 'call_2', content: 'seen' },
      user('Never mind.'),
    ],
    messages: [
      user('Look.'),
      { role: 'assistant', content: [{ type: 'text', text: 'Two looks.' }, use('call_1'), use('call_2')] },
      user([result('call_2', 'seen'), { type: 'text', text: 'Never mind.' }]),
    ],
  },
  'calls that are the last thing said': {
    reported: ['Look.'],
    chat: [user('Look.'), { role: 'assistant', content: null, tool_calls: [call('call_1')] }],
    messages: [user('Look.'), { role: 'assistant', content: [use('call_1')] }],
  },
  'ids that the vendor would refuse, two of which look alike once they are made legal': {
    reported: ['one', 'two'],
    chat: [
      user('Look.'),
      { role: 'assistant', content: null, tool_calls: [call('call.1'), call('call 1')] },
      { role: 'tool', tool_call_id: 'call.1', content: 'one' },
      { role: 'tool', tool_call_id: 'call 1', content: 'two' },
    ],
    messages: [
      user('Look.'),
      { role: 'assistant', content: [use('call.1'), use('call 1')] },
      user([result('call.1', 'one'), result('call 1', 'two')]),
    ],
  },
  'a result that comes only after the next answer': {
    reported: ['Wait.', 'late but seen', 'And now?'],
    chat: [
      user('Look.'),
      { role: 'assistant', content: null, tool_calls: [call('call_1')] },
      user('Well?'),
      { role: 'assistant', content: 'Wait.' },
      { role: 'tool', tool_call_id: 'call_1', content: 'late but seen' },
      user('And now?'),
    ],
    messages: [
      user('Look.'),
      { role: 'assistant', content: [use('call_1')] },
      user('Well?'),
      { role: 'assistant', content: 'Wait.' },
      user([result('call_1', 'late but seen'), { type: 'text', text: 'And now?' }]),
    ],
  },
  'a picture for a result': {
    reported: ['It is grey.'],
    chat: [
      user('Look.'),
      { role: 'assistant', content: null, tool_calls: [call('call_1'), call('call_2')] },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'image_url', image_url: { url: PNG_DATA_URL } }] },
      { role: 'tool', tool_call_id: 'call_2', content: 'It is grey.' },
    ],
    messages: [
      user('Look.'),
      { role: 'assistant', content: [use('call_1'), use('call_2')] },
      user([
        result('call_1', [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG_BASE64 } }]),
        result('call_2', 'It is grey.'),
      ]),
    ],
  },
  'answers in a row': {
    reported: ['First.', 'seen', 'Second.', 'And now?'],
    chat: [
      user('Look.'),
      { role: 'assistant', content: 'First.' },
      { role: 'assistant', content: null, tool_calls: [call('call_1')] },
      { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
      { role: 'assistant', content: 'Second.' },
      user('And'),
      user('And now?'),
    ],
    messages: [
      user('Look.'),
      { role: 'assistant', content: 'First.' },
      { role: 'assistant', content: [use('call_1')] },
      user([result('call_1', 'seen')]),
      { role: 'assistant', content: 'Second.' },
      user('And'),
      user('And now?'),
    ],
  },
};

for (const [title, history] of Object.entries(HISTORIES))
  suite(title, () => {
    for (const caller of CALLERS)
      for (const name of ACROSS[caller])
        test(`gets ordered tool results: ${name}: ${caller} caller`, async () => {
          const { upstream, ask } = shared();
          upstream.script = refuse(unpairedResults);
          const requested = { max_tokens: 100, tools: toolsOf(caller, 'look'), messages: history[caller] };
          const { reported, arrived } = await ask(caller, name, requested);
          assert.equal(reported.text, 'Done.');
          for (const words of history.reported) assert.ok(arrived.text.includes(words), `${words}: ${arrived.text}`);
          for (const words of history.lost ?? []) assert.ok(!arrived.text.includes(words), words);
        });
  });

suite('a tool result without a call', () => {
  for (const name of ['claude', 'gemini', 'responses', 'converse', 'cohere'] as const)
    // @spec chat-8
    test(`is refused for ${name} before anything is sent`, async () => {
      const { gateway, upstream } = shared();
      upstream.arrived.length = 0;
      const messages = [user('Look.'), { role: 'tool', tool_call_id: 'nobody', content: 'seen' }, user('And now?')];
      const response = await gateway.post(PATHS.chat, { model: `acme/${name}`, messages });
      assert.equal(response.status, 400);
      assert.match(await response.text(), /messages\[1\]\.tool_call_id/);
      assert.equal(upstream.arrived.length, 0);
    });

  test('is refused for chat from a messages caller, too', async () => {
    const { gateway, upstream } = shared();
    upstream.arrived.length = 0;
    const messages = [user([{ type: 'text', text: 'Look.' }, result('nobody', 'seen')])];
    const response = await gateway.post(PATHS.messages, { model: 'acme/chat', max_tokens: 100, messages });
    assert.equal(response.status, 400);
    assert.match(await response.text(), /messages\[0\]\.content\[1\]\.tool_use_id/);
    assert.equal(upstream.arrived.length, 0);
  });
});
