import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ExactNumber, parseKeepingNumbers } from '../../lib/json.ts';
import { encodeRequest } from './request/request-out.ts';
import { decode, decodeText, encode, target } from '../../../tests/support/wire/messages/request.ts';

type Wire = Record<string, unknown>;

const VENDOR = target({ vendor: true });

const word = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text.trim() !== '');
const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,20}$/);
const flag = fc.boolean();
const count = fc.nat({ max: 9 });
/** A number that a double would change. */
const longNumber = fc.stringMatching(/^-?[1-9]\d{16,20}(\.\d{1,5}[1-9])?$/).map((digits) => new ExactNumber(digits));
const anything = fc.oneof(fc.jsonValue({ maxDepth: 2 }), longNumber, fc.array(longNumber, { maxLength: 2 }));
// A null in an unknown member is the same as none.
const unknownMember = anything.filter((value) => value !== null);
const anyObject = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), anything, { maxKeys: 3 });

/** An object with required members, some of the optional ones, and now and then an unknown member. */
function shape(required: Wire, optional: Wire = {}): fc.Arbitrary<Wire> {
  const arbitraries = Object.fromEntries(
    Object.entries({ ...required, ...optional, x_unknown: unknownMember }).map(([member, value]) => [
      member,
      value instanceof fc.Arbitrary ? value : fc.constant(value),
    ]),
  );
  return fc.record(arbitraries, { requiredKeys: Object.keys(required) });
}

const mark = shape({ type: 'ephemeral' }, { ttl: fc.constantFrom('5m', '1h') });
// Rare, so that few prompts come to more marks than are sent.
const marked = { cache_control: mark };

const citation = fc.oneof(
  shape({
    type: 'char_location',
    cited_text: word,
    document_index: count,
    document_title: fc.option(word),
    start_char_index: count,
    end_char_index: count,
  }),
  shape({
    type: 'web_search_result_location',
    cited_text: word,
    url: word,
    title: fc.option(word),
    encrypted_index: word,
  }),
  shape({
    type: 'search_result_location',
    cited_text: word,
    search_result_index: count,
    source: word,
    title: word,
    start_block_index: count,
    end_block_index: count,
  }),
  shape({ type: 'future_location', where: anything }),
);

const text = shape({ type: 'text', text: word }, { citations: fc.array(citation, { maxLength: 2 }), ...marked });
const image = shape(
  {
    type: 'image',
    source: fc.oneof(
      shape({
        type: 'base64',
        media_type: fc.constantFrom('image/png', 'image/webp'),
        data: fc.base64String({ maxLength: 12 }),
      }),
      shape({ type: 'url', url: fc.constant('https://example.com/a.png') }),
      shape({ type: 'file', file_id: word }),
    ),
  },
  marked,
);
const documentBlock = shape(
  {
    type: 'document',
    source: fc.oneof(
      shape({ type: 'base64', media_type: 'application/pdf', data: fc.base64String({ maxLength: 12 }) }),
      shape({ type: 'text', media_type: 'text/plain', data: word }),
      shape({
        type: 'content',
        content: fc.oneof(word, fc.array(fc.oneof(text, image), { minLength: 1, maxLength: 2 })),
      }),
      shape({ type: 'url', url: fc.constant('https://example.com/a.pdf') }),
      shape({ type: 'file', file_id: word }),
    ),
  },
  { title: word, context: word, citations: shape({ enabled: flag }), ...marked },
);
const searchResult = shape(
  {
    type: 'search_result',
    source: word,
    title: word,
    content: fc.array(shape({ type: 'text', text: word }), { maxLength: 2 }),
  },
  { citations: shape({ enabled: flag }), ...marked },
);
const caller = { caller: shape({ type: 'direct' }) };
const toolUse = shape({ type: 'tool_use', id: name, name, input: fc.oneof(anyObject, word) }, { ...caller, ...marked });
const toolResult = shape(
  { type: 'tool_result', tool_use_id: name },
  {
    content: fc.oneof(
      word,
      fc.array(fc.oneof(text, image, documentBlock, searchResult, shape({ type: 'tool_reference', tool_name: name })), {
        maxLength: 2,
      }),
    ),
    is_error: flag,
    ...marked,
  },
);
const result = { tool_use_id: name, content: anyObject };
const block = fc.oneof(
  { weight: 3, arbitrary: text },
  image,
  documentBlock,
  searchResult,
  toolUse,
  toolResult,
  shape({ type: 'thinking', thinking: fc.string(), signature: word }),
  shape({ type: 'redacted_thinking', data: word }),
  shape(
    {
      type: 'web_search_tool_result',
      tool_use_id: name,
      content: fc.oneof(
        fc.array(
          shape(
            { type: 'web_search_result', url: word, title: word, encrypted_content: word },
            { page_age: fc.option(word) },
          ),
          { maxLength: 2 },
        ),
        shape({ type: 'web_search_tool_result_error', error_code: 'unavailable' }),
      ),
    },
    marked,
  ),
  shape({ type: 'compaction', content: fc.option(word) }, { encrypted_content: fc.option(word), ...marked }),
  shape({ type: 'advisor_tool_result', ...result }),
  shape({ type: 'bash_code_execution_tool_result', ...result }),
  shape({ type: 'container_upload', file_id: word }),
  shape({ type: 'kind_of_the_future', value: anything }),
);

/** A tool that the vendor ran, and what it found. */
const serverTool = fc
  .record({
    use: shape({ type: 'server_tool_use', name, input: anyObject }, { ...caller, ...marked }),
    result: shape({ type: fc.constantFrom('web_fetch_tool_result', 'tool_search_tool_result'), content: anyObject }),
    id: fc.stringMatching(/^srvtoolu_[a-zA-Z0-9_]{1,9}$/),
  })
  .map(({ use, result: found, id }): readonly Wire[] => [
    { ...use, id },
    { ...found, tool_use_id: id },
  ]);
const blocks = fc
  .array(fc.oneof({ weight: 9, arbitrary: block.map((one): readonly Wire[] => [one]) }, serverTool), {
    minLength: 1,
    maxLength: 4,
  })
  .map((pieces) => pieces.flat());

const toolChange = shape({ type: 'tool_removal', tool: shape({ type: 'tool_reference', name }) });
const message = fc.oneof(
  shape({
    role: fc.constantFrom('user', 'assistant'),
    content: fc.oneof(word, blocks),
  }),
  shape({
    role: 'system',
    content: fc.oneof(word, fc.array(fc.oneof(text, toolChange), { minLength: 1, maxLength: 2 })),
  }),
);

const clientTool = shape(
  { name, input_schema: shape({ type: 'object' }, { properties: anyObject }) },
  {
    type: 'custom',
    description: fc.string(),
    strict: flag,
    defer_loading: flag,
    eager_input_streaming: flag,
    input_examples: fc.array(anyObject, { maxLength: 2 }),
    allowed_callers: fc.constant(['direct']),
    ...marked,
  },
);
const nativeTool = fc.oneof(
  shape({ type: 'bash_20250124', name: 'bash' }, marked),
  shape({ type: 'web_search_20250305', name: 'web_search' }, { max_uses: count, allowed_domains: fc.array(word) }),
  shape({ type: 'computer_20990101', display_width_px: count }),
);
const tools = fc.uniqueArray(fc.oneof(clientTool, nativeTool), {
  maxLength: 4,
  selector: (tool) => tool['name'] ?? tool['type'],
});

const sequential = { disable_parallel_tool_use: flag };
const thinking = fc.oneof(
  shape({ type: 'enabled', budget_tokens: fc.integer({ min: 1, max: 9_000 }) }, { display: 'summarized' }),
  shape({ type: 'disabled' }),
  shape({ type: 'adaptive' }, { display: fc.constantFrom('summarized', 'omitted') }),
  shape({ type: 'between_tools' }),
);

const body = fc
  .record({
    prompt: shape(
      { messages: fc.array(message, { minLength: 1, maxLength: 4 }), max_tokens: fc.integer({ min: 1, max: 99_999 }) },
      {
        system: fc.oneof(word, fc.array(text, { minLength: 1, maxLength: 2 })),
        tools,
        thinking,
        output_config: shape({
          effort: fc.constantFrom('low', 'medium', 'high', 'xhigh', 'max'),
          format: shape({ type: 'json_schema', schema: anyObject }),
          task_budget: shape({ type: 'tokens', total: 20_000 }, { remaining: count }),
        }),
        temperature: fc.constantFrom(0, 0.5, 1),
        top_p: fc.constantFrom(0, 0.9, 1),
        top_k: count,
        stop_sequences: fc.array(fc.string(), { maxLength: 5 }),
        service_tier: fc.constantFrom('auto', 'standard_only', 'flex'),
        speed: fc.constantFrom('fast', 'standard'),
        context_management: shape({ edits: fc.constant([{ type: 'clear_tool_uses_20250919' }]) }),
        container: fc.oneof(word, anyObject),
        mcp_servers: fc.array(anyObject, { maxLength: 1 }),
        inference_geo: word,
        cache_control: mark,
      },
    ),
    choice: fc.oneof(
      fc.constant(undefined),
      shape({ type: fc.constantFrom('auto', 'any') }, sequential),
      shape({ type: 'none' }),
      shape({ type: 'tool' }, sequential),
    ),
    stream: fc.constantFrom(undefined, false, true),
  })
  .map(({ prompt, choice, stream }) => withChoice({ ...prompt, ...(stream !== undefined && { stream }) }, choice));

/** A named choice names one of the tools, or none of an empty list. */
function withChoice(wire: Wire, choice: Wire | undefined): Wire {
  if (choice === undefined) return wire;
  if (choice['type'] !== 'tool') return { ...wire, tool_choice: choice };
  const offered = Array.isArray(wire['tools']) ? wire['tools'] : [];
  const named = offered.find((tool: Wire) => typeof tool['name'] === 'string');
  if (offered.length > 0 && named === undefined) return wire;
  return { ...wire, tool_choice: { ...choice, name: named?.['name'] ?? 'any_name' } };
}

function countMarks(wire: Wire): number {
  return JSON.stringify(wire).split('"cache_control"').length - 1;
}

function asWritten(value: unknown): unknown {
  return parseKeepingNumbers(JSON.stringify(value));
}

// @spec translate-1
test('sends a request of this format unchanged to an upstream of this format', () => {
  fc.assert(
    fc.property(body, (wire) => {
      fc.pre(countMarks(wire) <= 4);
      const { body: sent } = encodeRequest(decode({ ...wire, model: 'acme/one', user: 'raw-id' }), VENDOR);
      const { stream, ...rest } = wire;
      const expected = {
        ...rest,
        model: 'upstream-model',
        metadata: { user_id: 'hash-1' },
        ...(stream === true && { stream }),
        // An empty list of tools is the same as none.
        ...(Array.isArray(rest['tools']) && rest['tools'].length === 0 && { tools: undefined }),
      };
      assert.deepEqual(asWritten(sent), asWritten(expected));
    }),
    { numRuns: 300 },
  );
});

test('fields of the gateway never reach an upstream', () => {
  const wire = {
    model: 'acme/one',
    messages: [{ role: 'user', content: 'hi' }],
    max_tokens: 10,
    provider: { order: ['a'] },
    plugins: [],
    route: 'fallback',
    session_id: 's',
    trace: { trace_id: 't' },
    stop_server_tools_when: [{ type: 'step_count_is', step_count: 1 }],
    max_tool_calls: 3,
    preset: 'p',
    debug: { echo_upstream_body: true },
    fallbacks: [{ model: 'acme/two' }],
    user: 'someone@example.com',
    metadata: { user_id: 'raw', team: 'red' },
    anthropic_version: '2023-06-01',
    n: 2,
    stream: false,
  };
  assert.deepEqual(encode(decode(wire), VENDOR).body, {
    model: 'upstream-model',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'hi' }],
    metadata: { user_id: 'hash-1', team: 'red' },
  });
});

test('null in a nullable field is the same as nothing', () => {
  const wire = {
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'a', citations: null, cache_control: null }] },
      {
        role: 'user',
        content: [{ type: 'document', source: { type: 'url', url: 'https://e.com' }, title: null, context: null }],
      },
    ],
    max_tokens: 10,
    system: null,
    tools: null,
    tool_choice: null,
    thinking: null,
    output_config: { effort: null, format: null, task_budget: null },
    temperature: null,
    top_p: null,
    top_k: null,
    stop_sequences: null,
    stream: null,
    service_tier: null,
    speed: null,
    context_management: null,
    fallbacks: null,
    route: null,
    metadata: { user_id: null },
  };
  assert.deepEqual(encode(decode(wire), VENDOR).body, {
    model: 'upstream-model',
    max_tokens: 10,
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      { role: 'user', content: [{ type: 'document', source: { type: 'url', url: 'https://e.com' } }] },
    ],
    metadata: { user_id: 'hash-1' },
  });
});

test('numbers in tool inputs and in unknown blocks stay as written', () => {
  const wire = `{"max_tokens":9,"messages":[{"role":"assistant","content":[
    {"type":"tool_use","id":"a","name":"f","input":{"price":1.0,"id":12345678901234567890,"tiny":1e-7,"neg":-0}},
    {"type":"kind_of_the_future","n":2.50}]}]}`;
  const request = decodeText(wire);
  const sent = JSON.stringify(encodeRequest(request, VENDOR).body);
  assert.match(sent, /\{"price":1\.0,"id":12345678901234567890,"tiny":1e-7,"neg":-0\}/);
  assert.match(sent, /"n":2\.50/);
  const [call] = request.turns[0]?.blocks ?? [];
  assert.equal(
    call?.type === 'tool-call' && call.input,
    '{"price":1.0,"id":12345678901234567890,"tiny":1e-7,"neg":-0}',
  );
});
