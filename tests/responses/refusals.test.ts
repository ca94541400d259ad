import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { emit, speak } from '../support/upstreams/speak.ts';

const USER: JsonObject = { role: 'user', content: 'Hello' };
const UNKNOWN_PART: JsonObject = {
  role: 'user',
  content: [
    { type: 'input_text', text: 'See' },
    { type: 'input_hologram', data: 'x' },
  ],
};
const FOREIGN: JsonObject = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAAAforeign' };
const LONG = 'The bridge over the river must carry forty tonnes. '.repeat(400);

interface Opened {
  readonly gateway: RunningGateway;
  readonly upstream: ScriptedUpstream;
  readonly post: (path: string, body: JsonObject, status: number) => Promise<JsonObject>;
}

/** A model behind each format of upstreams, and behind the vendor's own. */
async function open(t: { after(close: () => Promise<void>): void }): Promise<Opened> {
  const upstream = await startUpstream(emit('Done.'));
  const endpoint = (provider: string, model: string): string =>
    `{ endpoints: [{ provider: ${provider}, model: ${model}, price: { prompt: 1, completion: 2 } }] }`;
  const provider = (adapter: string): string =>
    `{ adapter: ${adapter}, base_url: "${upstream.baseUrl}", api_key: secret }`;
  const gateway = await startGateway({
    yaml: `
providers:
  vendor: ${provider('openai')}
  plain: ${provider('openai-compatible')}
  claude: ${provider('anthropic')}
  google: ${provider('google')}
models:
  acme/responses: ${endpoint('vendor', 'gpt-5.4-pro')}
  acme/chat: ${endpoint('plain', 'one')}
  acme/messages: ${endpoint('claude', 'claude-sonnet-4-5')}
  acme/gemini: ${endpoint('google', 'gemini-3-pro')}
`,
  });
  t.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  return {
    gateway,
    upstream,
    async post(path, body, status) {
      const response = await gateway.post(path, body);
      const text = await response.text();
      assert.equal(response.status, status, text);
      return JSON.parse(text) as JsonObject;
    },
  };
}

const paramOf = ({ error }: JsonObject): Json | undefined => objectOf(error)['param'];

suite('content that only one vendor may know', () => {
  // @spec responses-108, responses-109, responses-110
  test('goes to that vendor, and is refused with its path elsewhere', async (t) => {
    const { upstream, post } = await open(t);
    for (const [members, param] of [
      [{ input: [UNKNOWN_PART] }, 'input[0].content[1].type'],
      [{ input: [FOREIGN, USER] }, 'input[0].encrypted_content'],
      [{ input: [USER], service_tier: 'ultrafast' }, 'service_tier'],
    ] as const) {
      await post('/responses', { model: 'acme/responses', ...members }, 200);
      const sent = upstream.arrived.at(-1)?.text ?? '';
      assert.match(sent, /input_hologram|gAAAAAforeign|ultrafast/);
      upstream.arrived.length = 0;
      for (const model of ['acme/chat', 'acme/messages', 'acme/gemini'])
        assert.equal(paramOf(await post('/responses', { model, ...members }, 400)), param);
      assert.equal(upstream.arrived.length, 0);
      // Another endpoint that can is tried.
      await post('/responses', { models: ['acme/chat', 'acme/responses'], ...members }, 200);
    }
  });

  // @spec responses-108
  test('is refused in the output of a call as well', async (t) => {
    const { post } = await open(t);
    const call = { type: 'function_call', call_id: 'call_a', name: 'ls', arguments: '{}' };
    const output = { type: 'function_call_output', call_id: 'call_a', output: [{ type: 'output_hologram' }] };
    const refused = await post('/responses', { model: 'acme/chat', input: [USER, call, output] }, 400);
    assert.equal(paramOf(refused), 'input[2].output[0].type');
  });
});

suite('bounds of an input', () => {
  // @spec responses-111
  test('are 64 characters of an id, and more of one that a vendor encrypted under it', async (t) => {
    const { post } = await open(t);
    const said = (id: string): JsonObject => ({ type: 'message', role: 'assistant', id, content: 'Yes.' });
    const model = 'acme/chat';
    await post('/responses', { model, input: [USER, said('m'.repeat(64)), USER] }, 200);
    const refused = await post('/responses', { model, input: [USER, said('m'.repeat(65)), USER] }, 400);
    assert.equal(paramOf(refused), 'input[1].id');
    const sealed = { type: 'reasoning', id: 'r'.repeat(500), summary: [], encrypted_content: 'gAAAAA' };
    await post('/responses', { model, input: [USER, sealed, USER] }, 200);
  });

  // @spec responses-112
  test('are 10,000 items, and a compaction of as many', async (t) => {
    const { post } = await open(t);
    const model = 'acme/chat';
    const input = Array.from({ length: 10_000 }, () => ({ role: 'user', content: 'Hello' }));
    const compacted = await post('/responses/compact', { model, input }, 200);
    assert.equal(objectOf(listOf(compacted['output']).at(-1))['type'], 'compaction');
    for (const path of ['/responses', '/responses/compact'])
      assert.equal(paramOf(await post(path, { model, input: [...input, USER] }, 400)), 'input');
  });
});

suite('a model that writes no summary', () => {
  // @spec responses-113
  test('leaves the history as it is, with what it cost', async (t) => {
    const { upstream, post } = await open(t);
    upstream.script = speak({ parts: [{ type: 'text', text: '' }], usage: { prompt: 5_000, completion: 3 } });
    const input = [
      { role: 'user', content: LONG },
      { type: 'message', role: 'assistant', content: 'Noted.' },
    ];
    const compacted = await post('/responses/compact', { model: 'acme/chat', input }, 200);
    assert.deepEqual(
      listOf(compacted['output']).map((item) => objectOf(item)['role']),
      ['user', 'assistant'],
    );
    assert.ok(Number(objectOf(compacted['usage'])['cost']) > 0);
    const asked = { model: 'acme/chat', input: [...input, { type: 'compaction_trigger' }] };
    const failed = await post('/responses', asked, 200);
    assert.deepEqual([failed['status'], objectOf(failed['error'])['code']], ['failed', 'server_error']);
  });
});

suite('numbers of a history that is compacted', () => {
  // @spec responses-16
  test('stay as they were written', async (t) => {
    const { gateway, upstream } = await open(t);
    const body = `{"model":"acme/chat","input":[{"role":"user","content":${JSON.stringify(LONG)}},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":{"n":12345678901234567890}}]}`;
    const response = await gateway.post('/responses/compact', body);
    assert.equal(response.status, 200, await response.text());
    assert.match(upstream.arrived.at(-1)?.text ?? '', /12345678901234567890/);
  });
});
