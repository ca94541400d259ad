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
  test('an alias means the newest of its family that somebody can be asked for', () => {
    assert.equal(slugOf('~acme/big-latest'), 'acme/big-2');
    assert.deepEqual(catalog.resolve?.('~acme/big-latest')?.alias, '~acme/big-latest');
    assert.equal(slugOf('~acme/huge-latest'), undefined);
    assert.equal(slugOf('~other/big-latest'), undefined);
  });

  test('an alias of a family that only credentials of callers open means its newest', () => {
    assert.equal(slugOf('~acme/wide-latest'), 'acme/wide-2');
  });

  test('a permanent name means its model', () => {
    assert.equal(slugOf('acme/big-2-20260101'), 'acme/big-2');
  });

  test('variants are told apart from the name, stacked ones in their order, behind aliases too', () => {
    const told = (name: string) => {
      const found = catalog.resolve?.(name);
      return found && [found.model.slug, ...found.variants];
    };
    assert.deepEqual(told('acme/small:nitro'), ['acme/small', 'nitro']);
    assert.deepEqual(told('acme/small:floor:thinking'), ['acme/small', 'floor', 'thinking']);
    assert.deepEqual(told('acme/small:free:online'), ['acme/small:free', 'online']);
    assert.deepEqual(told('~acme/big-latest:exacto'), ['acme/big-2', 'exacto']);
    assert.deepEqual(told('acme/small'), ['acme/small']);
  });

  test('an unknown suffix on a model of the catalog names nothing, though a pass-through would take it', () => {
    assert.equal(catalog.resolve?.('acme/small:turbo'), undefined);
    assert.equal(catalog.resolve?.('acme/big-1:free'), undefined);
    assert.equal(slugOf('acme/small:turbo'), undefined);
  });

  test("in a pass-through slug everything after the provider is the upstream's own name", () => {
    assert.equal(catalog.resolve?.('ollama/llama3.3:70b')?.model.endpoints[0]?.upstreamModel, 'llama3.3:70b');
    assert.equal(catalog.find('ollama/x:nitro')?.endpoints[0]?.upstreamModel, 'x:nitro');
    assert.equal(catalog.find('acme/next')?.endpoints[0]?.upstreamModel, 'next');
  });

  test('the same slug gives the same model, and memory of passed-on names is bounded', () => {
    const first = catalog.find('ollama/one');
    assert.equal(catalog.find('ollama/one'), first);
    for (let count = 0; count < 1_100; count++) catalog.find(`ollama/n${count}`);
    assert.notEqual(catalog.find('ollama/one'), first);
    assert.equal(catalog.list().length, 7);
  });
});
