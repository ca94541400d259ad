import type { ChatOrMessages } from '../support/chat-or-messages.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { PNG_BASE64, PNG_DATA_URL } from '../support/files/media.ts';
import { HARD_SCHEMA } from './full-requests.ts';
import type { TargetName } from './targets.ts';

/** A request that other gateways translate wrongly, and the upstreams that get it here. */
export interface RequestPain {
  /** Number of the pain and what is wrong, as the golden is called. */
  readonly name: string;
  readonly caller: ChatOrMessages;
  readonly body: JsonObject;
  readonly betas?: readonly string[];
  readonly targets: readonly TargetName[];
  /** Why what looks odd in the golden is right. */
  readonly why?: readonly string[];
}

/** The one pain that is no request and no answer. */
export const HANG_UP = '15-hang-up';

const EVERYWHERE: readonly TargetName[] = ['messages', 'chat', 'gemini', 'converse', 'responses', 'cohere'];

const tool = (name: string): JsonObject => ({
  type: 'function',
  function: {
    name,
    description: `Does ${name}`,
    parameters: { type: 'object', properties: { x: { type: 'string' } } },
  },
});
const call = (id: string, name: string, input = '{}'): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: input },
});
const clientTool = (name: string): JsonObject => ({ name, input_schema: { type: 'object', properties: {} } });

export const REQUEST_PAINS: readonly RequestPain[] = [
  {
    name: '17-thinking-of-a-messages-caller',
    caller: 'messages',
    targets: ['messages', 'messages-plain', 'chat', 'gemini', 'converse', 'responses'],
    why: [
      'A block that nobody knows yet passes to the vendor of its format, and to nobody else.',
      'OpenAI takes no reasoning back but its own; Google is told with a signature of its own making not to miss one.',
      'redactedContent is bytes on that wire, so that the data stand there encoded once more.',
    ],
    body: {
      model: 'acme/one',
      max_tokens: 8_000,
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      tools: [clientTool('look')],
      messages: [
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'I look.', signature: 'c2lnbmVk' },
            { type: 'thinking', thinking: '', signature: 'b21pdHRlZA==' },
            { type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' },
            { type: 'block_of_the_future', n: 1 },
            { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'seen' }] },
      ],
    },
  },
  {
    name: '17-thinking-of-a-chat-caller',
    caller: 'chat',
    targets: ['messages', 'messages-plain', 'chat', 'gemini', 'converse', 'responses'],
    why: [
      'The empty thinking block is signed: it must come back as it is.',
      'redactedContent is bytes on that wire, so that the data stand there encoded once more.',
    ],
    body: {
      model: 'acme/one',
      reasoning: { effort: 'medium' },
      tools: [tool('look')],
      messages: [
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          content: null,
          reasoning: 'I look.',
          reasoning_details: [
            { type: 'reasoning.text', text: 'I look.', signature: 'c2lnbmVk', format: 'anthropic-claude-v1', index: 0 },
            { type: 'reasoning.text', text: '', signature: 'b21pdHRlZA==', format: 'anthropic-claude-v1', index: 1 },
            { type: 'reasoning.encrypted', data: 'cmVkYWN0ZWQ=', format: 'anthropic-claude-v1', index: 2 },
          ],
          tool_calls: [call('toolu_1', 'look')],
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'seen' },
      ],
    },
  },
  {
    name: '17-thinking-lost-by-the-client',
    caller: 'chat',
    targets: ['messages', 'converse'],
    why: ['The vendor refuses thinking where the thoughts before the last call are gone, so that it is left off.'],
    body: {
      model: 'acme/one',
      reasoning: { max_tokens: 2_000 },
      tools: [tool('look')],
      messages: [
        { role: 'user', content: 'Look.' },
        { role: 'assistant', content: null, tool_calls: [call('toolu_1', 'look')] },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'seen' },
      ],
    },
  },
  {
    name: '19-thought-signature-of-a-chat-caller',
    caller: 'chat',
    targets: ['gemini', 'gemini-2', 'chat', 'messages'],
    why: [
      'Only the first of calls made at once carries a signature.',
      'Models of the second generation know no ids of calls: the order tells which is meant.',
    ],
    body: {
      model: 'acme/one',
      tools: [tool('look'), tool('hear')],
      messages: [
        { role: 'user', content: 'Look and hear.' },
        {
          role: 'assistant',
          content: null,
          reasoning_details: [
            { type: 'reasoning.encrypted', data: 'c2lnbmF0dXJl', id: 'call_1', format: 'google-gemini-v1', index: 0 },
          ],
          tool_calls: [call('call_1', 'look'), call('call_2', 'hear')],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
        { role: 'tool', tool_call_id: 'call_2', content: 'heard' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ ...call('call_3', 'look'), extra_content: { google: { thought_signature: 'ZXh0cmE=' } } }],
        },
        { role: 'tool', tool_call_id: 'call_3', content: 'seen again' },
      ],
    },
  },
  {
    name: '19-history-of-another-model',
    caller: 'messages',
    targets: ['gemini', 'gemini-2'],
    why: [
      'Google names this signature for calls that another model made.',
      'Models of the second generation miss none, and know no ids of calls.',
    ],
    body: {
      model: 'acme/one',
      max_tokens: 8_000,
      tools: [clientTool('look')],
      messages: [
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'I look.', signature: 'c2lnbmVk' },
            { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
            { type: 'tool_use', id: 'toolu_2', name: 'look', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: 'seen' },
            { type: 'tool_result', tool_use_id: 'toolu_2', content: 'seen' },
          ],
        },
      ],
    },
  },
  {
    name: '20-schemas',
    caller: 'chat',
    targets: ['gemini', 'gemini-2', 'chat-plain', 'messages', 'converse', 'responses', 'cohere'],
    why: [
      'Google takes no exclusiveMinimum and no const: at least 1 for a whole number, and an enum of one, say the same.',
      'A tool without a schema is a tool without parameters, as each wire says it.',
    ],
    body: {
      model: 'acme/one',
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'Book.' }],
      tools: [
        { type: 'function', function: { name: 'book', parameters: HARD_SCHEMA } },
        { type: 'function', function: { name: 'nothing', parameters: {} } },
        { type: 'function', function: { name: 'none' } },
      ],
    },
  },
  {
    name: '21-tool-results',
    caller: 'chat',
    targets: EVERYWHERE,
    why: [
      'Results follow their calls in order, one for each: of two the last, an error where there is none.',
      'Ids that a wire does not take are written so that the same id always becomes the same one.',
      'A chat body goes to a host of chat as it came: whether it is legal is for the host to say.',
    ],
    body: {
      model: 'acme/one',
      tools: [tool('look')],
      messages: [
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [call('a.1', 'look'), call('a 2', 'look'), call('a3', 'look'), call('a4', 'look')],
        },
        { role: 'tool', tool_call_id: 'a.1', content: [{ type: 'image_url', image_url: { url: PNG_DATA_URL } }] },
        { role: 'user', content: 'In between.' },
        { role: 'tool', tool_call_id: 'a3', content: 'first' },
        { role: 'tool', tool_call_id: 'a 2', content: '{"ok": true}' },
        { role: 'tool', tool_call_id: 'a3', content: 'last' },
        { role: 'user', content: 'And now?' },
      ],
    },
  },
  {
    name: '21-orphan-result',
    caller: 'chat',
    targets: EVERYWHERE,
    why: [
      'It is refused (@spec chat-8): a model that goes on without the result makes one up.',
      'A chat body goes to a host of chat as it came.',
    ],
    body: {
      model: 'acme/one',
      tools: [tool('look')],
      messages: [
        { role: 'user', content: 'Look.' },
        { role: 'tool', tool_call_id: 'nobody', content: 'seen' },
        { role: 'user', content: 'And now?' },
      ],
    },
  },
  {
    name: '22-empty-content',
    caller: 'chat',
    targets: EVERYWHERE,
    why: [
      'Wires that take empty text get it; an empty string that is one part of several says nothing and goes without a word.',
    ],
    body: {
      model: 'acme/one',
      tools: [tool('look')],
      messages: [
        { role: 'system', content: '' },
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: '  \n', cache_control: { type: 'ephemeral' } },
            { type: 'text', text: 'Look.' },
          ],
        },
        { role: 'assistant', content: '', tool_calls: [call('a1', 'look')] },
        { role: 'tool', tool_call_id: 'a1', content: '' },
        { role: 'assistant', content: ' ' },
        { role: 'user', content: 'And now?' },
      ],
    },
  },
  {
    name: '23-cache-marks',
    caller: 'chat',
    targets: ['messages', 'messages-plain', 'chat', 'chat-plain', 'gemini', 'converse', 'responses'],
    why: [
      'Of more than four breakpoints the last four count: they reach furthest.',
      'Where the wire has no breakpoint for the whole request, it stands at the end of the last message.',
      'Models that only cache by themselves get none, with a warning each.',
    ],
    body: {
      model: 'acme/one',
      cache_control: { type: 'ephemeral' },
      tools: [tool('look'), { ...tool('hear'), cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Rules', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
        { role: 'user', content: [{ type: 'text', text: 'One', cache_control: { type: 'ephemeral' } }] },
        { role: 'assistant', content: 'Two' },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: PNG_DATA_URL }, cache_control: { type: 'ephemeral' } },
            { type: 'text', text: 'Three', prompt_cache_breakpoint: { mode: 'explicit' } },
            { type: 'text', text: 'Four' },
          ],
        },
      ],
    },
  },
  {
    name: '24-attribution',
    caller: 'messages',
    targets: ['messages', 'messages-plain', 'chat', 'gemini', 'converse', 'responses', 'cohere'],
    why: [
      'The line stays for the vendor that reads it. A host of the same format caches by prefix, which it would spoil.',
    ],
    body: {
      model: 'acme/one',
      max_tokens: 100,
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.23.f1c; cc_entrypoint=cli; cch=0a1b2;' },
        { type: 'text', text: 'You are an agent.', cache_control: { type: 'ephemeral' } },
      ],
      messages: [{ role: 'user', content: 'Hi' }],
    },
  },
  {
    name: '25-unknown-fields',
    caller: 'messages',
    betas: ['context-management-2025-06-27', 'interleaved-thinking-2025-05-14', 'made-up-2026-01-01'],
    targets: EVERYWHERE,
    why: [
      'The vendor of the format gets what nobody knows yet, and the flags that it knows; others get neither.',
      'What is null was not said.',
    ],
    body: {
      model: 'acme/one',
      max_tokens: 100,
      top_k: null,
      output_config: { effort: 'high', of_the_future: 1 },
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
      of_the_future: { kept: [1.5] },
      messages: [
        {
          role: 'user',
          of_the_future: true,
          content: [
            { type: 'text', text: 'Hi', of_the_future: null },
            {
              type: 'image',
              source: { type: 'base64', media_type: 'image/png', data: PNG_BASE64, of_the_future: 2 },
            },
          ],
        },
      ],
    },
  },
  {
    name: '26-encrypted-reasoning',
    caller: 'chat',
    targets: ['responses', 'chat', 'messages', 'gemini'],
    why: ["Sealed reasoning goes back to the family that made it alone: Azure's keys are not OpenAI's."],
    body: {
      model: 'acme/one',
      tools: [tool('look')],
      messages: [
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          content: null,
          reasoning_details: [
            { type: 'reasoning.summary', summary: 'I look.', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
            { type: 'reasoning.encrypted', data: 'b3BlbmFp', id: 'rs_1', format: 'openai-responses-v1', index: 1 },
            {
              type: 'reasoning.encrypted',
              data: 'YXp1cmU=',
              id: 'rs_2',
              format: 'azure-openai-responses-v1',
              index: 2,
            },
          ],
          tool_calls: [call('call_1', 'look')],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
        { role: 'user', content: 'And now?' },
      ],
    },
  },
];
