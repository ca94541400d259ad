import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ChatOrMessages } from '../support/chat-or-messages.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { CALLERS, shareAllUpstreams, type UpstreamName } from '../support/upstreams/all-upstreams.ts';
import { toolsOf } from '../support/next-turn.ts';
import { emptyContent, refuse, unpairedResults } from '../support/upstreams/strict-upstream.ts';

const shared = shareAllUpstreams();

/** A plain host of the caller's own format gets what the caller wrote. */
const ACROSS: Readonly<Record<ChatOrMessages, readonly UpstreamName[]>> = {
  chat: ['claude', 'messages-plain', 'gemini', 'responses', 'converse', 'nova', 'cohere'],
  messages: ['claude', 'messages-plain', 'chat', 'openai', 'gemini', 'responses', 'converse', 'nova', 'cohere'],
};
const MARK = { cache_control: { type: 'ephemeral' } };
const EMPTY = [
  { type: 'text', text: '' },
  { type: 'text', text: '  \n', ...MARK },
];

const CONVERSATIONS: Readonly<Record<ChatOrMessages, JsonObject>> = {
  chat: {
    messages: [
      { role: 'system', content: '' },
      { role: 'system', content: [{ type: 'text', text: ' ' }] },
      { role: 'user', content: [...EMPTY, { type: 'text', text: 'Look.' }] },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '' },
      { role: 'assistant', content: ' ' },
      { role: 'user', content: 'And now?' },
    ],
  },
  messages: {
    max_tokens: 100,
    system: [{ type: 'text', text: ' ' }],
    messages: [
      { role: 'user', content: [...EMPTY, { type: 'text', text: 'Look.' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: '' },
          { type: 'tool_use', id: 'call_1', name: 'look', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: [] }, ...EMPTY] },
      { role: 'assistant', content: [{ type: 'text', text: ' ' }] },
      { role: 'user', content: [{ type: 'text', text: 'And now?' }] },
    ],
  },
};

suite('texts without a visible character', () => {
  for (const caller of CALLERS)
    for (const name of ACROSS[caller])
      // @spec translate-9
      test(`never make ${name} refuse a request: ${caller} caller`, async () => {
        const { upstream, ask } = shared();
        // Of its own format a caller decides what stands in a message.
        const isOwn = caller === 'messages' && (name === 'claude' || name === 'messages-plain');
        upstream.script = refuse(emptyContent, ...(isOwn ? [] : [unpairedResults]));
        const { reported, arrived } = await ask(caller, name, {
          ...CONVERSATIONS[caller],
          tools: toolsOf(caller, 'look'),
        });
        assert.equal(reported.text, 'Done.');
        assert.ok(arrived.text.includes('Look.') && arrived.text.includes('And now?'));
        assert.ok(!/cache_control|cachePoint/.test(arrived.text), 'a mark on nothing marks nothing');
      });
});
