import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createCatalog, type PassThrough } from './catalog.ts';
import type { Endpoint, Model } from './model.ts';

function endpointOf(model: string, facts: Partial<Endpoint> = {}): Endpoint {
  return {
    model,
    provider: 'alpha',
    providerName: 'Alpha',
    upstreamModel: model,
    price: undefined,
    dataPolicy: {},
    formats: ['chat'],
    cancellable: false,
    ...facts,
  };
}

function modelOf(slug: string, facts: Partial<Model> = {}): Model {
  return { slug, name: slug, endpoints: [endpointOf(slug)], ...facts };
}

const PASS: readonly PassThrough[] = [
  { prefix: 'acme/', endpoint: (name, slug) => endpointOf(slug, { upstreamModel: name }) },
  { prefix: 'ollama/', endpoint: (name, slug) => endpointOf(slug, { upstreamModel: name }) },
];

const catalog = createCatalog(
  [
    modelOf('acme/big-3', {
      family: 'big',
      endpoints: [endpointOf('acme/big-3', { lacksCredentials: true })],
    }),
    modelOf('acme/big-2', { family: 'big', canonicalSlug: 'acme/big-2-20260101' }),
    modelOf('acme/big-1', { family: 'big' }),
    modelOf('acme/wide-2', { family: 'wide', endpoints: [endpointOf('acme/wide-2', { lacksCredentials: true })] }),
    modelOf('acme/wide-1', { family: 'wide', endpoints: [endpointOf('acme/wide-1', { lacksCredentials: true })] }),
    modelOf('acme/small'),
    modelOf('acme/small:free'),
  ],
  PASS,
);
const slugOf = (name: string) => catalog.find(name)?.slug;

suite('the catalog', () => {
  // @spec model-9
  test('resolves an alias to the newest available model of its family', () => {
    assert.equal(slugOf('~acme/big-latest'), 'acme/big-2');
    assert.deepEqual(catalog.resolve?.('~acme/big-latest')?.alias, '~acme/big-latest');
    assert.equal(slugOf('~acme/huge-latest'), undefined);
    assert.equal(slugOf('~other/big-latest'), undefined);
  });

  test('resolves an alias to the newest model of a family that only BYOK enables', () => {
    assert.equal(slugOf('~acme/wide-latest'), 'acme/wide-2');
  });

  // @spec model-10
  test('resolves a permanent name', () => {
    assert.equal(slugOf('acme/big-2-20260101'), 'acme/big-2');
  });

  // @spec model-17
  test('separates variants from the name, stacked ones in their order, after aliases too', () => {
    const reported = (name: string) => {
      const found = catalog.resolve?.(name);
      return found && [found.model.slug, ...found.variants];
    };
    assert.deepEqual(reported('acme/small:nitro'), ['acme/small', 'nitro']);
    assert.deepEqual(reported('acme/small:floor:thinking'), ['acme/small', 'floor', 'thinking']);
    assert.deepEqual(reported('acme/small:free:online'), ['acme/small:free', 'online']);
    assert.deepEqual(reported('~acme/big-latest:exacto'), ['acme/big-2', 'exacto']);
    assert.deepEqual(reported('acme/small'), ['acme/small']);
  });

  test('rejects an unknown suffix of a catalog model, although a pass-through would accept it', () => {
    assert.equal(catalog.resolve?.('acme/small:turbo'), undefined);
    assert.equal(catalog.resolve?.('acme/big-1:free'), undefined);
    assert.equal(slugOf('acme/small:turbo'), undefined);
  });

  // @spec model-8
  test("takes everything after the provider in a pass-through slug as the upstream's own name", () => {
    assert.equal(catalog.resolve?.('ollama/llama3.3:70b')?.model.endpoints[0]?.upstreamModel, 'llama3.3:70b');
    assert.equal(catalog.find('ollama/x:nitro')?.endpoints[0]?.upstreamModel, 'x:nitro');
    assert.equal(catalog.find('acme/next')?.endpoints[0]?.upstreamModel, 'next');
  });

  test('returns the same model for the same slug, and limits the memory of passed-on names', () => {
    const first = catalog.find('ollama/one');
    assert.equal(catalog.find('ollama/one'), first);
    for (let count = 0; count < 1_100; count++) catalog.find(`ollama/n${count}`);
    assert.notEqual(catalog.find('ollama/one'), first);
    assert.equal(catalog.list().length, 7);
  });
});
