import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ChatOrMessages } from '../support/chat-or-messages.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { prepareRequest, type RequestTarget } from '../support/prepare-request.ts';

const TARGETS: readonly RequestTarget[] = [
  { adapter: 'openai-compatible', model: 'one', format: 'chat' },
  { adapter: 'anthropic', model: 'claude-sonnet-4-6', format: 'messages' },
  { adapter: 'openai', model: 'gpt-5.1', format: 'responses' },
  { adapter: 'google', model: 'gemini-2.5-flash', format: 'gemini' },
  { adapter: 'bedrock', model: 'anthropic.claude-sonnet-4-6', format: 'converse' },
  { adapter: 'cohere', model: 'command-a', format: 'cohere' },
];

const list = <Item>(length: number, make: (index: number) => Item): readonly Item[] =>
  Array.from({ length }, (_, at) => make(at));
const asking = { role: 'user', content: 'words' };

/** What may be wide in a request of a format, made as wide as wanted. */
const WIDE: Readonly<Record<ChatOrMessages, Readonly<Record<string, (width: number) => JsonObject>>>> = {
  chat: {
    'user messages in a row': (width) => ({ messages: list(width, () => asking) }),
    'results of one turn': (width) => ({
      messages: [
        asking,
        {
          role: 'assistant',
          content: null,
          tool_calls: list(width, (at) => ({
            id: `call_${at}`,
            type: 'function',
            function: { name: 't', arguments: '{}' },
          })),
        },
        ...list(width, (at) => ({ role: 'tool', tool_call_id: `call_${at}`, content: 'x' })),
      ],
    }),
    tools: (width) => ({
      messages: [asking],
      tools: list(width, (at) => ({ type: 'function', function: { name: `t${at}`, parameters: { type: 'object' } } })),
    }),
  },
  messages: {
    'turns that alternate': (width) => ({
      messages: list(width * 2, (at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: 'words' })).slice(0, -1),
    }),
    'results of one turn': (width) => ({
      messages: [
        asking,
        {
          role: 'assistant',
          content: list(width, (at) => ({ type: 'tool_use', id: `call_${at}`, name: 't', input: {} })),
        },
        {
          role: 'user',
          content: list(width, (at) => ({ type: 'tool_result', tool_use_id: `call_${at}`, content: 'x' })),
        },
      ],
    }),
    tools: (width) => ({
      messages: [asking],
      tools: list(width, (at) => ({ name: `t${at}`, input_schema: { type: 'object' } })),
    }),
  },
};

/** Of this thread, so that a busy machine changes little. */
function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

const NARROW = 500;
const TIMES = 16;
/** What takes the square of its width takes 256 times as long. */
const SLOWER_MAX = 60;
/** Less is not worth a word: what one machine takes for it, another does not. */
const QUICK_MS = 150;

for (const [caller, kinds] of Object.entries(WIDE) as [ChatOrMessages, (typeof WIDE)['chat']][])
  suite(`a ${caller} request of sixteen times the width takes at most about sixteen times the time`, () => {
    for (const [kind, make] of Object.entries(kinds))
      for (const target of TARGETS)
        test(`${kind}, for ${target.format}`, () => {
          const prepare = (width: number) => (): void =>
            void prepareRequest(caller, { model: 'a/b', max_tokens: 64, ...make(width) }, target);
          prepare(NARROW)();
          const narrowMs = Math.min(...list(3, () => cpuMsOf(prepare(NARROW))));
          const wideMs = Math.min(...list(2, () => cpuMsOf(prepare(NARROW * TIMES))));
          assert.ok(wideMs < Math.max(QUICK_MS, narrowMs * SLOWER_MAX), `${narrowMs} ms, then ${wideMs} ms`);
        });
  });
