import { PNG_BASE64, PNG_DATA_URL } from '../support/files/media.ts';
import { FULL_CHAT, FULL_MESSAGES } from '../support/full-requests.ts';
import type { JsonObject } from '../../src/lib/json.ts';

const PDF_BASE64 = 'JVBERi0xLjQ=';
const LONG_NAME = `mcp__files__${'read_'.repeat(12)}lines`;

/** A schema with everything that upstreams are known to refuse. @spec translate-20 */
export const HARD_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  title: 'Booking',
  properties: {
    place: { $ref: '#/$defs/place' },
    nights: { type: 'integer', exclusiveMinimum: 0, default: 1 },
    kind: { const: 'hotel' },
    note: { type: ['string', 'null'], examples: ['late'] },
    pay: { oneOf: [{ type: 'string', enum: ['card', 'cash'] }, { type: 'number' }] },
    tags: { type: 'array', items: { type: 'string' }, uniqueItems: true },
  },
  required: ['place'],
  additionalProperties: false,
  $defs: {
    place: {
      type: 'object',
      properties: { city: { type: 'string', format: 'uri' }, near: { $ref: '#/$defs/place' } },
      required: ['city'],
    },
  },
};

/** Every kind of message, part, tool and setting of `POST /chat/completions` at once. @spec chat-29 */
export const CHAT: JsonObject = {
  ...FULL_CHAT,
  models: ['acme/one'],
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
    { role: 'developer', content: 'Be kind.', name: 'dev' },
    {
      role: 'user',
      name: 'ann',
      content: [
        { type: 'text', text: 'Look:', cache_control: { type: 'ephemeral' } },
        { type: 'image_url', image_url: { url: PNG_DATA_URL, detail: 'original' } },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        { type: 'file', file: { filename: 'a (1).pdf', file_data: `data:application/pdf;base64,${PDF_BASE64}` } },
        { type: 'file', file: { filename: 'b.pdf', file_data: 'https://example.com/b.pdf' } },
        { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
        { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } },
        { type: 'text', text: 'What is it?', prompt_cache_breakpoint: { mode: 'explicit' } },
      ],
    },
    {
      role: 'assistant',
      content: 'I look.',
      model: 'acme/before',
      reasoning: 'Two calls.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'Two calls.', signature: 'c2ln', format: 'anthropic-claude-v1', index: 0 },
        { type: 'reasoning.encrypted', data: 'ZW5j', id: 'rs_1', format: 'openai-responses-v1', index: 1 },
        { type: 'reasoning.summary', summary: 'Short.', id: 'rs_1', format: 'openai-responses-v1', index: 2 },
        { type: 'reasoning.encrypted', data: 'dGhvdWdodA==', id: 'call_1', format: 'google-gemini-v1', index: 3 },
      ],
      tool_calls: [
        {
          id: 'call_1',
          type: 'function',
          function: { name: 'get_weather', arguments: '{"city": "Oslo", "days": 1.0}' },
        },
        { id: 'call_2', type: 'function', function: { name: LONG_NAME.slice(0, 64), arguments: 'not json' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: '{"degrees": 7}' },
    {
      role: 'tool',
      tool_call_id: 'call_2',
      content: [
        { type: 'text', text: 'A picture' },
        { type: 'image_url', image_url: { url: PNG_DATA_URL } },
      ],
    },
    {
      role: 'assistant',
      content: 'Seven degrees.',
      refusal: null,
      images: [{ image_url: { url: PNG_DATA_URL } }],
      audio: { id: 'audio_1' },
      annotations: [
        {
          type: 'url_citation',
          url_citation: { url: 'https://example.com', title: 'Example', start_index: 0, end_index: 5 },
        },
      ],
    },
    { role: 'user', content: '' },
    { role: 'system', content: 'From now on in French.' },
    { role: 'user', content: 'Go on' },
  ],
  tools: [
    ...FULL_CHAT.tools,
    { type: 'function', function: { name: 'book', description: 'Books', parameters: HARD_SCHEMA, strict: false } },
    { type: 'function', function: { name: LONG_NAME.slice(0, 64) } },
  ],
};

/** What `CHAT` can say in one way only at a time. */
export const CHAT_VARIANTS: Readonly<Record<string, JsonObject>> = {
  'no tool may be called': { tool_choice: 'none' },
  'some tool must be called': { tool_choice: 'required' },
  'one tool must be called': { tool_choice: { type: 'function', function: { name: 'get_weather' } } },
  'some tools may be called': {
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'get_weather' } }] },
    },
  },
  'plain text': { response_format: { type: 'text' } },
  'any JSON': { response_format: { type: 'json_object' } },
  'a grammar': { response_format: { type: 'grammar', grammar: 'root ::= "yes" | "no"' } },
  'a thinking budget': {
    verbosity: null,
    reasoning: { max_tokens: 500 },
    reasoning_effort: null,
    max_completion_tokens: 9_000,
  },
  'thinking as such': {
    verbosity: null,
    reasoning: { enabled: true },
    reasoning_effort: null,
    max_completion_tokens: 9_000,
  },
  'no thinking': { reasoning: { enabled: false }, reasoning_effort: null },
  'the most thinking': {
    verbosity: null,
    reasoning: { effort: 'max' },
    reasoning_effort: null,
    max_completion_tokens: 9_000,
  },
  'the least thinking': { verbosity: null, reasoning: { effort: 'minimal' }, reasoning_effort: null },
  'thinking about a required call': {
    verbosity: null,
    reasoning: { effort: 'high' },
    reasoning_effort: null,
    tool_choice: 'required',
    max_completion_tokens: 9_000,
  },
  'no limit': { max_tokens: null, max_completion_tokens: null },
  'one stop sequence': { stop: 'END' },
  'an image to come': { modalities: ['text', 'image'], image_config: { aspect_ratio: '16:9', image_size: '2K' } },
  'the priority tier': { service_tier: 'fast' },
  'a stream': { stream: true },
  'an answer begun': {
    messages: [
      { role: 'user', content: 'Say ABC.' },
      { role: 'assistant', content: 'AB ' },
    ],
  },
  'tools in the past alone': { tools: undefined, tool_choice: undefined },
  'a stored file': { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file_1' } }] }] },
};

/** Every kind of message, block, tool and setting of `POST /messages` at once. @spec messages-1 */
export const MESSAGES: JsonObject = {
  ...FULL_MESSAGES,
  model: 'acme/one',
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look:', cache_control: { type: 'ephemeral', ttl: '5m' } },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG_BASE64 } },
        { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: PDF_BASE64 },
          title: 'a.pdf',
          context: 'a file',
          citations: { enabled: true },
          cache_control: { type: 'ephemeral' },
        },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Plain words.' }, title: 'b.txt' },
        { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'In blocks.' }] } },
        { type: 'document', source: { type: 'url', url: 'https://example.com/c.pdf' } },
        {
          type: 'search_result',
          source: 'https://example.com/found',
          title: 'Found',
          content: [{ type: 'text', text: 'It is cold.' }],
          citations: { enabled: true },
        },
        { type: 'text', text: ' ' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I look.', signature: 'c2ln' },
        { type: 'thinking', thinking: '', signature: 'b21pdHRlZA==' },
        { type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' },
        { type: 'redacted_thinking', data: 'sealed-v1:openai-responses-v1:encrypted:rs_1:ZW5j' },
        {
          type: 'text',
          text: 'Cited.',
          citations: [
            {
              type: 'char_location',
              cited_text: 'Plain',
              document_index: 1,
              document_title: 'b.txt',
              start_char_index: 0,
              end_char_index: 5,
            },
            {
              type: 'web_search_result_location',
              cited_text: 'cold',
              url: 'https://example.com/found',
              title: 'Found',
              encrypted_index: 'aW5kZXg=',
            },
          ],
        },
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'oslo' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [
            {
              type: 'web_search_result',
              url: 'https://example.com/found',
              title: 'Found',
              encrypted_content: 'Y29udGVudA==',
              page_age: null,
            },
          ],
        },
        { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo', days: 1 } },
        { type: 'tool_use', id: 'toolu_2', name: LONG_NAME, input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: '{"degrees": 7}' },
        {
          type: 'tool_result',
          tool_use_id: 'toolu_2',
          is_error: true,
          content: [
            { type: 'text', text: 'broken' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG_BASE64 } },
          ],
          cache_control: { type: 'ephemeral' },
        },
        { type: 'text', text: 'Go on' },
      ],
    },
    { role: 'user', content: 'Please.' },
  ],
  tools: [
    ...FULL_MESSAGES.tools,
    { name: 'book', description: 'Books', input_schema: HARD_SCHEMA, input_examples: [{ place: { city: 'Oslo' } }] },
    { name: LONG_NAME, input_schema: {} },
  ],
};

export const MESSAGES_VARIANTS: Readonly<Record<string, JsonObject>> = {
  'no tool may be called': { tool_choice: { type: 'none' } },
  'some tool must be called': { tool_choice: { type: 'any' }, thinking: { type: 'disabled' } },
  'one tool must be called': { tool_choice: { type: 'tool', name: 'book' }, thinking: { type: 'disabled' } },
  'thinking as the model likes': { thinking: { type: 'adaptive', display: 'omitted' } },
  'no thinking': { thinking: { type: 'disabled' } },
  'nothing said about thinking': { thinking: null, output_config: null },
  'the most effort': { thinking: null, output_config: { effort: 'max' } },
  'no limit': { max_tokens: undefined },
  'a high temperature': { temperature: 1.5, thinking: null },
  'the system prompt as text': { system: 'Be brief.' },
  'a later system message': {
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'system', content: 'From now on in French.' },
      { role: 'user', content: 'Go on' },
    ],
  },
  'the fast speed': { speed: 'fast', service_tier: null },
  'a stream': { stream: true },
  'an answer begun': {
    messages: [
      { role: 'user', content: 'Say ABC.' },
      { role: 'assistant', content: 'AB ' },
    ],
  },
  'tools of the vendor': {
    tools: [
      { type: 'bash_20250124', name: 'bash' },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 2, blocked_domains: ['example.com'] },
      { type: 'code_execution_20250825', name: 'code_execution' },
    ],
    tool_choice: null,
  },
  'tools in the past alone': { tools: undefined, tool_choice: undefined },
  'a stored file': {
    messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }] }],
  },
};
