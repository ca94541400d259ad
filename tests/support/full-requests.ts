import { PNG_BASE64, PNG_DATA_URL } from './files/media.ts';

/** Stands in every value that is for the gateway alone: found upstream, it has leaked. */
export const CANARY = 'canary-d41d8c';

/** Members that only the gateway may see, in both formats. Every value holds the canary where it can. */
const GATEWAY_MEMBERS = {
  provider: {
    order: ['chatty', `${CANARY}-order`],
    allow_fallbacks: true,
    require_parameters: false,
    data_collection: 'deny',
    zdr: true,
    enforce_distillable_text: false,
    only: ['chatty', 'chat-vendor', 'wordy', 'messages-vendor', `${CANARY}-only`],
    ignore: [`${CANARY}-ignore`],
    sort: { partition: 'model' },
    max_price: { prompt: '10', completion: 20, request: 1, image: 1, audio: 1 },
  },
  route: 'fallback',
  plugins: [
    { id: 'web', enabled: false, search_prompt: CANARY },
    { id: 'response-healing', enabled: false },
  ],
  session_id: `${CANARY}-session`,
  user: `${CANARY}-user@example.com`,
  trace: { trace_id: `${CANARY}-trace`, trace_name: CANARY, generation_name: CANARY, own_key: CANARY },
  stop_server_tools_when: [{ type: 'has_tool_call', tool_name: CANARY }],
  max_tool_calls: 5,
  debug: { echo_upstream_body: true },
  transforms: [],
  usage: { include: true },
  x_search_filter: { allowed_x_handles: [CANARY] },
  n: 2,
};

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', exclusiveMinimum: 0 } },
  required: ['city'],
  additionalProperties: false,
};

/** Every member of `POST /chat/completions` that there is. @spec chat-29 */
export const FULL_CHAT = {
  ...GATEWAY_MEMBERS,
  models: ['acme/chat', 'acme/openai'],
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
    { role: 'developer', content: 'Be kind.' },
    {
      role: 'user',
      name: 'ann',
      content: [
        { type: 'text', text: 'Look:', cache_control: { type: 'ephemeral' } },
        { type: 'image_url', image_url: { url: PNG_DATA_URL, detail: 'low' } },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQ=' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      model: 'acme/before',
      reasoning: 'I look.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'I look.', signature: 'c2ln', format: 'anthropic-claude-v1' },
      ],
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: '7 degrees' },
    { role: 'user', content: 'Go on' },
  ],
  temperature: 0.5,
  top_p: 0.9,
  top_k: 40,
  top_a: 0.1,
  min_p: 0.05,
  frequency_penalty: 0.1,
  presence_penalty: 0.2,
  repetition_penalty: 1.1,
  logit_bias: { '50256': -100 },
  logprobs: true,
  top_logprobs: 2,
  max_tokens: 900,
  max_completion_tokens: 800,
  stop: ['END'],
  seed: 7,
  metadata: { tag: `${CANARY}-metadata` },
  modalities: ['text'],
  audio: { voice: 'alloy', format: 'wav' },
  parallel_tool_calls: false,
  tools: [
    {
      type: 'function',
      function: { name: 'get_weather', description: 'The weather', parameters: SCHEMA, strict: true },
      cache_control: { type: 'ephemeral' },
    },
  ],
  tool_choice: 'auto',
  response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA, strict: true } },
  prediction: { type: 'content', content: 'probably' },
  reasoning: { effort: 'low', summary: 'auto', exclude: false },
  reasoning_effort: 'low',
  include_reasoning: true,
  verbosity: 'low',
  service_tier: 'default',
  prompt_cache_key: 'cache-key',
  prompt_cache_options: { mode: 'explicit', ttl: '30m' },
  cache_control: { type: 'ephemeral' },
  image_config: { size: '1K' },
  web_search_options: { search_context_size: 'low' },
  stream_options: { include_usage: true },
  structured_outputs: true,
  safe_prompt: true,
  raw_mode: false,
  acme_private: { kept: [1, 2.5, '3'] },
} as const;

/** Every member of `POST /messages` that there is, but `models`, which excludes `fallbacks`. @spec messages-1 */
export const FULL_MESSAGES = {
  ...GATEWAY_MEMBERS,
  fallbacks: [{ model: 'acme/anthropic' }],
  max_tokens: 4_000,
  system: [
    { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } },
    { type: 'text', text: 'Be kind.' },
  ],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look:', cache_control: { type: 'ephemeral' } },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG_BASE64 } },
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQ=' },
          title: 'a.pdf',
          context: 'a file',
          citations: { enabled: true },
        },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I look.', signature: 'c2ln' },
        { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [{ type: 'text', text: '7 degrees' }],
          is_error: false,
        },
        { type: 'text', text: 'Go on' },
      ],
    },
  ],
  temperature: 1,
  top_p: 0.97,
  top_k: 40,
  stop_sequences: ['END'],
  tools: [
    {
      type: 'custom',
      name: 'get_weather',
      description: 'The weather',
      input_schema: SCHEMA,
      strict: true,
      eager_input_streaming: true,
      cache_control: { type: 'ephemeral' },
    },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 2_000, display: 'summarized' },
  output_config: {
    effort: 'medium',
    format: { type: 'json_schema', schema: SCHEMA },
    task_budget: { type: 'tokens', total: 50_000 },
  },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  cache_control: { type: 'ephemeral' },
  speed: 'standard',
  service_tier: 'auto',
  metadata: { user_id: `${CANARY}-metadata-user` },
  container: 'container_1',
  mcp_servers: [{ type: 'url', name: 'docs', url: 'https://example.com/mcp' }],
  inference_geo: 'us',
  anthropic_version: '2023-06-01',
  acme_private: { kept: [1, 2.5, '3'] },
} as const;

/** A request of the responses format with items and tools of many kinds. */
export const FULL_RESPONSES = {
  instructions: 'Be brief.',
  input: [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be kind.' }] },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'look' },
        { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' },
        { type: 'input_file', file_data: 'aGVsbG8=', filename: 'a.txt' },
      ],
    },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'sr1.v1.x' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'so', annotations: [] }] },
    { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'read', namespace: 'files', arguments: '{"a":"1"}' },
    { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: '*** Begin' },
    { type: 'local_shell_call', id: 'ls_1', call_id: 'c3', action: { type: 'exec', command: ['ls'], env: {} } },
    { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'done' }] },
    { type: 'custom_tool_call_output', call_id: 'c2', output: 'ok' },
    { type: 'local_shell_call_output', call_id: 'c3', output: 'a b' },
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
    { type: 'message', role: 'user', content: 'go on' },
  ],
  tools: [
    {
      type: 'function',
      name: 'f',
      parameters: { type: 'object', properties: { a: { type: 'string' } } },
      strict: true,
    },
    { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
    { type: 'namespace', name: 'files', description: 'Files.', tools: [{ type: 'function', name: 'read' }] },
    { type: 'local_shell' },
    { type: 'web_search', filters: { allowed_domains: ['example.com'] } },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  max_output_tokens: 200,
  reasoning: { effort: 'low', summary: 'auto' },
  text: { format: { type: 'text' }, verbosity: 'low' },
  include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
  metadata: { a: 'b' },
  store: true,
  truncation: 'disabled',
  top_logprobs: 1,
  prompt_cache_key: 'key',
  safety_identifier: 'someone',
};

/** Headers that say things to the gateway alone, beside those that every client sends. */
export const TALKATIVE_HEADERS = {
  'x-session-id': `${CANARY}-session`,
  'http-referer': `https://${CANARY}.example.com/`,
  'x-service-title': CANARY,
  'x-title': CANARY,
  'x-service-categories': 'cli-agent',
  'x-service-metadata': 'enabled',
  'x-service-cache': 'false',
  'user-agent': `${CANARY}/1.0`,
  cookie: `session=${CANARY}`,
  'x-forwarded-for': '203.0.113.7',
  'x-stainless-lang': 'js',
  'x-own-header': CANARY,
  'anthropic-version': '2023-06-01',
  'anthropic-dangerous-direct-browser-access': 'true',
} as const;
