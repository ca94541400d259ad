import { PNG_BASE64, PNG_DATA_URL } from '../support/files/media.ts';
import { createSecretBox, secretFrom } from '../../src/lib/secret-box.ts';
import { parseJson, type JsonObject } from '../../src/lib/json.ts';
import type { GenerationRequest } from '../../src/canonical/request.ts';
import { pluginSchema } from '../../src/plugins/index.ts';
import { createResponsesRequestDecoder } from '../../src/wire/responses/request/request-in.ts';
import { prepareDecoded, type RequestTarget } from '../support/prepare-request.ts';
import { createContainers } from '../../src/wire/responses/containers.ts';

const ACCOUNT_ID = 'acc-1';
export const CONTAINERS = createContainers(createSecretBox([secretFrom('one')]));

const decode = createResponsesRequestDecoder({ plugin: pluginSchema, containers: CONTAINERS });

/** A request of the responses format as its caller's account has it. */
export function decodeResponses(body: JsonObject, accountId = ACCOUNT_ID): GenerationRequest {
  const text = JSON.stringify(body);
  return decode(parseJson(text) ?? null, text, { serviceMetadata: false, betas: [] }, { accountId });
}

/** The same as it leaves for an upstream. */
export function prepareResponsesRequest(body: JsonObject, target: RequestTarget): JsonObject {
  return prepareDecoded(() => decodeResponses(body), target);
}

/** Reasoning of an earlier turn, as its caller holds it. */
export function sealReasoning(content: JsonObject, accountId = ACCOUNT_ID): string {
  const sealed = CONTAINERS.seal('reasoning', accountId, { v: 1, ...content });
  if (sealed === undefined) throw new Error('is too large for a container');
  return sealed;
}

const CLAUDE_THOUGHT = sealReasoning({
  item: 'rs_1',
  family: 'anthropic-claude-v1',
  blocks: [{ form: 'text', text: 'The user wants a file list.', signature: 'EqQB', index: 0 }],
});
const GEMINI_SIGNATURE = sealReasoning({
  item: 'rs_2',
  family: 'google-gemini-v1',
  blocks: [{ form: 'encrypted', text: 'c2lnbmF0dXJl', callId: 'call_patch', index: 0 }],
});
const PATCH = '*** Begin Patch\n*** Update File: "a.ts"\n+\tconst wave = "🌊";\n*** End Patch';
const LIST_PARAMETERS = { type: 'object', properties: { d: { type: 'string' } }, required: ['d'] };

/** Every kind of item, part, tool and setting of `POST /responses` that any upstream can be sent. */
export const RESPONSES: JsonObject = {
  model: 'acme/one',
  instructions: 'Be brief.',
  input: [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be kind.' }] },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Look:', prompt_cache_breakpoint: { mode: 'explicit' } },
        { type: 'input_image', image_url: PNG_DATA_URL, detail: 'original' },
        { type: 'input_image', image_url: 'https://example.com/a.png' },
        { type: 'input_file', filename: 'a (1).pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQ=' },
        { type: 'input_file', file_url: 'https://example.com/b.pdf' },
        { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
        { type: 'input_video', video_url: 'https://example.com/a.mp4' },
      ],
    },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'The user wants a file list.' }],
      encrypted_content: CLAUDE_THOUGHT,
    },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      phase: 'commentary',
      content: [{ type: 'output_text', text: 'I look.', annotations: [], logprobs: [] }],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'call_a', name: 'ls', arguments: '{"d": ".", "n": 1.0}' },
    { type: 'function_call', call_id: 'call_b', name: 'read', namespace: 'mcp__files', arguments: '' },
    { type: 'function_call', call_id: 'call_c', name: 'ls', arguments: 'not json' },
    { type: 'function_call_output', call_id: 'call_b', output: [{ type: 'input_image', image_url: PNG_DATA_URL }] },
    { type: 'function_call_output', call_id: 'call_a', output: 'a b' },
    { type: 'function_call_output', call_id: 'call_c', output: { count: 2 } },
    { type: 'reasoning', summary: [], encrypted_content: GEMINI_SIGNATURE },
    { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_patch', name: 'patch', input: PATCH },
    { type: 'local_shell_call', call_id: 'call_ls', action: { type: 'exec', command: ['ls'], env: {} } },
    { type: 'shell_call', call_id: 'call_sh', action: { commands: ['ls', 'pwd'], timeout_ms: 500 } },
    {
      type: 'apply_patch_call',
      call_id: 'call_ap',
      status: 'completed',
      operation: { type: 'delete_file', path: 'b.ts' },
    },
    { type: 'tool_search_call', call_id: 'call_ts', execution: 'client', arguments: { query: 'mail' } },
    { type: 'custom_tool_call_output', call_id: 'call_patch', output: 'Done.' },
    { type: 'local_shell_call_output', call_id: 'call_ls', output: 'a.ts' },
    {
      type: 'shell_call_output',
      call_id: 'call_sh',
      output: [{ stdout: 'a.ts', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
    },
    { type: 'apply_patch_call_output', call_id: 'call_ap', status: 'failed', output: 'no such file' },
    {
      type: 'tool_search_output',
      call_id: 'call_ts',
      execution: 'client',
      tools: [
        {
          type: 'function',
          name: 'send_mail',
          description: 'Sends.',
          parameters: { type: 'object' },
          defer_loading: true,
        },
      ],
    },
    { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: PNG_BASE64 },
    { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['a'] },
    { type: 'reasoning', id: 'rs_9', summary: [{ type: 'summary_text', text: 'Done?' }], encrypted_content: 'gAAAAB' },
    {
      type: 'message',
      role: 'assistant',
      phase: 'final_answer',
      content: [
        { type: 'output_text', text: 'All done.' },
        { type: 'refusal', refusal: 'No more.' },
      ],
    },
    { type: 'agent_message', author: 'scout', recipient: 'main', content: [{ type: 'input_text', text: 'Found it.' }] },
    { type: 'additional_tools', role: 'developer', tools: [{ type: 'custom', name: 'note' }] },
    { role: 'user', content: 'And now?' },
  ],
  tools: [
    { type: 'function', name: 'ls', description: 'Lists.', parameters: LIST_PARAMETERS },
    { type: 'function', name: 'strict_ls', parameters: LIST_PARAMETERS, strict: true },
    {
      type: 'namespace',
      name: 'mcp__files',
      description: 'Files of the project.',
      tools: [
        { type: 'function', name: 'read', description: 'Reads.', parameters: { type: 'object', properties: {} } },
        { type: 'custom', name: 'write' },
      ],
    },
    {
      type: 'custom',
      name: 'patch',
      description: 'Patches files.',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch"' },
    },
    { type: 'local_shell' },
    { type: 'shell' },
    { type: 'apply_patch' },
    {
      type: 'tool_search',
      execution: 'client',
      description: 'Finds tools.',
      parameters: { type: 'object', properties: {} },
    },
  ],
  tool_choice: { type: 'function', name: 'read', namespace: 'mcp__files' },
  parallel_tool_calls: false,
  max_output_tokens: 2_000,
  reasoning: { effort: 'high', summary: 'auto' },
  text: {
    verbosity: 'low',
    format: {
      type: 'json_schema',
      name: 'list',
      strict: true,
      schema: {
        type: 'object',
        properties: { files: { type: 'array', items: { type: 'string' } } },
        required: ['files'],
        additionalProperties: false,
      },
    },
  },
  temperature: 0.5,
  top_p: 0.9,
  top_logprobs: 2,
  include: ['reasoning.encrypted_content', 'file_search_call.results'],
  truncation: 'auto',
  store: false,
  stream: true,
  metadata: { task: 'list' },
  client_metadata: { installation: 'secret' },
  safety_identifier: 'user-1',
  prompt_cache_key: 'thread-1',
  prompt_cache_retention: '24h',
  service_tier: 'auto',
  x_unknown: { a: 1 },
};

/** What changes when one member does. */
export const RESPONSES_VARIANTS: Readonly<Record<string, JsonObject>> = {
  'text, whole': { stream: false, text: undefined, top_logprobs: undefined },
  'a custom tool is forced': { tool_choice: { type: 'custom', name: 'patch' } },
  'a shell is forced': { tool_choice: { type: 'shell' } },
  'some tools are allowed': {
    tool_choice: {
      type: 'allowed_tools',
      mode: 'required',
      tools: [
        { type: 'function', name: 'ls' },
        { type: 'custom', name: 'patch' },
      ],
    },
  },
  'no reasoning': { reasoning: { effort: 'none' } },
  'a result is missing': {
    input: [
      { role: 'user', content: 'List.' },
      { type: 'function_call', call_id: 'call_a', name: 'ls', arguments: '{"d":"."}' },
    ],
  },
};
