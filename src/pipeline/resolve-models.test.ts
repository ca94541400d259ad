import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../canonical/gateway-error.ts';
import { createCatalog } from '../catalog/catalog.ts';
import type { Endpoint } from '../catalog/model.ts';
import { resolveModels } from './resolve-models.ts';

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
  ],
  [{ prefix: 'ollama/', endpoint: (name, slug) => endpoint(slug, name) }],
);

const slugs = (asked: readonly string[], defaultModel?: string): string[] =>
  resolveModels(asked, defaultModel, catalog).map(({ slug }) => slug);

function refusal(asked: readonly string[], defaultModel?: string): GatewayError {
  try {
    resolveModels(asked, defaultModel, catalog);
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return error;
  }
  throw new Error('was not refused');
}

test('models are found in order, and a slug with its own suffix is a model like any other', () => {
  assert.deepEqual(slugs(['acme/two:free', 'acme/one']), ['acme/two:free', 'acme/one']);
});

test('without a model the default serves; without a default the request is refused', () => {
  assert.deepEqual(slugs([], 'acme/one'), ['acme/one']);
  assert.equal(refusal([]).status, 400);
});

test("in a pass-through slug everything after the provider is the upstream's own name", () => {
  const [model] = resolveModels(['ollama/llama3.3:70b'], undefined, catalog);
  assert.equal(model?.endpoints[0]?.upstreamModel, 'llama3.3:70b');
  assert.deepEqual(slugs(['ollama/hf.co/x/y:Q4']), ['ollama/hf.co/x/y:Q4']);
});

test('an unknown fallback is left out, an unknown model without any other is 404 and names a near one', () => {
  assert.deepEqual(slugs(['acme/nope', 'acme/one']), ['acme/one']);
  const error = refusal(['acme/oen']);
  assert.equal(error.status, 404);
  assert.match(error.message, /Did you mean "acme\/one"/);
  assert.equal(error.availability?.code, 'model_not_found');
});

test('an unknown suffix of a known model and a malformed slug are 400', () => {
  assert.equal(refusal(['acme/one:turbo']).status, 400);
  for (const slug of ['one', '', 'a b/c', '/x', 'acme/', `a/${'x'.repeat(300)}`])
    assert.equal(refusal([slug]).status, 400, slug);
});
