import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { textOf } from '../../src/wire/json-fields.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { json, sse, stream, type Arrived, type Script } from '../support/upstream.ts';
import { ONE_OF_EACH, shareAllUpstreams, UPSTREAMS, type UpstreamName } from '../support/upstreams/all-upstreams.ts';
import { emit, formatStream, speak, type SpokenFormat } from '../support/upstreams/speak.ts';
import { converseEvents, frameConverse, type Spoken } from '../support/upstreams/spoken.ts';
import { checkStream, lastResponse } from '../support/wire/responses/stream-checker.ts';

const upstreams = shareAllUpstreams();
const SEAL = 'c2VhbGVkLXRob3VnaHQ=';
const USER: JsonObject = { role: 'user', content: 'Go.' };
const GO_ON: JsonObject = { role: 'user', content: 'Go on.' };

interface Served {
  readonly response: JsonObject;
  /** What reached the upstream, oldest first. */
  readonly arrived: readonly Arrived[];
  readonly stream: string;
  readonly id: string;
}

async function ask(served: UpstreamName, script: Script, body: JsonObject, headers = {}): Promise<Served> {
  const { gateway, upstream } = upstreams();
  upstream.arrived.length = 0;
  upstream.script = script;
  const response = await gateway.post('/responses', { model: `acme/${served}`, store: false, ...body }, headers);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return {
    response: body['stream'] === true ? lastResponse(checkStream(text)) : (JSON.parse(text) as JsonObject),
    arrived: [...upstream.arrived],
    stream: text,
    id: response.headers.get('x-generation-id') ?? '',
  };
}

const outputOf = ({ response }: Served): readonly JsonObject[] => listOf(response['output']).map(objectOf);

/** As Codex keeps items: no ids, no status, no readable content of reasoning. */
function kept(items: readonly JsonObject[]): readonly JsonObject[] {
  return items.map(({ id: _id, status: _status, ...item }) => {
    if (item['type'] !== 'reasoning') return item;
    const { content: _content, ...rest } = item;
    return rest;
  });
}

function inTurn(...scripts: readonly Script[]): Script {
  let at = 0;
  return (...exchange) => (scripts[at++] ?? emit('Done.'))(...exchange);
}

const PATCH = '*** Begin Patch\n+\t"quoted" \\u0041 \\n é 🌊\n*** End Patch';
const TOOLS = [
  { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: A' } },
  { type: 'function', name: 'look', parameters: { type: 'object', properties: { at: { type: 'number' } } } },
];

/** A call of a custom tool as a model makes it: as text where it was declared so. */
function patching({ body }: Arrived): Spoken {
  const isCustom = listOf(body['tools'] as Json).some((tool) => objectOf(tool)['type'] === 'custom');
  const input = JSON.stringify({ input: PATCH });
  return { parts: [{ type: 'call', id: 'call_p', name: 'apply_patch', input, isCustom, signature: SEAL }] };
}

suite('a custom tool of a caller of the responses format', () => {
  for (const served of ONE_OF_EACH)
    // @spec responses-pains-20, responses-46, responses-47
    test(`is called with its text, streamed as it comes, and goes back as it was: ${served}`, async () => {
      const called = await ask(served, (arrived, ...rest) => speak(patching(arrived))(arrived, ...rest), {
        input: [USER],
        tools: TOOLS,
        stream: true,
      });
      const call = outputOf(called).find(({ type }) => type === 'custom_tool_call');
      assert.deepEqual([call?.['name'], call?.['input'], call?.['call_id']], ['apply_patch', PATCH, 'call_p']);
      const deltas = checkStream(called.stream).filter(({ name }) => name === 'custom_tool_call_input.delta');
      assert.equal(deltas.map(({ data }) => textOf(data['delta'])).join(''), PATCH);
      const output = { type: 'custom_tool_call_output', call_id: 'call_p', output: 'Patched.' };
      const next = await ask(served, emit('Done.'), { input: [USER, ...kept(outputOf(called)), output], tools: TOOLS });
      const sent = next.arrived[0]?.text ?? '';
      const asText = JSON.stringify(PATCH).slice(1, -1);
      const asArguments = JSON.stringify(JSON.stringify({ input: PATCH })).slice(1, -1);
      assert.ok(sent.includes(asText) || sent.includes(asArguments), sent);
      assert.match(sent, /Patched\./);
    });
});

suite('arguments of a call', () => {
  for (const served of ['chat', 'claude', 'responses', 'converse', 'cohere'] as const)
    for (const [input, given] of [
      ['', '{}'],
      ['{"at": oops', '{"at": oops'],
    ] as const)
      // @spec responses-pains-27
      test(`reach the client as the model wrote them, and empty ones as an object: ${served}, ${given}`, async () => {
        const script = speak({ parts: [{ type: 'call', id: 'call_a', name: 'look', input }] });
        const called = await ask(served, script, { input: [USER], tools: TOOLS, stream: true });
        assert.deepEqual(
          outputOf(called).map(({ arguments: text }) => text),
          [given],
        );
      });
});

suite('a server tool of a caller of the responses format', () => {
  const first = speak({
    parts: [
      { type: 'text', text: 'Let me look.' },
      { type: 'call', id: 'call_0123456789', name: 'service_datetime', input: '{}', signature: SEAL },
    ],
  });
  const tools = [{ type: 'service:datetime', parameters: { timezone: 'UTC' } }];

  for (const served of ONE_OF_EACH)
    for (const streaming of [true, false])
      // @spec responses-pains-24, responses-65
      test(`is an item of its own, which comes back as call and result: ${served}, stream: ${streaming}`, async () => {
        const done = await ask(served, inTurn(first, emit('It is noon.')), {
          input: [USER],
          tools,
          stream: streaming,
        });
        assert.deepEqual(
          outputOf(done)
            .map(({ type }) => type)
            .filter((type) => type !== 'reasoning'),
          ['message', 'service:datetime', 'message'],
        );
        const next = await ask(served, emit('Done.'), { input: [USER, ...kept(outputOf(done)), GO_ON], tools });
        const sent = next.arrived[0]?.text ?? '';
        assert.match(sent, /"service_datetime"/, 'the model sees its call');
        assert.match(sent, /\\?"timezone\\*":\\*"UTC/, 'and the result');
        assert.ok(!sent.includes('service:datetime'), 'the item itself is not for an upstream');
      });
});

/** A stream of a format that ends, without the format's own end, in the middle of a text. */
function cutStream(format: SpokenFormat): Script {
  const spoken: Spoken = {
    parts: [
      { type: 'text', text: 'So far' },
      { type: 'text', text: ' and on' },
    ],
  };
  if (format === 'responses') {
    const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [] };
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    const response = { id: 'resp_1', object: 'response', model: 'm', status: 'in_progress', output: [], usage: null };
    const frames = [
      { type: 'response.created', response },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_text.delta', ...place, delta: 'So far' },
    ];
    return stream(sse(frames, { named: true }));
  }
  if (format === 'converse')
    return (_arrived, response) => {
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
      response.end(frameConverse(converseEvents(spoken).slice(0, 2)));
    };
  const text = formatStream(format, spoken).body.toString('utf8');
  const end = text.indexOf('\n\n', text.indexOf('So far')) + 2;
  return stream(text.slice(0, end));
}

suite('a stream that its upstream ends too early', () => {
  const formats: Readonly<Record<(typeof ONE_OF_EACH)[number], SpokenFormat>> = {
    chat: 'chat',
    claude: 'messages',
    gemini: 'gemini',
    responses: 'responses',
    converse: 'converse',
    cohere: 'cohere',
  };
  for (const served of ONE_OF_EACH)
    // @spec responses-pains-16, responses-77
    test(`is failed once, with what came of its item: ${served}`, async () => {
      const { response, stream: text } = await ask(served, cutStream(formats[served]), { input: [USER], stream: true });
      assert.equal(response['status'], 'failed');
      assert.equal(objectOf(response['error'])['code'], 'server_error');
      const [item, ...others] = listOf(response['output']).map(objectOf);
      assert.deepEqual([item?.['type'], item?.['status'], others], ['message', 'incomplete', []]);
      assert.equal(textOf(objectOf(listOf(item?.['content'])[0])['text']), 'So far');
      assert.doesNotMatch(text, /response\.completed|output_item\.done/);
    });
});

suite('a host that refuses a call without the thought that led to it', () => {
  const demanding =
    (said: Spoken): Script =>
    (arrived, ...rest) => {
      const bare = listOf(arrived.body['messages'] as Json)
        .map(objectOf)
        .some(({ tool_calls: calls, reasoning_content: thought }) => calls !== undefined && thought === undefined);
      const script = bare ? json(400, { error: { message: 'Missing `reasoning_content`.' } }) : speak(said);
      return script(arrived, ...rest);
    };

  // @spec responses-pains-4, responses-54
  test('gets it with each call of a session of three turns', async () => {
    let input: readonly JsonObject[] = [USER];
    for (const turn of [1, 2, 3]) {
      const call = { type: 'call', id: `call_${turn}`, name: 'look', input: '{"at":1}' } as const;
      const said: Spoken = { parts: [{ type: 'thought', text: `Thought ${turn}.` }, call] };
      const called = await ask('deepseek', demanding(said), { input: [...input], tools: TOOLS });
      const output = { type: 'function_call_output', call_id: `call_${turn}`, output: 'a boat' };
      input = [...input, ...kept(outputOf(called)), output];
    }
    const last = await ask('deepseek', demanding({ parts: [{ type: 'text', text: 'Boats.' }] }), {
      input: [...input],
      tools: TOOLS,
    });
    assert.equal(last.response['output_text'], 'Boats.');
    const thoughts = listOf(last.arrived[0]?.body['messages'] as Json).flatMap(
      (message) => textOf(objectOf(message)['reasoning_content']) ?? [],
    );
    assert.deepEqual(thoughts, ['Thought 1.', 'Thought 2.', 'Thought 3.']);
  });
});

suite('what a client says of its installation', () => {
  const headers = {
    originator: 'codex_cli_rs',
    version: '0.150.0',
    'session-id': 'session-secret',
    'thread-id': 'thread-secret',
    'x-codex-turn-state': 'turn-secret',
    'x-codex-installation-id': 'installation-secret',
    'x-openai-subagent': 'subagent-secret',
    'openai-beta': 'responses=experimental',
    'openai-organization': 'org-secret',
    'openai-project': 'project-secret',
    'x-stainless-os': 'stainless-secret',
  };

  for (const served of Object.keys(UPSTREAMS) as UpstreamName[])
    // @spec responses-pains-45, responses-15
    test(`does not reach an upstream: ${served}`, async () => {
      const metadata = { 'x-codex-installation-id': 'installation-secret' };
      const { arrived } = await ask(served, emit('Done.'), { input: [USER], client_metadata: metadata }, headers);
      const [{ headers: sent, text } = { headers: {}, text: '' }] = arrived;
      const found = Object.entries(sent).filter(
        ([name, value]) => name in headers || /codex|stainless|secret$/.test(`${name} ${String(value)}`),
      );
      assert.deepEqual(
        // The vendor's own switch, which the gateway sets, may have one of these names.
        found.filter(([name, value]) => name !== 'openai-beta' || value === headers['openai-beta']),
        [],
      );
      assert.doesNotMatch(text, /client_metadata|installation/);
    });
});

suite('a count of no log probabilities', () => {
  for (const served of ['chat', 'openai', 'responses'] as const)
    // @spec responses-10
    test(`is no parameter for an upstream: ${served}`, async () => {
      const none = await ask(served, emit('Done.'), { input: [USER], top_logprobs: 0 });
      assert.doesNotMatch(none.arrived[0]?.text ?? '', /logprobs/);
    });
});
