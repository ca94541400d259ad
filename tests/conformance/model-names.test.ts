import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { manage } from '../support/byok.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const messages = [{ role: 'user', content: 'hi' }];

interface Refusal {
  readonly error: {
    readonly code: number;
    readonly message: string;
    readonly metadata?: { readonly error_type: string };
    readonly availability?: Readonly<Record<string, unknown>>;
  };
}

async function start(
  t: TestContext,
  more: string,
): Promise<{ readonly gateway: RunningGateway; readonly upstream: ScriptedUpstream }> {
  const upstream = await startUpstream(json(200, chatAnswer('well')));
  const gateway = await startGateway({
    yaml: `
providers:
  alpha: { adapter: openai-compatible, base_url: "${upstream.baseUrl}", api_key: k }
models:
  acme/claude-haiku-4.5: { endpoints: [{ provider: alpha, model: haiku-up }] }
  acme/twin: { endpoints: [{ provider: alpha, model: twin-a }] }
  other/twin: { endpoints: [{ provider: alpha, model: twin-b }] }
${more}`,
  });
  t.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  return { gateway, upstream };
}

/** The upstream's own name of the model that served. */
function servedBy(upstream: ScriptedUpstream): unknown {
  return upstream.arrived.at(-1)?.body['model'];
}

suite('a model that no provider with credentials serves', () => {
  for (const path of ['/chat/completions', '/messages'])
    // @spec model-3
    test(`is a 404 with the variables that would enable one, ${path}`, async (t) => {
      const { gateway } = await start(t, '');
      const response = await gateway.post(path, { model: 'openai/gpt-5.1', max_tokens: 9, messages });
      assert.equal(response.status, 404);
      const { error } = (await response.json()) as Refusal;
      assert.match(
        error.message,
        /^No provider with credentials serves "openai\/gpt-5\.1" here\. Set OPENAI_API_KEY \(OpenAI\)/,
      );
      assert.match(error.message, /in the gateway's environment\.$/);
      assert.equal(error.metadata?.error_type, 'not_found');
      assert.equal(error.availability?.['code'], 'no_endpoints');
      assert.deepEqual(error.availability['excluded_by'], ['credentials']);
    });

  test('is a 404 with the provider of its slug when the model is unknown', async (t) => {
    const { gateway } = await start(t, '');
    const ask = async (model: string): Promise<string> =>
      ((await (await gateway.post('/chat/completions', { model, messages })).json()) as Refusal).error.message;
    assert.match(await ask('groq/never-heard-of'), /Set GROQ_API_KEY/);
    assert.match(await ask('openai/gpt-5.1:nitro'), /Set OPENAI_API_KEY/);
    assert.match(await ask('nobody/never-heard-of'), /does not exist/);
  });

  test('is skipped for fallbacks that can be served', async (t) => {
    const { gateway, upstream } = await start(t, '');
    const models = ['openai/gpt-5.1', 'acme/twin'];
    assert.equal((await gateway.post('/chat/completions', { models, messages })).status, 200);
    assert.equal(servedBy(upstream), 'twin-a');
  });
});

suite('a name without an author', () => {
  // @spec model-4
  test('is a 400 that suggests the possible slugs', async (t) => {
    const { gateway } = await start(t, '');
    const ask = async (model: string): Promise<string> => {
      const response = await gateway.post('/chat/completions', { model, messages });
      assert.equal(response.status, 400);
      return ((await response.json()) as Refusal).error.message;
    };
    const hint = (name: string, ...slugs: string[]): string =>
      `model: "${name}" is not a model slug of the form author/slug; did you mean ${slugs.map((slug) => `"${slug}"`).join(' or ')}?`;
    assert.equal(await ask('twin'), hint('twin', 'acme/twin', 'other/twin'));
    assert.equal(
      await ask('claude-haiku-4-5'),
      hint('claude-haiku-4-5', 'acme/claude-haiku-4.5', 'anthropic/claude-haiku-4.5'),
    );
    assert.equal(await ask('twinn'), hint('twinn', 'other/twin'));
    assert.match(await ask('gpt-5.1'), /did you mean "openai\/gpt-5\.1"\?$/);
    assert.match(await ask('wholly-unheard-of-name'), /form author\/slug$/);
  });

  // @spec model-4
  test('finds the unique model with resolve_bare_names, in every place', async (t) => {
    const { gateway, upstream } = await start(t, 'resolve_bare_names: true');
    for (const model of ['claude-haiku-4-5', 'claude-haiku-4.5', 'haiku-up', 'Claude-Haiku-4-5']) {
      const response = await gateway.post('/chat/completions', { model, messages });
      assert.equal(response.status, 200, model);
      assert.equal(((await response.json()) as { model: string }).model, 'acme/claude-haiku-4.5');
      assert.equal(servedBy(upstream), 'haiku-up');
    }
    assert.equal((await gateway.post('/chat/completions', { model: 'haiku-up:floor', messages })).status, 200);
    const refused = await gateway.post('/chat/completions', { model: 'twin', messages });
    assert.equal(refused.status, 400);
    assert.match(((await refused.json()) as Refusal).error.message, /did you mean "acme\/twin" or "other\/twin"/);
  });
});

suite('aliases', () => {
  const ALIASES = 'aliases: { gpt-4o: acme/twin, "old/name": other/twin, fast: "acme/twin:nitro" }';

  // @spec chat-response-3, model-11
  test('replace slugs in both formats, in lists and with suffixes; the response names the model', async (t) => {
    const { gateway, upstream } = await start(t, ALIASES);
    const ask = async (path: string, body: object): Promise<unknown> => {
      const response = await gateway.post(path, { max_tokens: 9, messages, ...body });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      return (JSON.parse(text) as { model: unknown }).model;
    };
    assert.equal(await ask('/chat/completions', { model: 'gpt-4o' }), 'acme/twin');
    assert.equal(await ask('/messages', { model: 'gpt-4o' }), 'acme/twin');
    assert.equal(await ask('/chat/completions', { model: 'old/name' }), 'other/twin');
    assert.equal(await ask('/chat/completions', { model: 'gpt-4o:floor' }), 'acme/twin');
    assert.equal(await ask('/chat/completions', { model: 'fast' }), 'acme/twin');
    assert.equal(await ask('/chat/completions', { models: ['acme/none', 'old/name'] }), 'other/twin');
    assert.equal(await ask('/messages', { model: 'acme/none', fallbacks: [{ model: 'gpt-4o' }] }), 'acme/twin');
    assert.equal(servedBy(upstream), 'twin-a');
  });

  test('replace slugs in count_tokens, route/explain and presets', async (t) => {
    const { gateway } = await start(t, ALIASES);
    assert.equal((await gateway.post('/messages/count_tokens', { model: 'gpt-4o', messages })).status, 200);
    const explained = await gateway.post('/route/explain', { model: 'gpt-4o', messages });
    assert.deepEqual(((await explained.json()) as { models: unknown }).models, ['acme/twin']);
    const made = await manage(gateway, 'POST', '/presets/p/chat/completions', { model: 'gpt-4o', messages });
    assert.ok(made.status < 300, made.text);
    const answer = await gateway.post('/chat/completions', { model: '@preset/p', messages });
    assert.equal(((await answer.json()) as { model: string }).model, 'acme/twin');
  });

  test('may name a router', async (t) => {
    const { gateway } = await start(t, 'aliases: { smart: service/auto }');
    const [plain, named] = await Promise.all(
      ['service/auto', 'smart'].map((model) => gateway.post('/chat/completions', { model, messages })),
    );
    assert.equal(named?.status, plain?.status);
  });
});
