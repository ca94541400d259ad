import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_PREFERENCES } from '../../canonical/directives.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { createCatalog } from '../../catalog/catalog.ts';
import type { Settings } from '../../canonical/request.ts';
import type { Endpoint } from '../../catalog/model.ts';
import { resolveModels, variantsOf } from './resolve-models.ts';
import type { ResolvedModels } from '../request.ts';

const endpoint = (slug: string, upstreamModel: string): Endpoint => ({
  model: slug,
  provider: 'ollama',
  providerName: 'Ollama',
  upstreamModel,
  price: undefined,
  dataPolicy: {},
  formats: ['chat'],
  cancellable: true,
});

const catalog = createCatalog(
  [
    { slug: 'acme/one', name: 'One', endpoints: [] },
    { slug: 'acme/two:free', name: 'Two', endpoints: [] },
    { slug: 'acme/two:extended', name: 'Two, longer', endpoints: [] },
    { slug: 'acme/one-fast', name: 'One, fast', endpoints: [] },
    { slug: 'acme/one-pro', name: 'One, thorough', endpoints: [] },
    { slug: 'acme/safe', name: 'Safe', fallbacks: ['acme/one', 'acme/nope', 'acme/safe', 'ollama/x'], endpoints: [] },
  ],
  [{ prefix: 'ollama/', endpoint: (name, slug) => endpoint(slug, name) }],
);

function resolve(
  models: readonly string[],
  defaultModel?: string,
  settings: Settings = {},
  usesFallbacks = true,
): ResolvedModels {
  const directives = {
    models,
    provider: DEFAULT_PREFERENCES,
    plugins: [],
    echoUpstreamBody: false,
    serviceMetadata: false,
    betas: [],
  };
  return resolveModels({ directives, settings }, defaultModel, catalog, usesFallbacks);
}

const slugs = (requested: readonly string[], defaultModel?: string, settings?: Settings): string[] =>
  resolve(requested, defaultModel, settings).models.map(({ slug }) => slug);

function refusal(requested: readonly string[], defaultModel?: string): GatewayError {
  try {
    resolve(requested, defaultModel);
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return error;
  }
  throw new Error('was not refused');
}

// @spec model-6
test('models are found in order, and a slug with its own suffix is a model like any other', () => {
  assert.deepEqual(slugs(['acme/two:free', 'acme/one']), ['acme/two:free', 'acme/one']);
});

// @spec model-5
test('uses the default model, and refuses a request without one', () => {
  assert.deepEqual(slugs([], 'acme/one'), ['acme/one']);
  assert.equal(refusal([]).status, 400);
});

// @spec fallback-31
test('adds the configured fallbacks of a model that is named alone, without those that do not exist', () => {
  assert.deepEqual(slugs(['acme/safe']), ['acme/safe', 'acme/one', 'ollama/x']);
  assert.deepEqual(slugs([], 'acme/safe'), ['acme/safe', 'acme/one', 'ollama/x']);
  assert.equal(resolve(['acme/safe']).requestedCount, 3);
  assert.deepEqual(slugs(['acme/safe', 'acme/two:free']), ['acme/safe', 'acme/two:free']);
  assert.deepEqual(
    resolve(['acme/safe'], undefined, {}, false).models.map(({ slug }) => slug),
    ['acme/safe'],
    'not for vectors',
  );
});

// @spec model-8
test("takes everything after the provider of a pass-through slug as the upstream's own name", () => {
  const [model] = resolve(['ollama/llama3.3:70b']).models;
  assert.equal(model?.endpoints[0]?.upstreamModel, 'llama3.3:70b');
  assert.deepEqual(slugs(['ollama/hf.co/x/y:Q4']), ['ollama/hf.co/x/y:Q4']);
});

// @spec error-23, model-7
test('leaves out an unknown fallback, and answers 404 for an unknown model without another, with a near name', () => {
  assert.deepEqual(slugs(['acme/nope', 'acme/one']), ['acme/one']);
  const error = refusal(['acme/oen']);
  assert.equal(error.status, 404);
  assert.match(error.message, /Did you mean "acme\/one"/);
  assert.equal(error.availability?.code, 'model_not_found');
});

// @spec model-17
test('answers 400 for an unknown suffix of a known model and a malformed slug', () => {
  assert.equal(refusal(['acme/one:turbo']).status, 400);
  for (const slug of ['one', '', 'a b/c', '/x', 'acme/', `a/${'x'.repeat(300)}`])
    assert.equal(refusal([slug]).status, 400, slug);
});

// @spec model-12, model-13
test('treats ":free" and ":extended" as models of their own, with 404 where there is none, and ":batch" as 400', () => {
  assert.deepEqual(slugs(['acme/two:extended:nitro']), ['acme/two:extended']);
  for (const slug of ['acme/one:free', 'acme/one:extended', 'acme/one:free:online']) {
    const error = refusal([slug]);
    assert.deepEqual([error.status, error.availability?.code], [404, 'model_not_found'], slug);
  }
  assert.match(refusal(['acme/one:free']).message, /Did you mean "acme\/one"/);
  assert.equal(refusal(['acme/one:batch']).status, 400);
  assert.match(refusal(['acme/one:batch']).message, /batch/);
});

// @spec model-16
test('suffixes that choose among the endpoints are read off, also behind one that is a model of its own', () => {
  for (const suffix of ['nitro', 'floor', 'exacto'] as const) {
    const { models, shortcuts } = resolve([`acme/one:${suffix}`, `acme/two:free:${suffix}`]);
    assert.deepEqual(
      models.map((model) => [model.slug, shortcuts.get(model)]),
      [
        ['acme/one', suffix],
        ['acme/two:free', suffix],
      ],
    );
  }
  assert.equal(resolve(['acme/one:thinking']).wantsReasoning, true);
  assert.deepEqual(slugs(['acme/one:online']), ['acme/one']);
});

test('tells suffixes from names that hold a colon', () => {
  const reported = (...requested: readonly string[]) => [...variantsOf(requested, 'acme/one:online', catalog)];
  assert.deepEqual(reported('acme/one', 'acme/two:free', 'acme/none:online'), []);
  assert.deepEqual(reported('acme/two:free:online', 'acme/one:nitro:online'), ['online', 'nitro']);
  assert.deepEqual(reported(), ['online'], 'the default model has them too');
});

// @spec model-6
test('tries a model once that is named twice, by its first name', () => {
  const { models, shortcuts } = resolve(['acme/one', 'acme/one:nitro']);
  assert.equal(models.length, 1);
  assert.equal(shortcuts.size, 0);
});

// @spec model-19
test('chooses the sibling of a model that is fast, or that reasons thoroughly, where the request asks for it', () => {
  assert.deepEqual(slugs(['acme/one'], undefined, { serviceTier: 'priority' }), ['acme/one-fast']);
  assert.deepEqual(slugs(['acme/two:free'], undefined, { serviceTier: 'priority' }), ['acme/two:free']);
  assert.deepEqual(slugs(['acme/one'], undefined, { serviceTier: 'default' }), ['acme/one']);
  assert.deepEqual(slugs(['acme/one'], undefined, { reasoning: { mode: 'pro' } }), ['acme/one-pro']);
  assert.deepEqual(slugs(['acme/two:free'], undefined, { reasoning: { mode: 'pro' } }), ['acme/two:free']);
  assert.deepEqual(slugs(['acme/one'], undefined, { reasoning: { mode: 'standard' } }), ['acme/one']);
});

test('uses a fallback where the first model does not exist', () => {
  assert.equal(resolve(['acme/nope', 'acme/one']).isFirstMissing, true);
  assert.equal(resolve(['acme/one', 'acme/nope']).isFirstMissing, false);
});
