import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_PREFERENCES, type ProviderPreferences } from '../canonical/directives.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Endpoint, Model } from '../catalog/model.ts';
import type { EndpointHealth } from './health.ts';
import { planRoute, type RoutePlan } from './plan.ts';

const HEALTHY: EndpointHealth = { rank: 0, open: false, probeDue: false };

const FORMATS = {
  chat: { parameters: new Set(['temperature', 'seed', 'tools', 'response_format']) },
  messages: {
    parameters: new Set(['temperature', 'tools']),
    modalities: { inputs: new Set(['image']), outputs: new Set(['text']) },
  },
};

function endpoint(provider: string, changes: Partial<Endpoint> = {}): Endpoint {
  return {
    model: 'acme/one',
    provider,
    providerName: provider.toUpperCase(),
    upstreamModel: 'one-2026',
    price: { prompt: 1_000_000, completion: 2_000_000 },
    dataPolicy: { training: false, retentionDays: 0 },
    formats: ['chat'],
    cancellable: true,
    ...changes,
  };
}

const model = (slug: string, ...endpoints: Endpoint[]): Model => ({
  slug,
  name: slug,
  endpoints: endpoints.map((one) => ({ ...one, model: slug })),
});

function request(changes: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns: [{ role: 'user', blocks: [{ type: 'text', text: 'hi' }], plain: true }],
    tools: [],
    settings: {},
    directives: {
      models: ['acme/one'],
      provider: DEFAULT_PREFERENCES,
      plugins: [],
      echoUpstreamBody: false,
      serviceMetadata: false,
      betas: [],
    },
    warnings: [],
    ...changes,
  };
}

function plan(
  models: readonly Model[],
  preferences: Partial<ProviderPreferences> = {},
  asked: GenerationRequest = request(),
  cooldowns: Readonly<Record<string, { untilMs: number; named: boolean }>> = {},
): RoutePlan {
  return planRoute({
    request: asked,
    models,
    preferences: { ...DEFAULT_PREFERENCES, ...preferences },
    formats: FORMATS,
    health: ({ provider }) => {
      const cooldown = cooldowns[provider];
      return cooldown === undefined ? HEALTHY : { rank: 2, open: false, probeDue: false, cooldown };
    },
    random: 0,
  });
}

const providers = (route: RoutePlan): string[] => route.candidates.map(({ endpoint: { provider } }) => provider);
const reasons = (route: RoutePlan): (string | undefined)[] => route.considered.map(({ exclusion }) => exclusion);
const abc = model('acme/one', endpoint('a'), endpoint('b'), endpoint('c'));

test('without preferences every endpoint is tried in the order of the catalog', () => {
  assert.deepEqual(providers(plan([abc])), ['a', 'b', 'c']);
});

test('all endpoints of a model come before the next model', () => {
  const second = model('acme/two', endpoint('d'), endpoint('a'));
  assert.deepEqual(providers(plan([abc, second])), ['a', 'b', 'c', 'd', 'a']);
});

test('order goes first, by slug or display name in any case, and skips names that nobody has', () => {
  assert.deepEqual(providers(plan([abc], { order: ['nobody', 'C', 'b'] })), ['c', 'b', 'a']);
});

test('the home of a conversation goes before every order, where it fits and serves the model', () => {
  const question = { request: request(), models: [abc], formats: FORMATS, health: () => HEALTHY, random: 0 };
  const order = { ...DEFAULT_PREFERENCES, order: ['b'] };
  assert.deepEqual(providers(planRoute({ ...question, preferences: order, home: 'c' })), ['c', 'b', 'a']);
  const ignore = { ...DEFAULT_PREFERENCES, ignore: ['c'] };
  assert.deepEqual(providers(planRoute({ ...question, preferences: ignore, home: 'c' })), ['a', 'b']);
  assert.deepEqual(providers(planRoute({ ...question, preferences: order, home: 'gone' })), ['b', 'a', 'c']);
});

test('an endpoint without credentials is not tried, and says so unless the request rules it out already', () => {
  const keyless = { lacksCredentials: true };
  const mixed = model('acme/one', endpoint('a', keyless), endpoint('b'), endpoint('c', keyless));
  const route = plan([mixed], { ignore: ['c'] });
  assert.deepEqual(providers(route), ['b']);
  assert.deepEqual(reasons(route), ['credentials', undefined, 'allowed_providers']);
});

test('a base slug means its regions, and a regional slug only itself', () => {
  const regional = model('acme/one', endpoint('v/us'), endpoint('v/eu'), endpoint('w'));
  assert.deepEqual(providers(plan([regional], { only: ['v'] })), ['v/us', 'v/eu']);
  assert.deepEqual(providers(plan([regional], { only: ['v/eu'] })), ['v/eu']);
});

test('only and ignore take endpoints out and say so', () => {
  const route = plan([abc], { only: ['a', 'b'], ignore: ['b'] });
  assert.deepEqual(providers(route), ['a']);
  assert.deepEqual(reasons(route), [undefined, 'allowed_providers', 'allowed_providers']);
});

test('without fallbacks one endpoint is left, or the ones in order', () => {
  assert.deepEqual(providers(plan([abc], { allowFallbacks: false })), ['a']);
  const route = plan([abc], { allowFallbacks: false, order: ['c', 'b'] });
  assert.deepEqual(providers(route), ['c', 'b']);
  assert.deepEqual(
    route.considered.map(({ endpoint: { provider }, exclusion }) => [provider, exclusion]),
    [
      ['a', 'allow_fallbacks'],
      ['b', undefined],
      ['c', undefined],
    ],
  );
});

test('denying data collection leaves only who neither trains nor stores, and an unknown policy counts as both', () => {
  const mixed = model(
    'acme/one',
    endpoint('trains', { dataPolicy: { training: true, retentionDays: 0 } }),
    endpoint('stores', { dataPolicy: { training: false, retentionDays: 30 } }),
    endpoint('unknown', { dataPolicy: {} }),
    endpoint('clean'),
  );
  assert.deepEqual(providers(plan([mixed], { dataCollection: 'deny' })), ['clean']);
  assert.deepEqual(providers(plan([mixed], { zdr: true })), ['trains', 'clean']);
  assert.deepEqual(reasons(plan([mixed], { zdr: true })), [undefined, 'data_policy:zdr', 'data_policy:zdr', undefined]);
});

test('a price bound is inclusive, and an unknown price is over every bound', () => {
  const priced = model(
    'acme/one',
    endpoint('exact'),
    endpoint('dear', { price: { prompt: 1_000_001, completion: 0 } }),
    endpoint('unknown', { price: undefined }),
    endpoint('fee', { price: { prompt: 0, completion: 0, request: 2e10 } }),
  );
  assert.deepEqual(providers(plan([priced], { maxPrice: { prompt: 1, completion: 2 } })), ['fee', 'exact']);
  assert.deepEqual(providers(plan([priced], { maxPrice: { request: 0.01 } })), ['exact', 'dear']);
  assert.deepEqual(providers(plan([priced], { maxPrice: { image: 0.01 } })), ['fee', 'exact', 'dear']);
  assert.deepEqual(providers(plan([priced], { maxPrice: {} })), ['fee', 'exact', 'dear', 'unknown']);
});

test('required parameters leave only endpoints that take every one that was sent', () => {
  const listed = model(
    'acme/one',
    endpoint('full', { supportedParameters: new Set(['seed', 'tools', 'response_format']) }),
    endpoint('poor', { supportedParameters: new Set(['tools']) }),
    endpoint('unlisted'),
    endpoint('other-format', { formats: ['messages'] }),
  );
  const asked = request({ settings: { seed: 1, temperature: 1, maxTokens: 5 } });
  assert.deepEqual(providers(plan([listed], { requireParameters: true }, asked)), ['full', 'unlisted']);
  assert.deepEqual(providers(plan([listed], {}, asked)), ['full', 'poor', 'unlisted', 'other-format']);
});

test('a list does not help where the format has no word for the parameter', () => {
  const listed = model('acme/one', endpoint('a', { formats: ['messages'], supportedParameters: new Set(['seed']) }));
  const route = plan([listed], { requireParameters: true }, request({ settings: { seed: 1 } }));
  assert.deepEqual(reasons(route), ['require_parameters']);
  assert.equal(route.considered[0]?.lacks, 'seed');
});

test("the caller's format is spoken where the endpoint knows it", () => {
  const both = model(
    'acme/one',
    endpoint('a', { formats: ['messages', 'chat'] }),
    endpoint('b', { formats: ['messages'] }),
  );
  assert.deepEqual(
    plan([both]).candidates.map(({ format }) => format),
    ['chat', 'messages'],
  );
});

test("a request with tools is asked in the formats that take tools, the caller's own first", () => {
  const listed = model(
    'acme/one',
    endpoint('a', { formats: ['chat', 'responses'], toolFormats: ['responses'] }),
    endpoint('b', { formats: ['responses', 'chat'], toolFormats: ['responses', 'chat'] }),
    endpoint('c', { formats: ['chat', 'responses'] }),
  );
  const formatsOf = (asked: GenerationRequest): readonly string[] =>
    plan([listed], {}, asked).candidates.map(({ format }) => format);
  assert.deepEqual(formatsOf(request({ tools: [{ type: 'function', name: 'f' }] })), ['responses', 'chat', 'chat']);
  assert.deepEqual(formatsOf(request()), ['chat', 'chat', 'chat']);
});

test('a request that is to search the web is asked in the format in which the endpoint does', () => {
  const listed = model(
    'acme/one',
    endpoint('a', { formats: ['chat', 'responses'], searchFormat: 'responses' }),
    endpoint('b', { formats: ['chat', 'responses'] }),
  );
  const formatsOf = (asked: GenerationRequest): readonly string[] =>
    plan([listed], {}, asked).candidates.map(({ format }) => format);
  const stands = { type: 'function', name: 'f', standsForSearch: true } as const;
  assert.deepEqual(formatsOf(request({ settings: { ownSearch: {} } })), ['responses', 'chat']);
  assert.deepEqual(formatsOf(request({ tools: [stands] })), ['responses', 'chat']);
  assert.deepEqual(formatsOf(request({ tools: [{ type: 'function', name: 'f' }] })), ['chat', 'chat']);
});

test('an image goes only to endpoints that take images, also out of a tool result', () => {
  const listed = model(
    'acme/one',
    endpoint('blind', { inputModalities: ['text'] }),
    endpoint('sees', { inputModalities: ['text', 'image'] }),
  );
  const image = { type: 'media', media: 'image', source: { type: 'url', url: 'https://x/y.png' } } as const;
  const direct = request({ turns: [{ role: 'user', blocks: [image] }] });
  const inResult = request({
    turns: [{ role: 'tool', blocks: [{ type: 'tool-result', callId: 'c', content: [image] }] }],
  });
  assert.deepEqual(providers(plan([listed], {}, direct)), ['sees']);
  assert.deepEqual(providers(plan([listed], {}, inResult)), ['sees']);
});

test('sound and film go to no endpoint whose format cannot say them, listed or not', () => {
  const both = model('acme/one', endpoint('words', { formats: ['messages'] }), endpoint('all'));
  for (const media of ['audio', 'video'] as const) {
    const block = { type: 'media', media, source: { type: 'url', url: 'https://x/y' } } as const;
    const route = plan([both], {}, request({ turns: [{ role: 'user', blocks: [block] }] }));
    assert.deepEqual(providers(route), ['all']);
    assert.deepEqual(route.considered[0]?.lacks, media);
  }
});

test("a vendor's tool goes only to the vendor, and so does a change of the tools on the way", () => {
  const mixed = model(
    'acme/one',
    endpoint('other', { formats: ['messages'] }),
    endpoint('chat', { vendorTools: true }),
    endpoint('vendor', { formats: ['messages'], vendorTools: true }),
  );
  const tool = { type: 'opaque', format: 'messages', value: { type: 'bash_20250124' } } as const;
  const change = { type: 'opaque', format: 'messages', value: { type: 'tool_removal' } } as const;
  for (const asked of [{ tools: [tool] }, { turns: [{ role: 'system', blocks: [change] }] }] as const) {
    const route = plan([mixed], {}, request({ format: 'messages', ...asked }));
    assert.deepEqual(providers(route), ['vendor']);
    assert.deepEqual(reasons(route), ['vendor_tools', 'vendor_tools', undefined]);
  }
});

test('functions that are to be hidden go only to who may hide them, unless the gateway does', () => {
  const mixed = model('acme/one', endpoint('chat'), endpoint('vendor', { formats: ['messages'] }));
  const hidden = {
    type: 'function',
    name: 'f',
    extra: { format: 'messages', fields: { defer_loading: true } },
  } as const;
  const route = plan([mixed], {}, request({ format: 'messages', tools: [hidden] }));
  assert.deepEqual(providers(route), ['vendor']);
  assert.deepEqual(reasons(route), ['defer_loading', undefined]);
  const search = { type: 'server', name: 'service:tool_search' } as const;
  const searched = plan([mixed], {}, request({ format: 'messages', tools: [hidden, search] }));
  assert.deepEqual(reasons(searched), [undefined, undefined]);
});

test('an answer in pictures is asked only of endpoints that may draw', () => {
  const mixed = model(
    'acme/one',
    endpoint('writes', { outputModalities: ['text'] }),
    endpoint('draws', { outputModalities: ['text', 'image'] }),
    endpoint('words', { formats: ['messages'] }),
    endpoint('unlisted'),
  );
  const route = plan([mixed], {}, request({ settings: { modalities: ['text', 'image'] } }));
  assert.deepEqual(providers(route), ['draws', 'unlisted']);
  assert.deepEqual(reasons(route), ['output_modalities', undefined, 'output_modalities', undefined]);
});

test('a schema goes only to endpoints that take schemas; where there are none, a lax one goes anywhere', () => {
  const mixed = model('acme/one', endpoint('poor', { supportedParameters: new Set(['tools']) }), endpoint('full'));
  const wanted = (strict: boolean): GenerationRequest =>
    request({ settings: { responseFormat: { type: 'json_schema', name: 'x', schema: {}, strict } } });
  assert.deepEqual(providers(plan([mixed], {}, wanted(true))), ['full']);
  const lax = plan([mixed], {}, wanted(false));
  assert.deepEqual(providers(lax), ['full']);
  assert.deepEqual(reasons(lax), ['preferred_parameters', undefined]);
  const poor = model('acme/one', endpoint('poor', { supportedParameters: new Set(['tools']) }));
  assert.deepEqual(providers(plan([poor], {}, wanted(false))), ['poor']);
  assert.deepEqual(reasons(plan([poor], {}, wanted(true))), ['require_parameters']);
});

test('a prompt that surely is too long for a context is not tried there', () => {
  const sized = model('acme/one', endpoint('short', { contextTokensMax: 1_000 }), endpoint('long'));
  const saying = (chars: number): GenerationRequest =>
    request({ turns: [{ role: 'user', blocks: [{ type: 'text', text: 'x'.repeat(chars) }] }] });
  assert.deepEqual(providers(plan([sized], {}, saying(6_000))), ['short', 'long']);
  assert.deepEqual(reasons(plan([sized], {}, saying(6_006))), ['context_length', undefined]);
});

test('an endpoint that rests goes last, and one whose upstream named the time is not tried before it', () => {
  const route = plan([abc], {}, request(), {
    a: { untilMs: 100, named: false },
    b: { untilMs: 50, named: true },
  });
  assert.deepEqual(providers(route), ['c', 'a']);
  assert.deepEqual(
    route.cooling.map(({ candidate }) => candidate.endpoint.provider),
    ['b'],
  );
});
