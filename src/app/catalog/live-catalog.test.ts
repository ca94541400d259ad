import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../config/config.ts';
import { loadConfig } from '../../config/load-config.ts';
import { createLiveCatalog } from './live-catalog.ts';
import { createProviders } from '../../providers/index.ts';

const timeouts = { connectMs: 1, headersMs: 1, firstTokenMs: 1, idleMs: 1, wholeMs: 1 };
const ENTRY = {
  slug: 'alpha',
  adapter: 'openai-compatible',
  baseUrl: 'http://127.0.0.1:9/v1',
  headers: {},
  timeouts: {},
};

function configOf(yaml: string): Config {
  return loadConfig({ argv: ['--config', 'x.yaml'], env: {}, readFile: () => yaml });
}

function liveOf(yaml: string) {
  const providers = createProviders({ config: [ENTRY], env: {}, timeouts });
  return createLiveCatalog({ config: configOf(yaml), providers, builtIn: [], known: [] });
}

const ONE = 'models: { acme/one: { endpoints: [{ provider: alpha, model: a }] } }';

test('adds and removes models of a reloaded configuration for every holder of the catalog', () => {
  const live = liveOf(ONE);
  const { catalog } = live;
  assert.equal(catalog.find('acme/one')?.endpoints[0]?.upstreamModel, 'a');
  live.configure(configOf('models: { acme/two: { endpoints: [{ provider: alpha, model: b }] } }'));
  assert.equal(catalog.find('acme/one'), undefined);
  assert.equal(catalog.find('acme/two')?.endpoints[0]?.upstreamModel, 'b');
  assert.deepEqual(
    catalog.list().map(({ slug }) => slug),
    ['acme/two'],
  );
});

test('lists a local model for embeddings as such, so that no router chooses it', () => {
  const live = liveOf(ONE);
  live.discovered('alpha', ['nomic-embed-text:latest', 'llama3.3:70b']);
  assert.deepEqual(live.catalog.find('alpha/nomic-embed-text:latest')?.outputModalities, ['embeddings']);
  assert.equal(live.catalog.find('alpha/llama3.3:70b')?.outputModalities, undefined);
});

test('lists models of a local server under their own names, as no public model', () => {
  const live = liveOf(ONE);
  live.discovered('alpha', ['llama3.3:70b', 'a']);
  const slugs = () => live.catalog.list().map(({ slug }) => slug);
  assert.deepEqual(slugs(), ['acme/one', 'alpha/llama3.3:70b', 'alpha/a']);
  assert.equal(live.catalog.find('alpha/llama3.3:70b')?.endpoints[0]?.upstreamModel, 'llama3.3:70b');
  assert.deepEqual(live.catalog.find('alpha/a')?.endpoints[0]?.price, { prompt: 0, completion: 0 });
  live.discovered('alpha', []);
  assert.deepEqual(slugs(), ['acme/one']);
});

test('adds and removes aliases with the models of a reloaded configuration', () => {
  const live = liveOf(`${ONE}\naliases: { first: acme/one }`);
  const { catalog } = live;
  assert.equal(catalog.find('first')?.slug, 'acme/one');
  assert.equal(catalog.resolve?.('first:nitro')?.model.slug, 'acme/one');
  assert.equal(catalog.rename?.('one'), 'one');
  live.configure(configOf(`${ONE}\nresolve_bare_names: true`));
  assert.equal(catalog.find('first'), undefined);
  assert.equal(catalog.rename?.('one'), 'acme/one');
});
