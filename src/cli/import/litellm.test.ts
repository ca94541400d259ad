import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { knownSlugs } from '../../catalog/known-slugs.ts';
import { formatYaml, parseYaml } from '../../config/yaml-text.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { loadCheckedConfig } from '../load-config.ts';
import { importLitellm, type Imported } from './litellm.ts';
import { variablesOf } from './values.ts';

function importText(yaml: string): Imported {
  const { value, problem } = parseYaml(yaml);
  assert.equal(problem, undefined);
  assert.ok(isJsonObject(value));
  return importLitellm(value, knownSlugs());
}

/** Whatever is imported must start, given its variables. */
function checked(imported: Imported): Imported {
  const valueOf = (name: string): string =>
    name.includes('REGION') ? 'eu-west-1' : /URL|BASE|ENDPOINT/.test(name) ? 'http://127.0.0.1' : 'x1';
  const env = Object.fromEntries(variablesOf(imported.config).map((name) => [name, valueOf(name)]));
  loadCheckedConfig(['--config', 'gateway.yaml'], env, () => formatYaml(imported.config));
  return imported;
}

/** The path and fate of every setting that is in a note. */
function fates({ notes }: Imported): Readonly<Record<string, string>> {
  return Object.fromEntries(notes.flatMap(({ kind, paths }) => paths.map((path) => [path, kind])));
}

const providers = ({ config }: Imported): JsonObject => objectOf(config['providers']);
const models = ({ config }: Imported): JsonObject => objectOf(config['models']);

function objectOf(value: Json | undefined): JsonObject {
  assert.ok(isJsonObject(value));
  return value;
}

const ONE = 'model_list: [{ model_name: m, litellm_params: { model: openai/gpt-4o } }]';

suite('deployments', () => {
  test('of one name become the endpoints of one model, with a provider for each address and key', () => {
    const imported = checked(
      importText(`
model_list:
  - model_name: gpt-4o
    litellm_params: { model: azure/gpt-4o-eu, api_base: https://eu.openai.azure.com/, api_key: os.environ/AZURE_EU_KEY, api_version: "2024-10-21" }
    model_info: { base_model: azure/gpt-4o }
  - model_name: gpt-4o
    litellm_params: { model: azure/gpt-4o-us, api_base: https://us.openai.azure.com/, api_key: os.environ/AZURE_US_KEY }
  - model_name: mini
    litellm_params: { model: azure/mini, api_base: https://eu.openai.azure.com/, api_key: os.environ/AZURE_EU_KEY }
`),
    );
    assert.deepEqual(providers(imported), {
      azure: { base_url: 'https://eu.openai.azure.com/', api_key: '${AZURE_EU_KEY}' },
      'azure-2': { adapter: 'azure', base_url: 'https://us.openai.azure.com/', api_key: '${AZURE_US_KEY}' },
    });
    assert.deepEqual(models(imported), {
      'openai/gpt-4o': {
        endpoints: [
          { provider: 'azure', model: 'gpt-4o-eu' },
          { provider: 'azure-2', model: 'gpt-4o-us' },
        ],
      },
      'custom/mini': { name: 'mini', endpoints: [{ provider: 'azure', model: 'mini' }] },
    });
    assert.deepEqual(imported.config['aliases'], { 'gpt-4o': 'openai/gpt-4o', mini: 'custom/mini' });
  });

  test('keep a name of their own where one of them is another model than the name says', () => {
    const imported = importText(`
model_list:
  - { model_name: gpt-4o, litellm_params: { model: openai/gpt-4o } }
  - { model_name: gpt-4o, litellm_params: { model: anthropic/claude-sonnet-4-5 } }
`);
    assert.deepEqual(Object.keys(models(imported)), ['custom/gpt-4o']);
  });

  /** Their model, further parameters, and the provider with its entry and upstream name here. */
  const CASES: readonly (readonly [
    model: string,
    params: string,
    slug: string,
    entry: JsonObject,
    upstream: string,
  ])[] = [
    ['gpt-4o-mini', '', 'openai', {}, 'gpt-4o-mini'],
    ['openai/gpt-4o', 'api_key: os.environ/OPENAI_API_KEY', 'openai', {}, 'gpt-4o'],
    ['openai/gpt-4o', 'api_key: os.environ/TEAM_KEY', 'openai', { api_key: '${TEAM_KEY}' }, 'gpt-4o'],
    [
      'openai/gpt-4o',
      'organization: org-1, extra_headers: { X-Team: a }',
      'openai',
      { headers: { 'openai-organization': 'org-1', 'x-team': 'a' } },
      'gpt-4o',
    ],
    [
      'openai/meta/qwen3',
      'api_base: "http://gpu:8000/v1", api_key: none',
      'openai-compatible',
      { base_url: 'http://gpu:8000/v1', api_key: 'none' },
      'meta/qwen3',
    ],
    [
      'openai/x',
      'api_base: os.environ/HOST_BASE, api_key: os.environ/K',
      'openai-compatible',
      { base_url: '${HOST_BASE}', api_key: '${K}' },
      'x',
    ],
    ['azure/dep', '', 'azure', { base_url: '${AZURE_API_BASE}', api_key: '${AZURE_API_KEY}' }, 'dep'],
    [
      'azure/dep',
      'api_base: "https://a.openai.azure.com", tenant_id: t, client_id: c, client_secret: os.environ/S',
      'azure',
      {
        base_url: 'https://a.openai.azure.com',
        api_key: '${AZURE_API_KEY}',
        options: { tenant_id: 't', client_id: 'c', client_secret: '${S}', entra: true },
      },
      'dep',
    ],
    ['claude-sonnet-4-5', '', 'anthropic', {}, 'claude-sonnet-4-5'],
    [
      'bedrock/converse/anthropic.claude-x-v1:0',
      'aws_region_name: us-east-1, aws_access_key_id: os.environ/A, aws_secret_access_key: os.environ/B',
      'bedrock',
      { options: { region: 'us-east-1', access_key_id: '${A}', secret_access_key: '${B}' } },
      'anthropic.claude-x-v1:0',
    ],
    [
      'vertex_ai/gemini-2.5-pro',
      'vertex_project: p, vertex_location: europe-west1',
      'google-vertex',
      { options: { project: 'p', location: 'europe-west1' } },
      'gemini-2.5-pro',
    ],
    ['gemini/gemini-2.5-flash', '', 'google', {}, 'gemini-2.5-flash'],
    ['together_ai/meta-llama/L', '', 'together', { api_key: '${TOGETHERAI_API_KEY}' }, 'meta-llama/L'],
    [
      'fireworks_ai/accounts/f/models/m',
      '',
      'fireworks',
      { api_key: '${FIREWORKS_AI_API_KEY}' },
      'accounts/f/models/m',
    ],
    [
      'groq/llama',
      'timeout: 10, stream_timeout: 2.5, max_retries: 1',
      'groq',
      { timeouts: { whole_ms: 10_000, first_token_ms: 2_500 }, retry: { same_endpoint: 1 } },
      'llama',
    ],
    [
      'ollama_chat/llama3.3:70b',
      'api_base: "http://127.0.0.1:11434"',
      'ollama',
      { base_url: 'http://127.0.0.1:11434' },
      'llama3.3:70b',
    ],
    ['hosted_vllm/qwen', 'api_base: "http://gpu:8000"', 'vllm', { base_url: 'http://gpu:8000' }, 'qwen'],
    ['openrouter/openai/gpt-4o', '', 'openrouter', {}, 'openai/gpt-4o'],
    ['jina_ai/jina-reranker', '', 'jina', { api_key: '${JINA_AI_API_KEY}' }, 'jina-reranker'],
    ['mistral-large', 'custom_llm_provider: mistral', 'mistral', {}, 'mistral-large'],
  ];
  for (const [model, params, slug, entry, upstream] of CASES)
    test(`call the same host as before: ${model}${params === '' ? '' : ` with ${params}`}`, () => {
      const yaml = `model_list: [{ model_name: m, litellm_params: { model: "${model}"${params === '' ? '' : `, ${params}`} } }]`;
      const imported = checked(importText(yaml));
      assert.deepEqual(providers(imported), { [slug]: entry });
      const { endpoints } = objectOf(models(imported)['custom/m'] ?? null);
      assert.deepEqual(endpoints, [{ provider: slug, model: upstream }]);
    });

  test('that differ in tags alone are one endpoint, and Bedrock has a region', () => {
    const imported = checked(
      importText(`
model_list:
  - { model_name: a, litellm_params: { model: bedrock/x, tags: [one] } }
  - { model_name: a, litellm_params: { model: bedrock/x, tags: [two] } }
`),
    );
    assert.deepEqual(objectOf(models(imported)['custom/a'] ?? null)['endpoints'], [
      { provider: 'bedrock', model: 'x' },
    ]);
    assert.deepEqual(providers(imported), { bedrock: { options: { region: '${AWS_REGION_NAME}' } } });
  });

  test('without an adapter are left out and named, unless they have an address', () => {
    const imported = importText(`
model_list:
  - { model_name: a, litellm_params: { model: sagemaker/x } }
  - { model_name: b, litellm_params: { model: huggingface/x/y } }
  - { model_name: c, litellm_params: { model: nowhere/x, api_base: "http://gpu:1/v1" } }
  - { model_name: d, litellm_params: { model: whatever } }
  - { litellm_params: { model: openai/x } }
`);
    assert.deepEqual(Object.keys(models(imported)), ['custom/c']);
    const found = fates(imported);
    for (const path of [
      'model_list[0].litellm_params.model',
      'model_list[1].litellm_params.model',
      'model_list[3].litellm_params.model',
      'model_list[4].model_name',
    ])
      assert.equal(found[path], 'lost', path);
    assert.equal(found['model_list[2].litellm_params.model'], 'changed');
  });

  test('bring prices without the noise of doubles, sizes, and what they make', () => {
    const imported = checked(
      importText(`
model_list:
  - model_name: e
    litellm_params: { model: openai/text-embedding-3-small, input_cost_per_token: 2e-8 }
    model_info: { mode: embedding, max_input_tokens: 8191 }
  - model_name: c
    litellm_params: { model: openai/c }
    model_info: { input_cost_per_token: 0.00000015, output_cost_per_token: "6e-7", cache_read_input_token_cost: 7.5e-8, max_tokens: 16384, max_input_tokens: 128000, supports_vision: true }
`),
    );
    assert.deepEqual(models(imported)['custom/e'], {
      name: 'e',
      output_modalities: ['embeddings'],
      endpoints: [
        {
          provider: 'openai',
          model: 'text-embedding-3-small',
          price: { prompt: 0.02, completion: 0 },
          context_length: 8_191,
        },
      ],
    });
    assert.deepEqual(models(imported)['custom/c'], {
      name: 'c',
      input_modalities: ['text', 'image'],
      endpoints: [
        {
          provider: 'openai',
          model: 'c',
          price: { prompt: 0.15, completion: 0.6, cache_read: 0.075 },
          context_length: 128_000,
          max_completion_tokens: 16_384,
        },
      ],
    });
  });

  test('take credentials from credential_list, under what they say themselves', () => {
    const imported = importText(`
credential_list:
  - { credential_name: eu, credential_values: { api_key: os.environ/EU, api_base: "https://eu.openai.azure.com" }, credential_info: {} }
model_list:
  - { model_name: a, litellm_params: { model: azure/a, litellm_credential_name: eu } }
  - { model_name: b, litellm_params: { model: azure/b, litellm_credential_name: eu, api_key: os.environ/OTHER } }
  - { model_name: c, litellm_params: { model: azure/c, litellm_credential_name: us } }
`);
    assert.deepEqual(providers(imported)['azure'], { base_url: 'https://eu.openai.azure.com', api_key: '${EU}' });
    assert.equal(objectOf(providers(imported)['azure-2'] ?? null)['api_key'], '${OTHER}');
    assert.equal(fates(imported)['model_list[2].litellm_params.litellm_credential_name'], 'lost');
  });
});

suite('patterns', () => {
  test('of a provider become a provider of that name, which never makes its models free', () => {
    const imported = checked(
      importText('model_list: [{ model_name: gemini/*, litellm_params: { model: gemini/*, api_key: os.environ/G } }]'),
    );
    assert.deepEqual(imported.config, { providers: { gemini: { adapter: 'google', api_key: '${G}' } } });
  });

  test('of everything let names without a provider be found', () => {
    const imported = checked(importText('model_list: [{ model_name: "*", litellm_params: { model: "*" } }]'));
    assert.deepEqual(imported.config, { resolve_bare_names: true });
  });

  test('of everything at one provider set it up, too', () => {
    const imported = checked(
      importText(
        'model_list: [{ model_name: "*", litellm_params: { model: openai/*, api_key: os.environ/K, rpm: 1 } }]',
      ),
    );
    assert.deepEqual(imported.config, { providers: { openai: { api_key: '${K}' } }, resolve_bare_names: true });
    assert.equal(fates(imported)['model_list[0].litellm_params.rpm'], 'lost');
  });

  test('of another form are named as lost', () => {
    const imported = importText('model_list: [{ model_name: "gpt-*", litellm_params: { model: "openai/gpt-*" } }]');
    assert.equal(fates(imported)['model_list[0].model_name'], 'lost');
  });
});

suite('routing', () => {
  const GROUPS = `
model_list:
  - { model_name: a, litellm_params: { model: openai/a } }
  - { model_name: b, litellm_params: { model: openai/b } }
  - { model_name: c, litellm_params: { model: openai/c } }
`;

  test('carries fallbacks of every kind as the fallbacks of a model, in order and once', () => {
    const imported = checked(
      importText(`${GROUPS}
router_settings: { fallbacks: [{ a: [b] }], content_policy_fallbacks: [{ a: [b, c] }] }
litellm_settings: { context_window_fallbacks: [{ b: [c, gone] }], default_fallbacks: [c] }
`),
    );
    const of = (slug: string): Json | undefined => objectOf(models(imported)[slug] ?? null)['fallbacks'];
    assert.deepEqual(
      [of('custom/a'), of('custom/b'), of('custom/c')],
      [['custom/b', 'custom/c'], ['custom/c'], undefined],
    );
    assert.ok(imported.notes.some(({ kind, text }) => kind === 'changed' && text.includes('every kind')));
    assert.ok(imported.notes.some(({ kind, text }) => kind === 'lost' && text.includes('"gone"')));
  });

  test('carries aliases, time limits, retries, the strategy and Redis', () => {
    const imported = checked(
      importText(`${GROUPS}
router_settings:
  model_group_alias: { gpt-4: a, hidden: { model: b, hidden: true } }
  routing_strategy: latency-based-routing
  timeout: 30
  num_retries: 5
  redis_host: redis.internal
  redis_password: os.environ/REDIS_PASSWORD
litellm_settings: { request_timeout: 600, num_retries: 1 }
general_settings: { completion_model: c, max_request_size_mb: 64, global_max_parallel_requests: 100 }
`),
    );
    const { providers: _providers, models: _models, aliases, ...rest } = imported.config;
    assert.deepEqual(rest, {
      server: { max_body_mb: 64 },
      rate_limits: { account: { concurrent: 100 } },
      defaults: { model: 'custom/c', provider: { sort: 'latency' } },
      timeouts: { whole_ms: 30_000 },
      retry: { same_endpoint: 2 },
      redis_url: 'redis://:${REDIS_PASSWORD}@redis.internal:6379',
    });
    const { 'gpt-4': one, hidden } = objectOf(aliases);
    assert.deepEqual([one, hidden], ['custom/a', 'custom/b']);
  });

  test('names a strategy that has no counterpart', () => {
    const imported = importText(`${ONE}\nrouter_settings: { routing_strategy: usage-based-routing-v2 }`);
    assert.equal(fates(imported)['router_settings.routing_strategy'], 'lost');
    assert.equal(imported.config['defaults'], undefined);
  });
});

suite('the rest of a file', () => {
  test('carries MCP servers over HTTP and beside the gateway, and names those of the transport sse', () => {
    const imported = checked(
      importText(`${ONE}
mcp_servers:
  Deep_Wiki: { url: "https://mcp.example/mcp", transport: http, auth_type: bearer_token, auth_value: os.environ/WIKI }
  files: { transport: stdio, command: npx, args: ["-y", "server"], env: { ROOT: /srv }, allowed_tools: [read] }
  old: { url: "https://mcp.example/sse", transport: sse }
`),
    );
    assert.deepEqual(imported.config['mcp_servers'], {
      'deep-wiki': { url: 'https://mcp.example/mcp', headers: { authorization: 'Bearer ${WIKI}' } },
      files: { command: 'npx', args: ['-y', 'server'], env: { ROOT: '/srv' }, tools: ['read'] },
    });
    assert.equal(fates(imported)['mcp_servers.old'], 'lost');
  });

  test('is in a note to the last setting', () => {
    const imported = importText(`
model_list:
  - model_name: m
    litellm_params: { model: openai/gpt-4o, rpm: 1, tpm: 2, temperature: 0.2, novel_param: 1 }
    model_info: { id: x, novel_fact: 1, supports_function_calling: true }
    novel: 1
router_settings: { allowed_fails: 3, novel_router: 1 }
litellm_settings: { drop_params: true, callbacks: [langfuse], cache: true, novel_setting: 1 }
general_settings: { master_key: sk-1, database_url: "postgresql://x", alerting: [slack], novel_general: 1 }
environment_variables: { A: b }
guardrails: []
novel_top: 1
`);
    assert.deepEqual(fates(imported), {
      'model_list[0].litellm_params.rpm': 'lost',
      'model_list[0].litellm_params.tpm': 'lost',
      'model_list[0].litellm_params.temperature': 'lost',
      'model_list[0].litellm_params.novel_param': 'lost',
      'model_list[0].model_info.id': 'needless',
      'model_list[0].model_info.novel_fact': 'lost',
      'model_list[0].model_info.supports_function_calling': 'needless',
      'model_list[0].novel': 'lost',
      'router_settings.allowed_fails': 'needless',
      'router_settings.novel_router': 'lost',
      'litellm_settings.drop_params': 'needless',
      'litellm_settings.callbacks': 'lost',
      'litellm_settings.cache': 'lost',
      'litellm_settings.novel_setting': 'lost',
      'general_settings.master_key': 'lost',
      'general_settings.database_url': 'lost',
      'general_settings.alerting': 'lost',
      'general_settings.novel_general': 'lost',
      environment_variables: 'lost',
      guardrails: 'lost',
      novel_top: 'lost',
    });
  });

  test('never holds a key from a note, and names a key that stands in the file', () => {
    const imported = importText(
      'model_list: [{ model_name: m, litellm_params: { model: openai/x, api_key: "sk-secret${A}" } }]\ngeneral_settings: { master_key: sk-master }',
    );
    assert.equal(objectOf(providers(imported)['openai'] ?? null)['api_key'], 'sk-secret$${A}');
    assert.equal(fates(imported)['model_list[0].litellm_params.api_key'], 'changed');
    assert.doesNotMatch(JSON.stringify(imported.notes), /sk-/);
  });
});
