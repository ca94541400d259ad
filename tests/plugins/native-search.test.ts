import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { emit } from '../support/upstreams/speak.ts';
import { json, startUpstream, type Arrived, type Script, type ScriptedUpstream } from '../support/upstream.ts';
import { recordOf } from '../support/tool-turns.ts';
import { stagesOf, type ChatBody } from '../support/web.ts';

interface Setup {
  readonly gateway: RunningGateway;
  readonly vendors: ScriptedUpstream;
}

const PRICE = 'price: { prompt: 1, completion: 2 }';

/** Vendors whose models search by themselves, all behind one address. No engine of the gateway's is set up. */
async function start(t: TestContext, script: Script = emit('Said.')): Promise<Setup> {
  const vendors = await startUpstream(script);
  const at = (adapter: string): string => `{ adapter: ${adapter}, base_url: "${vendors.baseUrl}", api_key: k }`;
  const gateway = await startGateway({
    yaml: `
providers:
  one: ${at('xai')}
  two: ${at('openai')}
  three: { adapter: google, base_url: "${vendors.baseUrl.replace('/v1', '/v1beta')}", api_key: k }
  four: ${at('anthropic')}
models:
  acme/grok: { endpoints: [{ provider: one, model: grok-4.3, ${PRICE} }] }
  acme/old-grok: { endpoints: [{ provider: one, model: grok-3, ${PRICE} }] }
  acme/gpt: { endpoints: [{ provider: two, model: gpt-5.2, ${PRICE} }] }
  acme/gemini: { endpoints: [{ provider: three, model: gemini-3-pro-preview, ${PRICE} }] }
  acme/claude: { endpoints: [{ provider: four, model: claude-sonnet-4-6, ${PRICE} }] }
`,
  });
  t.after(async () => {
    await gateway.close();
    await vendors.close();
  });
  return { gateway, vendors };
}

async function ask(
  { gateway }: Setup,
  plugin: object,
  more: object,
): Promise<{ readonly status: number; readonly body: ChatBody }> {
  const messages = [{ role: 'user', content: 'What is new?' }];
  const request = { messages, plugins: [{ id: 'web', ...plugin }], ...more };
  const answer = await gateway.post('/chat/completions', request, { 'x-service-metadata': 'enabled' });
  return { status: answer.status, body: (await answer.json()) as ChatBody };
}

const PLACE = { type: 'approximate', city: 'Oslo', country: 'NO' };
const EVERYTHING = {
  max_uses: 2,
  user_location: { ...PLACE, region: null },
  include_domains: ['a.example'],
  exclude_domains: ['b.example'],
};

// @spec web-9
suite('the request to an endpoint with its own search', () => {
  const CASES: readonly (readonly [model: string, plugin: object, path: RegExp, tools: unknown])[] = [
    [
      'acme/gpt',
      EVERYTHING,
      /^\/v1\/responses$/,
      [{ type: 'web_search', filters: { allowed_domains: ['a.example'] }, user_location: PLACE }],
    ],
    ['acme/gpt', { exclude_domains: ['b.example'] }, /^\/v1\/responses$/, [{ type: 'web_search' }]],
    [
      'acme/grok',
      { exclude_domains: Array.from({ length: 6 }, (_, index) => `x${index}.example`) },
      /^\/v1\/responses$/,
      [
        {
          type: 'web_search',
          filters: { excluded_domains: ['x0.example', 'x1.example', 'x2.example', 'x3.example', 'x4.example'] },
        },
      ],
    ],
    [
      'acme/grok',
      { x_search: { allowed_x_handles: ['a'], from_date: '2026-11-01', enable_video_understanding: true } },
      /^\/v1\/responses$/,
      [
        { type: 'web_search' },
        { type: 'x_search', allowed_x_handles: ['a'], from_date: '2026-11-01', enable_video_understanding: true },
      ],
    ],
    [
      'acme/grok',
      { x_search: { allowed_x_handles: ['a'], excluded_x_handles: ['b'] } },
      /^\/v1\/responses$/,
      [{ type: 'web_search' }, { type: 'x_search' }],
    ],
    ['acme/gemini', {}, /^\/v1beta\/models\/gemini-3-pro-preview:generateContent$/, [{ googleSearch: {} }]],
    [
      'acme/claude',
      EVERYTHING,
      /^\/v1\/messages$/,
      [
        {
          type: 'web_search_20250305',
          name: 'web_search',
          max_uses: 2,
          allowed_domains: ['a.example'],
          user_location: PLACE,
        },
      ],
    ],
  ];
  for (const [model, plugin, path, tools] of CASES)
    test(`is in the words of its format: ${model}, ${JSON.stringify(plugin).slice(0, 60)}`, async (t) => {
      const setup = await start(t);
      const { status, body } = await ask(setup, plugin, { model });
      assert.equal(status, 200, JSON.stringify(body));
      const [arrived] = setup.vendors.arrived;
      assert.match(arrived?.path ?? '', path);
      assert.deepEqual(arrived?.body['tools'], tools);
      assert.deepEqual(
        stagesOf(body, 'web-search').map(({ data }) => data),
        [{ engine: 'native' }],
      );
    });
});

/** The endpoint's own tool, or the name of the function that stands for the gateway's. */
function firstToolOf(body: Arrived['body']): unknown {
  const [tool] = body['tools'] as readonly {
    readonly type: string;
    readonly name?: string;
    readonly function?: { readonly name: string };
  }[];
  return tool?.type === 'function' ? (tool.function?.name ?? tool.name) : tool;
}

test('runs the server tool at an endpoint with its own search, in the format that supports it', async (t) => {
  const setup = await start(t);
  const parameters = {
    allowed_domains: [],
    excluded_domains: ['b.example'],
    search_context_size: 'low',
    user_location: { city: 'Oslo', country: 'NO' },
  };
  const tooMany = { excluded_domains: Array.from({ length: 6 }, (_, index) => `x${index}.example`) };
  for (const [model, more] of [
    ['acme/grok', {}],
    ['acme/gpt', {}],
    ['acme/grok', tooMany],
    ['acme/old-grok', {}],
  ] as const)
    await setup.gateway.post('/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'What is new?' }],
      tools: [{ type: 'service:web_search', parameters: { ...parameters, ...more } }],
    });
  assert.deepEqual(
    setup.vendors.arrived.map(({ path, body }) => [path, firstToolOf(body)]),
    [
      ['/v1/responses', { type: 'web_search', filters: { excluded_domains: ['b.example'] }, user_location: PLACE }],
      ['/v1/responses', { type: 'web_search', search_context_size: 'low', user_location: PLACE }],
      ['/v1/responses', 'service_web_search'],
      ['/v1/chat/completions', 'service_web_search'],
    ],
  );
});

test('forces the server tool as the endpoint’s own where that can be forced', async (t) => {
  const setup = await start(t);
  const records: (readonly string[])[] = [];
  for (const model of ['acme/gpt', 'acme/grok']) {
    const response = await setup.gateway.post('/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'What is new?' }],
      tools: [{ type: 'service:web_search' }],
      tool_choice: { type: 'service:web_search' },
    });
    const { warnings } = await recordOf(setup.gateway, ((await response.json()) as { readonly id: string }).id);
    records.push(warnings.map(({ path }) => path));
  }
  assert.deepEqual(
    setup.vendors.arrived.map(({ body }) => body['tool_choice']),
    [{ type: 'web_search' }, undefined],
  );
  assert.deepEqual(records, [[], ['tool_choice']]);
});

// @spec web-16
test('uses the older field for posts when the plugin does not mention them', async (t) => {
  const setup = await start(t);
  const posts = { x_search_filter: { excluded_x_handles: ['b'] } };
  await ask(setup, {}, { model: 'acme/grok', ...posts });
  await ask(setup, { x_search: {} }, { model: 'acme/grok', ...posts });
  assert.deepEqual(
    setup.vendors.arrived.map(({ body }) => (body['tools'] as readonly object[])[1]),
    [{ type: 'x_search', excluded_x_handles: ['b'] }, { type: 'x_search' }],
  );
});

// @spec web-8
test('warns in the record about settings that an endpoint does not support', async (t) => {
  const setup = await start(t);
  const { body } = await ask(setup, { exclude_domains: ['b.example'], x_search: {} }, { model: 'acme/gpt' });
  const record = await recordOf(setup.gateway, body.id);
  assert.deepEqual(
    record.warnings.filter(({ path }) => path === 'plugins').map(({ message }) => message),
    ['web: the endpoint has no setting for all sites', 'web: the endpoint does not search posts'],
  );
});

function toolTypeOf(arrived: Arrived | undefined): string | undefined {
  const tools = arrived?.body['tools'] as readonly { readonly type: string }[] | undefined;
  return tools?.[0]?.type;
}

test('encodes the request for each model of a list in its own words', async (t) => {
  const failing: Script = (arrived, response, request) =>
    (arrived.path === '/v1/messages' ? json(500, { error: { message: 'down' } }) : emit('Said.'))(
      arrived,
      response,
      request,
    );
  const setup = await start(t, failing);
  const { status } = await ask(setup, {}, { models: ['acme/claude', 'acme/grok'] });
  assert.equal(status, 200);
  const [first, last] = [setup.vendors.arrived[0], setup.vendors.arrived.at(-1)];
  assert.deepEqual(
    [first, last].map((arrived) => [arrived?.path, toolTypeOf(arrived)]),
    [
      ['/v1/messages', 'web_search_20250305'],
      ['/v1/responses', 'web_search'],
    ],
  );
});

test('leaves the search to the gateway when an endpoint cannot search as requested', async (t) => {
  const setup = await start(t);
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }];
  for (const [plugin, more] of [
    [{}, { model: 'acme/old-grok' }],
    [{ include_domains: ['a.example'] }, { model: 'acme/gemini' }],
    [{}, { model: 'acme/gemini', tools }],
  ] as const) {
    const unset = await ask(setup, plugin, more);
    assert.deepEqual(
      [unset.status, unset.body.error.message],
      [400, 'plugins[0]: no search engine is set up on this gateway'],
    );
    const native = await ask(setup, { ...plugin, engine: 'native' }, more);
    assert.equal(native.status, 400);
    assert.match(native.body.error.message, /the engine "native" needs an endpoint that searches by itself/);
  }
  assert.equal(setup.vendors.arrived.length, 0);
});
