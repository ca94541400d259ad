import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallContext, Provider, ProviderAdapter } from './contract.ts';
import {
  ADAPTER_IDS,
  ADAPTERS,
  createProviders,
  KNOWN_PROVIDER_IDS,
  ProviderSetupError,
  type ProviderEntry,
  type ProvidersSetup,
} from './index.ts';
import { KNOWN_PROVIDERS, type KnownProvider } from './known-providers.ts';
import { testCall } from './test-call.ts';

const TIMEOUTS = { connectMs: 1, headersMs: 2, firstTokenMs: 3, idleMs: 4, wholeMs: 5 };

function entry(members: Partial<ProviderEntry>): ProviderEntry {
  return { slug: 'alpha', adapter: 'openai-compatible', headers: {}, timeouts: {}, ...members };
}

function create(setup: Partial<ProvidersSetup>): ReadonlyMap<string, Provider> {
  return createProviders({ config: [], env: {}, timeouts: TIMEOUTS, ...setup });
}

function settingsOf(setup: Partial<ProvidersSetup>, slug = 'alpha'): Provider['settings'] {
  const provider = create(setup).get(slug);
  assert.ok(provider);
  return provider.settings;
}

function context(adapter: ProviderAdapter, apiKey: string | undefined): CallContext {
  const settings = {
    slug: adapter.id,
    name: adapter.name,
    baseUrl: adapter.baseUrl ?? 'http://127.0.0.1:1/v1',
    ...(apiKey !== undefined && { apiKey }),
    headers: {},
    timeouts: TIMEOUTS,
  };
  return { format: adapter.formats[0]?.format ?? 'chat', settings, model: 'some-model', stream: true };
}

for (const id of ADAPTER_IDS) {
  const adapter: ProviderAdapter = ADAPTERS[id];

  test(`${id} keeps the contract of an adapter`, () => {
    assert.equal(adapter.id, id, 'the registry knows it under its own id');
    assert.match(id, /^[a-z0-9][a-z0-9.-]*$/, 'its id is a slug');
    assert.notEqual(adapter.name, '');
    assert.ok(adapter.formats.length > 0, 'it offers a format');
    assert.equal(new Set(adapter.formats.map(({ format }) => format)).size, adapter.formats.length, 'each format once');
    for (const { path } of adapter.formats)
      assert.ok(path === undefined || path({ model: 'm', stream: true }).startsWith('/'), 'a path begins with /');
    if (adapter.baseUrl !== undefined) {
      assert.ok(URL.canParse(adapter.baseUrl));
      assert.ok(!adapter.baseUrl.endsWith('/'));
    }
  });

  test(`${id} sends its key in a header of lower-case name, and none where it has none`, async () => {
    for (const { format } of adapter.formats) {
      const withKey = await adapter.authorize(testCall({ ...context(adapter, 'the-key'), format }));
      assert.ok(Object.values(withKey).some((value) => value.endsWith('the-key')));
      assert.deepEqual(
        Object.keys(withKey),
        Object.keys(withKey).map((name) => name.toLowerCase()),
      );
      const withoutKey = await adapter.authorize(testCall({ ...context(adapter, undefined), format }));
      assert.ok(!('authorization' in withoutKey) && !('x-api-key' in withoutKey));
      assert.ok(!JSON.stringify(withoutKey).includes('undefined'));
    }
  });

  test(`${id} states its dialect for any model name`, () => {
    for (const { format } of adapter.formats)
      for (const model of ['', 'some-model', 'o3', 'claude-opus-5', 'ü'.repeat(300)])
        assert.equal(typeof adapter.dialect({ format, model }), 'object');
  });

  test(`${id} classifies any answer without throwing, and completely where it does`, () => {
    for (const status of [400, 401, 403, 404, 413, 422, 429, 500, 503, 529])
      for (const word of [
        undefined,
        '',
        '__proto__',
        'insufficient_quota',
        'overloaded_error',
        'context_length_exceeded',
      ]) {
        const error = word === undefined ? {} : { code: word, type: word, message: word };
        const meaning = adapter.classify?.({ status, error });
        if (meaning === undefined) continue;
        assert.ok(meaning.errorType !== undefined && meaning.status !== undefined && meaning.mayTry !== undefined);
        assert.ok(meaning.message !== undefined && meaning.message.endsWith('.'), 'a sentence that is safe to show');
      }
  });

  test(`${id} leaves members that the caller set as they are`, () => {
    const body = { model: 'some-model', reasoning_split: false };
    const adjusted = adapter.adjust?.(body, context(adapter, undefined)) ?? body;
    assert.equal(adjusted['reasoning_split'], false);
  });
}

test('no two members share an environment variable', () => {
  const rows: readonly KnownProvider[] = KNOWN_PROVIDERS;
  const variables = [
    ...rows.flatMap(({ apiKeyVariables }) => apiKeyVariables),
    ...[ADAPTERS.openai, ADAPTERS.anthropic].flatMap(({ apiKeyVariable }) => apiKeyVariable ?? []),
  ];
  assert.equal(new Set(variables).size, variables.length);
});

test('every known base URL is complete as it stands', () => {
  for (const row of KNOWN_PROVIDERS) {
    const settings = settingsOf({ config: [entry({ slug: 'x', adapter: row.id, baseUrl: row.baseUrl })] }, 'x');
    assert.equal(settings.baseUrl, row.baseUrl);
  }
});

test('nothing is on without configuration, environment and sandbox', () => {
  assert.deepEqual([...create({}).keys()], []);
});

test('the sandbox is on wherever it listens', () => {
  const settings = settingsOf({ sandboxBaseUrl: 'http://127.0.0.1:4242/v1' }, 'sandbox');
  assert.equal(settings.baseUrl, 'http://127.0.0.1:4242/v1');
  assert.equal(settings.name, 'Sandbox');
});

test('an environment variable turns its provider on, with its key and its own address', () => {
  const settings = settingsOf({ env: { GROQ_API_KEY: ' gsk-1\n' } }, 'groq');
  assert.deepEqual(settings, {
    slug: 'groq',
    name: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    apiKey: 'gsk-1',
    headers: {},
    timeouts: TIMEOUTS,
  });
  const both = create({ env: { OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'sk-2', GEMINI_API_KEY: 'sk-3' } });
  assert.deepEqual([...both.keys()].toSorted(), ['anthropic', 'google', 'openai']);
});

test('the second variable of a provider counts where the first is not set', () => {
  assert.equal(settingsOf({ env: { DEEPINFRA_API_KEY: '', DEEPINFRA_TOKEN: 'di-1' } }, 'deepinfra').apiKey, 'di-1');
});

test('a variable that is set to nothing turns nothing on', () => {
  assert.equal(create({ env: { OPENAI_API_KEY: '', GROQ_API_KEY: '  ' } }).size, 0);
});

test('a local engine is off until its host variable or the configuration names it', () => {
  assert.equal(create({}).has('ollama'), false);
  assert.equal(settingsOf({ env: { OLLAMA_HOST: '0.0.0.0:9000' } }, 'ollama').baseUrl, 'http://127.0.0.1:9000/v1');
  const configured = settingsOf({ config: [entry({ slug: 'ollama', adapter: 'ollama' })] }, 'ollama');
  assert.equal(configured.baseUrl, 'http://127.0.0.1:11434/v1');
  assert.equal('apiKey' in configured, false);
});

test('an entry replaces the known provider of its slug', () => {
  const providers = create({
    config: [entry({ slug: 'groq', baseUrl: 'http://127.0.0.1:9101', name: 'My Groq' })],
    env: { GROQ_API_KEY: 'gsk-1' },
  });
  assert.equal(providers.size, 1);
  assert.equal(providers.get('groq')?.adapter.id, 'openai-compatible');
  assert.equal(providers.get('groq')?.settings.name, 'My Groq');
  assert.equal(providers.get('groq')?.settings.baseUrl, 'http://127.0.0.1:9101/v1');
});

test('an entry without a key gets the key of the environment', () => {
  assert.equal(settingsOf({ config: [entry({ adapter: 'openai' })], env: { OPENAI_API_KEY: 'sk-1' } }).apiKey, 'sk-1');
});

test('a key of the environment never goes to an address of the operator', () => {
  const config = [entry({ adapter: 'openai', baseUrl: 'https://elsewhere.example.com/v1' })];
  assert.equal('apiKey' in settingsOf({ config, env: { OPENAI_API_KEY: 'sk-1' } }), false);
});

test('timeouts of an entry override the general ones one by one', () => {
  const settings = settingsOf({ config: [entry({ baseUrl: 'http://127.0.0.1:1', timeouts: { idleMs: 40 } })] });
  assert.deepEqual(settings.timeouts, { ...TIMEOUTS, idleMs: 40 });
});

test('general timeouts may hold more than an attempt knows', () => {
  const timeouts = { ...TIMEOUTS, totalMs: 6 };
  assert.deepEqual(settingsOf({ env: { GROQ_API_KEY: 'k' }, timeouts }, 'groq').timeouts, TIMEOUTS);
});

test('extra headers have lower-case names', () => {
  const settings = settingsOf({ config: [entry({ baseUrl: 'http://127.0.0.1:1', headers: { 'X-Team': 'a b' } })] });
  assert.deepEqual(settings.headers, { 'x-team': 'a b' });
});

for (const [name, setup, message] of [
  [
    'a mistyped adapter names the nearest one',
    { config: [entry({ adapter: 'openai-compatibel' })] },
    'providers.alpha.adapter: unknown adapter "openai-compatibel"; did you mean "openai-compatible"?',
  ],
  [
    'an adapter without a host of its own needs a base URL',
    { config: [entry({})] },
    'providers.alpha.base_url: is required for the adapter openai-compatible',
  ],
  [
    'a base URL that is none is refused by name',
    { config: [entry({ baseUrl: 'alpha.example.com' })] },
    'providers.alpha.base_url: must be a URL such as https://api.example.com/v1',
  ],
  [
    'a key that no header can hold is refused without being repeated',
    { config: [entry({ baseUrl: 'http://127.0.0.1:1', apiKey: 's3cret\r\nx: y' })] },
    'providers.alpha.api_key: must be printable ASCII without spaces',
  ],
  [
    'so is one of the environment',
    { env: { OPENAI_API_KEY: 's3cretü' } },
    'OPENAI_API_KEY: must be printable ASCII without spaces',
  ],
  [
    'a header that is none is refused by name',
    { config: [entry({ baseUrl: 'http://127.0.0.1:1', headers: { 'x-team': 's3cret\n' } })] },
    'providers.alpha.headers.x-team: is no valid HTTP header',
  ],
  ['a host variable that is none is refused by name', { env: { OLLAMA_HOST: 'a b' } }, 'OLLAMA_HOST: must be a URL'],
] as const satisfies readonly (readonly [string, Partial<ProvidersSetup>, string])[]) {
  test(name, () => {
    assert.throws(
      () => create(setup),
      (error: unknown) => {
        assert.ok(error instanceof ProviderSetupError);
        assert.ok(error.message.startsWith(message), error.message);
        return true;
      },
    );
  });
}

test('an adapter that resembles nothing gets the whole list', () => {
  assert.throws(() => create({ config: [entry({ adapter: 'zzzzzzzz' })] }), /known are openai-compatible, /);
});

test('ids that need no entry are those that know their own address', () => {
  assert.ok(KNOWN_PROVIDER_IDS.includes('openai') && KNOWN_PROVIDER_IDS.includes('sandbox'));
  assert.ok(!KNOWN_PROVIDER_IDS.includes('openai-compatible') && !KNOWN_PROVIDER_IDS.includes('messages-compatible'));
});
