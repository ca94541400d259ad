import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { startGateway } from '../support/gateway.ts';
import { ENGINES } from '../support/store/engines.ts';
import { listOf, objectOf } from '../support/reported.ts';
import { json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { ONE_OF_EACH, shareAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { emit } from '../support/upstreams/speak.ts';

const USER: JsonObject = { role: 'user', content: 'Go.' };
const GO_ON: JsonObject = { role: 'user', content: 'Go on.' };
const FOUND: JsonObject = {
  type: 'mcp_call',
  id: 'mcp_1',
  server_label: 'crm desk',
  name: 'find',
  arguments: '{"who":"Ann"}',
  output: 'Ann lives in Ulm.',
  error: null,
  status: 'completed',
};

suite('a call that a vendor made to an MCP server', () => {
  const upstreams = shareAllUpstreams();
  const send = async (served: string, input: readonly Json[]): Promise<string> => {
    const { gateway, upstream } = upstreams();
    upstream.arrived.length = 0;
    upstream.script = emit('Done.');
    const response = await gateway.post('/responses', { model: `acme/${served}`, input, store: false });
    assert.equal(response.status, 200, await response.text());
    return upstream.arrived.at(-1)?.text ?? '';
  };

  for (const served of ONE_OF_EACH)
    // @spec responses-136
    test(`is a call and its result for models that do not know its item: ${served}`, async () => {
      const listed = { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 'crm desk', tools: [] };
      const said = { type: 'message', role: 'assistant', content: 'Ulm.' };
      const sent = await send(served, [USER, listed, FOUND, said, GO_ON]);
      if (served === 'responses') {
        const { input } = JSON.parse(sent) as { input: readonly JsonObject[] };
        assert.deepEqual(
          input.find(({ type }) => type === 'mcp_call'),
          FOUND,
        );
        return;
      }
      for (const text of ['mcp_crm_desk_find', 'Ann lives in Ulm.', 'Ulm.', 'Go on.'])
        assert.ok(sent.includes(text), `${text} in ${sent}`);
      assert.match(sent, /who\\?":\s?\\?"Ann/);
      assert.doesNotMatch(sent, /mcp_list_tools/);
    });

  // @spec responses-136
  test('is a failed result where it failed, and left out where it has not ended', async () => {
    const failed = { ...FOUND, output: null, error: { type: 'http_error', code: 500 } };
    const claude = JSON.parse(await send('claude', [USER, failed, GO_ON])) as { messages: readonly JsonObject[] };
    const result = claude.messages.flatMap(({ content }) => listOf(content)).map(objectOf);
    const { is_error: isError, content } = result.find(({ type }) => type === 'tool_result') ?? {};
    assert.equal(isError, true);
    assert.match(JSON.stringify(content), /http_error/);
    const unended = { ...FOUND, output: null };
    assert.doesNotMatch(await send('claude', [USER, unended, GO_ON]), /mcp_crm/);
  });
});

interface Opened {
  readonly first: ScriptedUpstream;
  readonly second: ScriptedUpstream;
  readonly ask: (input: readonly Json[], members?: JsonObject) => Promise<JsonObject>;
}

/** One model at two accounts of one vendor. */
async function open(
  t: { after(close: () => Promise<void>): void },
  { sections = '', env = {} }: { readonly sections?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Opened> {
  const [first, second] = [await startUpstream(emit('First.')), await startUpstream(emit('Second.'))];
  const endpoint = (provider: string): string =>
    `{ provider: ${provider}, model: gpt-5.4-pro, price: { prompt: 1, completion: 2 } }`;
  const gateway = await startGateway({
    env,
    yaml: `
${sections}
providers:
  one: { adapter: openai, base_url: "${first.baseUrl}", api_key: upstream-secret }
  two: { adapter: openai, base_url: "${second.baseUrl}", api_key: upstream-secret }
models:
  acme/thinker: { endpoints: [${endpoint('one')}, ${endpoint('two')}] }
`,
  });
  t.after(async () => {
    await gateway.close();
    await first.close();
    await second.close();
  });
  return {
    first,
    second,
    async ask(input, members = {}) {
      const response = await gateway.post('/responses', { model: 'acme/thinker', store: false, input, ...members });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      return JSON.parse(text) as JsonObject;
    },
  };
}

const COMPUTER: JsonObject = {
  type: 'computer_call',
  id: 'cu_1',
  call_id: 'call_c',
  action: { type: 'screenshot' },
  pending_safety_checks: [],
  status: 'completed',
};
const SCREEN: JsonObject = {
  type: 'computer_call_output',
  call_id: 'call_c',
  output: { type: 'computer_screenshot', image_url: 'https://files.example/a.png' },
};
const SEARCH: JsonObject = {
  type: 'web_search_call',
  id: 'ws_1',
  action: { type: 'search', query: 'tea' },
  status: 'completed',
};

const MADE = json(200, {
  id: 'resp_up',
  object: 'response',
  status: 'completed',
  model: 'gpt-5.4-pro',
  output: [SEARCH, COMPUTER, { ...FOUND, server_label: 'crm' }],
  usage: { input_tokens: 5, output_tokens: 5, total_tokens: 10 },
});

function typesSent({ arrived }: ScriptedUpstream): readonly (Json | undefined)[] {
  const { input } = (arrived.at(-1)?.body ?? {}) as JsonObject;
  return listOf(input).map((item) => objectOf(item)['type'] ?? 'message');
}

suite('items of tools that a provider ran', () => {
  const ITEMS = ['message', 'web_search_call', 'computer_call', 'mcp_call', 'computer_call_output'];

  // @spec responses-137
  test('return to the account that made them, whatever the order', async (t) => {
    const { first, second, ask } = await open(t);
    second.script = MADE;
    const made = await ask([USER], { provider: { order: ['two'] } });
    await ask([USER, ...listOf(made['output']), SCREEN]);
    assert.equal(first.arrived.length, 0);
    assert.deepEqual(typesSent(second), ITEMS);
  });

  // @spec responses-137
  test('are left out elsewhere, each with what answers it', async (t) => {
    const { first, second, ask } = await open(t);
    second.script = MADE;
    const made = await ask([USER], { provider: { order: ['two'] } });
    const next = await ask([USER, ...listOf(made['output']), SCREEN, GO_ON], { provider: { only: ['one'] } });
    assert.equal(next['output_text'], 'First.');
    assert.deepEqual(typesSent(first), ['message', 'message']);
  });

  // @spec responses-137
  test('of unknown origin go to any account', async (t) => {
    const { first, ask } = await open(t);
    await ask([USER, SEARCH, COMPUTER, SCREEN], { provider: { only: ['one'] } });
    assert.deepEqual(typesSent(first), ['message', 'web_search_call', 'computer_call', 'computer_call_output']);
  });

  for (const engine of ENGINES.filter(({ isPostgres }) => isPostgres))
    // @spec responses-132, responses-137
    test('return to their account at a gateway that has only the stored response', async (t) => {
      const place = await engine.makePlace();
      t.after(() => place.remove());
      const shared = {
        sections: 'responses: { store: database }',
        env: { DATABASE_URL: place.url ?? '', GATEWAY_SECRET: 'a secret of this test' },
      };
      const [made, continued] = [await open(t, shared), await open(t, shared)];
      made.second.script = MADE;
      const { id = null } = await made.ask([USER], { provider: { only: ['two'] }, store: true });
      await continued.ask([SCREEN], { previous_response_id: id });
      assert.equal(continued.first.arrived.length, 0);
      assert.deepEqual(typesSent(continued.second), ITEMS);
    });
});
