import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatsOf, type ProviderEntry } from './build-provider.ts';
import { ProviderSetupError } from './check-settings.ts';
import type { CallContext, Provider, ProviderAdapter } from './contract.ts';
import {
  ADAPTER_IDS,
  ADAPTERS,
  createProviders,
  KNOWN_PROVIDER_IDS,
  missingKey,
  type ProvidersSetup,
} from './index.ts';
import type { KnownProvider } from './known-provider.ts';
import { KNOWN_PROVIDERS } from './known-providers.ts';
import { testCall } from '../../tests/support/providers/call.ts';

const TIMEOUTS = {
  connectMs: 1,
  headersMs: 2,
  firstTokenMs: 3,
  idleMs: 4,
  wholeMs: 5,
  embeddingsMs: 6,
  rerankMs: 7,
  imageMs: 8,
  transcriptionMs: 9,
  speechFirstByteMs: 10,
  speechIdleMs: 11,
};

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
    assert.ok(adapter.formats.length + (adapter.offers ?? []).length > 0, 'it offers something');
    assert.equal(new Set(adapter.formats.map(({ format }) => format)).size, adapter.formats.length, 'each format once');
    assert.deepEqual(
      (adapter.formatsOf?.('some-model') ?? []).filter(
        (format) => !adapter.formats.some((offer) => offer.format === format),
      ),
      [],
      'a model is asked only in formats that are offered',
    );
    const options = Object.keys(adapter.options?.shape ?? {});
    assert.ok(
      options.every((name) => /^[a-z][a-z_]*$/.test(name)),
      'options are spelt as the file is',
    );
    assert.ok(
      (adapter.secretOptions ?? []).every((name) => options.includes(name)),
      'what is secret is an option',
    );
    for (const { path } of adapter.formats)
      assert.ok(path === undefined || path(context(adapter, undefined)).startsWith('/'), 'a path begins with /');
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

test('gives no two members the same environment variable', () => {
  const rows: readonly KnownProvider[] = KNOWN_PROVIDERS;
  const listed = new Set<string>(rows.map(({ id }) => id));
  const variables = [
    ...rows.flatMap(({ apiKeyVariables }) => apiKeyVariables),
    ...ADAPTER_IDS.filter((id) => !listed.has(id)).flatMap((id) => ADAPTERS[id].apiKeyVariable ?? []),
  ];
  assert.equal(new Set(variables).size, variables.length);
});

test('turns no provider on for a variable that machines have for other reasons', () => {
  const ambient = {
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
    AWS_PROFILE: 'p',
    AWS_REGION: 'us-east-1',
    GOOGLE_CLOUD_PROJECT: 'p',
    GOOGLE_APPLICATION_CREDENTIALS: '/x.json',
    AZURE_TENANT_ID: 't',
    AZURE_CLIENT_ID: 'c',
    AZURE_CLIENT_SECRET: 's',
  };
  assert.deepEqual([...create({ env: ambient }).keys()], []);
});

test('variables that mean one provider turn it on together', () => {
  const env = {
    AWS_BEARER_TOKEN_BEDROCK: 'bedrock-key',
    AWS_REGION: 'eu-west-1',
    AZURE_OPENAI_API_KEY: 'azure-key',
    AZURE_OPENAI_ENDPOINT: 'https://r1.openai.azure.com/',
    GOOGLE_VERTEX_PROJECT: 'p-1',
  };
  const providers = create({ env });
  assert.deepEqual([...providers.keys()].toSorted(), ['azure', 'bedrock', 'google-vertex']);
  assert.equal(providers.get('bedrock')?.settings.baseUrl, 'https://bedrock-runtime.eu-west-1.amazonaws.com');
  assert.equal(providers.get('bedrock')?.settings.apiKey, 'bedrock-key');
  assert.equal(providers.get('azure')?.settings.baseUrl, 'https://r1.openai.azure.com/openai/v1');
  assert.match(providers.get('google-vertex')?.settings.baseUrl ?? '', /\/projects\/p-1\/locations\/global$/);
  const { AWS_REGION: _region, AZURE_OPENAI_ENDPOINT: _endpoint, ...half } = env;
  assert.deepEqual([...create({ env: half }).keys()], ['google-vertex']);
});

test('takes the settings of a cloud entry from the environment', () => {
  const env = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_REGION: 'us-east-1' };
  const provider = create({ config: [entry({ slug: 'bedrock', adapter: 'bedrock' })], env }).get('bedrock');
  assert.notEqual(provider?.authorize, ADAPTERS.bedrock.authorize, 'its calls are signed');
  assert.equal(provider?.settings.apiKey, undefined);
});

test('sends a key from the environment to a host of its cloud, over TLS, and nowhere else', () => {
  const env = { AZURE_OPENAI_API_KEY: 'azure-key', AWS_BEARER_TOKEN_BEDROCK: 'bedrock-key', AWS_REGION: 'us-east-1' };
  const keyAt = (adapter: string, baseUrl: string): string | undefined =>
    settingsOf({ config: [entry({ adapter, baseUrl })], env }).apiKey;
  assert.equal(keyAt('azure', 'https://r1.services.ai.azure.com'), 'azure-key');
  assert.equal(keyAt('azure', 'http://r1.services.ai.azure.com'), undefined);
  assert.equal(keyAt('azure', 'https://azure.com.example.com'), undefined);
  assert.equal(keyAt('bedrock', 'https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com'), 'bedrock-key');
  assert.equal(keyAt('bedrock', 'https://amazonaws.com.example.com'), undefined);
});

test('reports a cloud without a key as lacking it, except one that signs', () => {
  const lacking = create({ config: [entry({ adapter: 'azure', baseUrl: 'https://r1.openai.azure.com' })] }).get(
    'alpha',
  );
  assert.ok(lacking !== undefined);
  assert.deepEqual(missingKey(lacking), ['AZURE_OPENAI_API_KEY']);
  const signing = create({ config: [entry({ adapter: 'bedrock', options: { region: 'us-east-1' } })] }).get('alpha');
  assert.ok(signing !== undefined);
  assert.deepEqual(missingKey(signing), []);
});

test('options reach the adapter, and those that are secret no error', () => {
  const options = { region: 'us-east-1', access_key_id: 'AKID-1', secret_access_key: 'the-secret' };
  const settings = settingsOf({ config: [entry({ adapter: 'bedrock', options })] });
  assert.equal(settings.baseUrl, 'https://bedrock-runtime.us-east-1.amazonaws.com');
  assert.deepEqual(settings.secrets, ['AKID-1', 'the-secret']);
});

test('serves a format with a path beside the base URL at the vendor only', () => {
  const own = create({ config: [entry({ slug: 'deepseek', adapter: 'deepseek' })] }).get('deepseek');
  assert.deepEqual(
    own?.formats.map(({ format, basePath }) => [format, basePath]),
    [
      ['chat', undefined],
      ['responses', ''],
      ['messages', '/anthropic/v1'],
    ],
  );
  const elsewhere = create({
    config: [entry({ slug: 'deepseek', adapter: 'deepseek', baseUrl: 'http://127.0.0.1:1/v1' })],
  }).get('deepseek');
  assert.deepEqual(
    elsewhere?.formats.map(({ format }) => format),
    ['chat'],
  );
});

test('calls a model in its only format', () => {
  const xai = create({ env: { XAI_API_KEY: 'k' } }).get('xai');
  assert.ok(xai !== undefined);
  assert.deepEqual(formatsOf(xai, 'grok-4.3'), ['chat', 'responses']);
  assert.deepEqual(formatsOf(xai, 'grok-4.20-multi-agent'), ['responses']);
});

test('has complete known base URLs', () => {
  for (const row of KNOWN_PROVIDERS) {
    const settings = settingsOf({ config: [entry({ slug: 'x', adapter: row.id, baseUrl: row.baseUrl })] }, 'x');
    assert.equal(settings.baseUrl, row.baseUrl);
  }
});

test('turns nothing on without configuration, environment and sandbox', () => {
  assert.deepEqual([...create({}).keys()], []);
});

test('turns the sandbox on wherever it listens', () => {
  const settings = settingsOf({ sandboxBaseUrl: 'http://127.0.0.1:4242/v1' }, 'sandbox');
  assert.equal(settings.baseUrl, 'http://127.0.0.1:4242/v1');
  assert.equal(settings.name, 'Sandbox');
});

test('turns a provider on by its environment variable, with its key and its own address', () => {
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

test('reads the second variable of a provider where the first is not set', () => {
  assert.equal(settingsOf({ env: { DEEPINFRA_API_KEY: '', DEEPINFRA_TOKEN: 'di-1' } }, 'deepinfra').apiKey, 'di-1');
});

test('turns nothing on for a variable that is set to nothing', () => {
  assert.equal(create({ env: { OPENAI_API_KEY: '', GROQ_API_KEY: '  ' } }).size, 0);
});

test('leaves a local engine off until its host variable or the configuration names it', () => {
  assert.equal(create({}).has('ollama'), false);
  assert.equal(settingsOf({ env: { OLLAMA_HOST: '0.0.0.0:9000' } }, 'ollama').baseUrl, 'http://127.0.0.1:9000/v1');
  const configured = settingsOf({ config: [entry({ slug: 'ollama', adapter: 'ollama' })] }, 'ollama');
  assert.equal(configured.baseUrl, 'http://127.0.0.1:11434/v1');
  assert.equal('apiKey' in configured, false);
});

test('turns a known provider on that an endpoint names: a local engine ready, another without its key', () => {
  const providers = create({ named: new Set(['vllm', 'anthropic', 'groq']), env: { GROQ_API_KEY: 'gsk-1' } });
  assert.deepEqual([...providers.keys()].toSorted(), ['anthropic', 'groq', 'vllm']);
  assert.deepEqual(
    [...providers.values()].map((provider) => [provider.settings.slug, missingKey(provider)]),
    [
      ['anthropic', ['ANTHROPIC_API_KEY']],
      ['groq', []],
      ['vllm', []],
    ],
  );
});

for (const [name, members, variables] of [
  ['a vendor without a key lacks it', { adapter: 'openai' }, ['OPENAI_API_KEY']],
  ['any of several variables would do', { adapter: 'deepinfra' }, ['DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN']],
  ['a key of its own is enough', { adapter: 'openai', apiKey: 'sk-1' }, []],
  ['so is a header that carries one', { adapter: 'openai', headers: { Authorization: 'Bearer x' } }, []],
  ['another header is not', { adapter: 'openai', headers: { 'x-team': 'a' } }, ['OPENAI_API_KEY']],
  ['a host of the operator may need none', { adapter: 'openai', baseUrl: 'http://127.0.0.1:1' }, []],
  ['nor may a host that only speaks a format', { adapter: 'messages-compatible', baseUrl: 'http://127.0.0.1:1' }, []],
] as const)
  test(`finds credentials: ${name}`, () => {
    const provider = create({ config: [entry({ ...members })] }).get('alpha');
    assert.ok(provider);
    assert.deepEqual(missingKey(provider), variables);
  });

test('replaces the known provider of a slug by an entry', () => {
  const providers = create({
    config: [entry({ slug: 'groq', baseUrl: 'http://127.0.0.1:9101', name: 'My Groq' })],
    env: { GROQ_API_KEY: 'gsk-1' },
  });
  assert.equal(providers.size, 1);
  assert.equal(providers.get('groq')?.adapter.id, 'openai-compatible');
  assert.equal(providers.get('groq')?.settings.name, 'My Groq');
  assert.equal(providers.get('groq')?.settings.baseUrl, 'http://127.0.0.1:9101/v1');
});

test('gives an entry without a key the key from the environment', () => {
  assert.equal(settingsOf({ config: [entry({ adapter: 'openai' })], env: { OPENAI_API_KEY: 'sk-1' } }).apiKey, 'sk-1');
});

test('never sends a key from the environment to an address of the operator', () => {
  const config = [entry({ adapter: 'openai', baseUrl: 'https://elsewhere.example.com/v1' })];
  assert.equal('apiKey' in settingsOf({ config, env: { OPENAI_API_KEY: 'sk-1' } }), false);
});

test('timeouts of an entry override the general ones one by one', () => {
  const settings = settingsOf({ config: [entry({ baseUrl: 'http://127.0.0.1:1', timeouts: { idleMs: 40 } })] });
  assert.deepEqual(settings.timeouts, { ...TIMEOUTS, idleMs: 40, speechIdleMs: 40 });
});

// @spec fallback-32
test('general timeouts of an entry are nearer than those of a kind for all providers', () => {
  const own = { wholeMs: 50, firstTokenMs: 30, imageMs: 80, speechFirstByteMs: 100 };
  const settings = settingsOf({ config: [entry({ baseUrl: 'http://127.0.0.1:1', timeouts: own })] });
  assert.deepEqual(settings.timeouts, {
    ...TIMEOUTS,
    ...own,
    embeddingsMs: 50,
    rerankMs: 50,
    transcriptionMs: 50,
  });
});

test('accepts general timeouts that an attempt does not have', () => {
  const timeouts = { ...TIMEOUTS, totalMs: 6 };
  assert.deepEqual(settingsOf({ env: { GROQ_API_KEY: 'k' }, timeouts }, 'groq').timeouts, TIMEOUTS);
});

test('writes extra headers with lower-case names', () => {
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
  [
    'an option that is misspelt names the nearest one',
    { config: [entry({ adapter: 'bedrock', options: { regoin: 'us-east-1' } })] },
    'providers.alpha.options.regoin: unknown option; did you mean "region"?',
  ],
  [
    'an option that an adapter does not have is refused',
    { config: [entry({ baseUrl: 'http://127.0.0.1:1', options: { region: 'us-east-1' } })] },
    'providers.alpha.options.region: unknown option; known are private_media, stored_files',
  ],
  [
    'an option that is not what it must be is refused by name',
    { config: [entry({ adapter: 'bedrock', options: { region: 'mars' } })] },
    'providers.alpha.options.region: must be a region such as us-east-1',
  ],
  [
    'what an adapter misses is named',
    { config: [entry({ adapter: 'bedrock' })] },
    'providers.alpha.options.region: is required, or AWS_REGION in the environment',
  ],
  [
    'what it finds wrong in a variable bears the name of the variable',
    { env: { AZURE_OPENAI_API_KEY: 'k', AZURE_OPENAI_ENDPOINT: 'r1' } },
    'AZURE_OPENAI_ENDPOINT: must be a URL of https://',
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

test('gives an adapter that resembles nothing the whole list', () => {
  assert.throws(() => create({ config: [entry({ adapter: 'zzzzzzzz' })] }), /known are openai-compatible, /);
});

test('requires no entry for ids that know their own address', () => {
  assert.ok(KNOWN_PROVIDER_IDS.includes('openai') && KNOWN_PROVIDER_IDS.includes('sandbox'));
  assert.ok(!KNOWN_PROVIDER_IDS.includes('openai-compatible') && !KNOWN_PROVIDER_IDS.includes('messages-compatible'));
});
