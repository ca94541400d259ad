import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_PREFERENCES, type ProviderPreferences } from '../canonical/directives.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Endpoint, Model } from '../catalog/model.ts';
import type { EndpointHealth } from './health.ts';
import { planCandidates } from './plan.ts';
import type { RoutePlan } from './route-plan.ts';
import { plainDirectives } from '../../tests/support/plain-directives.ts';

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
    directives: plainDirectives('acme/one'),
    warnings: [],
    ...changes,
  };
}

function plan(
  models: readonly Model[],
  preferences: Partial<ProviderPreferences> = {},
  originalRequest: GenerationRequest = request(),
  cooldowns: Readonly<Record<string, { untilMs: number; named: boolean }>> = {},
): RoutePlan {
  return planCandidates({
    request: originalRequest,
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

test('tries every endpoint in the order of the catalog without preferences', () => {
  assert.deepEqual(providers(plan([abc])), ['a', 'b', 'c']);
});

test('puts all endpoints of a model before the next model', () => {
  const second = model('acme/two', endpoint('d'), endpoint('a'));
  assert.deepEqual(providers(plan([abc, second])), ['a', 'b', 'c', 'd', 'a']);
});

// @spec route-2, route-6
test('puts order first, by slug or display name in any case, and skips unknown names', () => {
  assert.deepEqual(providers(plan([abc], { order: ['nobody', 'C', 'b'] })), ['c', 'b', 'a']);
});

// @spec route-29
test("puts the session's endpoint before every order, if it may serve the model", () => {
  const question = { request: request(), models: [abc], formats: FORMATS, health: () => HEALTHY, random: 0 };
  const order = { ...DEFAULT_PREFERENCES, order: ['b'] };
  assert.deepEqual(providers(planCandidates({ ...question, preferences: order, pinnedProvider: 'c' })), [
    'c',
    'b',
    'a',
  ]);
  const ignore = { ...DEFAULT_PREFERENCES, ignore: ['c'] };
  assert.deepEqual(providers(planCandidates({ ...question, preferences: ignore, pinnedProvider: 'c' })), ['a', 'b']);
  assert.deepEqual(providers(planCandidates({ ...question, preferences: order, pinnedProvider: 'gone' })), [
    'b',
    'a',
    'c',
  ]);
});

// @spec route-18
test('skips an endpoint without credentials, with the reason unless the request excludes it already', () => {
  const keyless = { lacksCredentials: true };
  const mixed = model('acme/one', endpoint('a', keyless), endpoint('b'), endpoint('c', keyless));
  const route = plan([mixed], { ignore: ['c'] });
  assert.deepEqual(providers(route), ['b']);
  assert.deepEqual(reasons(route), ['credentials', undefined, 'allowed_providers']);
});

// @spec route-7
test('matches regions by a base slug, and only itself by a regional one', () => {
  const regional = model('acme/one', endpoint('v/us'), endpoint('v/eu'), endpoint('w'));
  assert.deepEqual(providers(plan([regional], { only: ['v'] })), ['v/us', 'v/eu']);
  assert.deepEqual(providers(plan([regional], { only: ['v/eu'] })), ['v/eu']);
});

// @spec error-24, route-4, route-5
test('excludes endpoints by only and ignore, with the reason', () => {
  const route = plan([abc], { only: ['a', 'b'], ignore: ['b'] });
  assert.deepEqual(providers(route), ['a']);
  assert.deepEqual(reasons(route), [undefined, 'allowed_providers', 'allowed_providers']);
});

// @spec route-3
test('leaves one endpoint without fallbacks, or those in order', () => {
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

// @spec catalog-17, route-9
test('keeps only endpoints without training and storage when data collection is denied; unknown counts as both', () => {
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

// @spec route-15
test('includes the bound itself in a price bound, and excludes an unknown price', () => {
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

// @spec route-8
test('keeps only endpoints that take every required parameter', () => {
  const listed = model(
    'acme/one',
    endpoint('full', { supportedParameters: new Set(['seed', 'tools', 'response_format']) }),
    endpoint('poor', { supportedParameters: new Set(['tools']) }),
    endpoint('unlisted'),
    endpoint('other-format', { formats: ['messages'] }),
  );
  const originalRequest = request({ settings: { seed: 1, temperature: 1, maxTokens: 5 } });
  assert.deepEqual(providers(plan([listed], { requireParameters: true }, originalRequest)), ['full', 'unlisted']);
  assert.deepEqual(providers(plan([listed], {}, originalRequest)), ['full', 'poor', 'unlisted', 'other-format']);
});

test('ignores a list when the format cannot express the parameter', () => {
  const listed = model('acme/one', endpoint('a', { formats: ['messages'], supportedParameters: new Set(['seed']) }));
  const route = plan([listed], { requireParameters: true }, request({ settings: { seed: 1 } }));
  assert.deepEqual(reasons(route), ['require_parameters']);
  assert.equal(route.considered[0]?.lacks, 'seed');
});

test("uses the caller's format if the endpoint has it", () => {
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

test("calls a request with tools in the formats that support tools, the caller's own first", () => {
  const listed = model(
    'acme/one',
    endpoint('a', { formats: ['chat', 'responses'], toolFormats: ['responses'] }),
    endpoint('b', { formats: ['responses', 'chat'], toolFormats: ['responses', 'chat'] }),
    endpoint('c', { formats: ['chat', 'responses'] }),
  );
  const formatsOf = (originalRequest: GenerationRequest): readonly string[] =>
    plan([listed], {}, originalRequest).candidates.map(({ format }) => format);
  assert.deepEqual(formatsOf(request({ tools: [{ type: 'function', name: 'f' }] })), ['responses', 'chat', 'chat']);
  assert.deepEqual(formatsOf(request()), ['chat', 'chat', 'chat']);
});

test('calls a request with web search in the format in which the endpoint searches', () => {
  const listed = model(
    'acme/one',
    endpoint('a', { formats: ['chat', 'responses'], searchFormat: 'responses' }),
    endpoint('b', { formats: ['chat', 'responses'] }),
  );
  const formatsOf = (originalRequest: GenerationRequest): readonly string[] =>
    plan([listed], {}, originalRequest).candidates.map(({ format }) => format);
  const stands = { type: 'function', name: 'f', standsForSearch: true } as const;
  assert.deepEqual(formatsOf(request({ settings: { nativeWebSearch: {} } })), ['responses', 'chat']);
  assert.deepEqual(formatsOf(request({ tools: [stands] })), ['responses', 'chat']);
  assert.deepEqual(formatsOf(request({ tools: [{ type: 'function', name: 'f' }] })), ['chat', 'chat']);
});

// @spec route-18
test('sends an image only to endpoints that accept images, also from a tool result', () => {
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

// @spec translate-15
test('sends sound and video to no endpoint whose format cannot express them, listed or not', () => {
  const both = model('acme/one', endpoint('words', { formats: ['messages'] }), endpoint('all'));
  for (const media of ['audio', 'video'] as const) {
    const block = { type: 'media', media, source: { type: 'url', url: 'https://x/y' } } as const;
    const route = plan([both], {}, request({ turns: [{ role: 'user', blocks: [block] }] }));
    assert.deepEqual(providers(route), ['all']);
    assert.deepEqual(route.considered[0]?.lacks, media);
  }
});

// @spec messages-25
test("sends a vendor's tool, and changes of the tools, only to the vendor", () => {
  const mixed = model(
    'acme/one',
    endpoint('other', { formats: ['messages'] }),
    endpoint('chat', { nativeTools: true }),
    endpoint('vendor', { formats: ['messages'], nativeTools: true }),
  );
  const tool = { type: 'opaque', format: 'messages', value: { type: 'bash_20250124' } } as const;
  const change = { type: 'opaque', format: 'messages', value: { type: 'tool_removal' } } as const;
  for (const requested of [{ tools: [tool] }, { turns: [{ role: 'system', blocks: [change] }] }] as const) {
    const route = plan([mixed], {}, request({ format: 'messages', ...requested }));
    assert.deepEqual(providers(route), ['vendor']);
    assert.deepEqual(reasons(route), ['vendor_tools', 'vendor_tools', undefined]);
  }
});

test('sends deferred functions only to endpoints that may hide them, unless the gateway does', () => {
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

// @spec chat-34
test('sends a request for images only to endpoints that may generate them', () => {
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

// @spec chat-36
test('sends a schema only to endpoints that accept schemas; if there are none, a lax one anywhere', () => {
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

// @spec route-18
test('skips endpoints whose context is surely too small for the prompt', () => {
  const sized = model('acme/one', endpoint('short', { contextTokensMax: 1_000 }), endpoint('long'));
  const stating = (chars: number): GenerationRequest =>
    request({ turns: [{ role: 'user', blocks: [{ type: 'text', text: 'x'.repeat(chars) }] }] });
  assert.deepEqual(providers(plan([sized], {}, stating(6_000))), ['short', 'long']);
  assert.deepEqual(reasons(plan([sized], {}, stating(6_006))), ['context_length', undefined]);
});

test('puts an endpoint in cooldown last, and does not try one before the time that its upstream sent', () => {
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
