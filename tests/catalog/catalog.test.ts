import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { knownModels } from '../../src/catalog/built-in.ts';
import { contentFaults, findCatalogFaults, shapeFaults } from '../../src/catalog/find-faults.ts';
import { loadPriceLibrary } from '../../src/catalog/price-library.ts';
import { ADAPTER_IDS } from '../../src/providers/index.ts';
import { responsesDialectOf } from '../../src/providers/openai/responses-dialect.ts';
import { readCatalogData, readRawCatalog, type CatalogData } from '../../src/catalog/read-data.ts';

const NOW_MS = Date.parse('2026-11-21');
const library = await loadPriceLibrary(NOW_MS);

type Author = CatalogData['authors'][number];
type Entry = Author['models'][number];

/** The catalog with its first model changed. */
function planted(change: (entry: Entry) => Entry): CatalogData {
  const data = readCatalogData();
  const [author, ...others] = data.authors;
  assert.ok(author);
  const [first, ...models] = author.models;
  assert.ok(first);
  return { ...data, authors: [{ ...author, models: [change(first), ...models] }, ...others] };
}

function withEndpoint(change: (endpoint: Entry['endpoints'][number]) => Entry['endpoints'][number]) {
  return planted((entry) => {
    const [endpoint, ...others] = entry.endpoints;
    assert.ok(endpoint);
    return { ...entry, endpoints: [change(endpoint), ...others] };
  });
}

suite("the project's own catalog", () => {
  test('has valid files, a reference for every price and a source for every fact', async () => {
    assert.deepEqual(await findCatalogFaults(NOW_MS, ADAPTER_IDS), []);
  });

  test('has at least 12 authors, 120 models and 20 providers, most endpoints with a price', () => {
    const { authors, providers } = readCatalogData();
    const models = authors.flatMap((author) => author.models);
    assert.ok(authors.length >= 12 && models.length >= 120 && providers.length >= 20);
    const endpoints = models.flatMap((model) => model.endpoints);
    const priced = endpoints.filter(
      ({ price, price_ref: reference }) => price !== undefined || reference !== undefined,
    );
    assert.ok(priced.length > endpoints.length * 0.8);
  });

  // @spec catalog-17
  test("applies a provider's data policy to its endpoints, except those with their own", () => {
    const policyOf = (slug: string, provider: string) => {
      const model = knownModels(readCatalogData(), library).find(({ facts }) => facts.slug === slug);
      return model?.endpoints.find((endpoint) => endpoint.provider === provider)?.facts.dataPolicy;
    };
    assert.deepEqual(policyOf('deepseek/deepseek-v3.2', 'deepinfra'), { training: false, retentionDays: 0 });
    assert.deepEqual(policyOf('google/gemma-4-31b-it', 'deepinfra'), {});
    assert.deepEqual(policyOf('openai/gpt-5.1', 'openai'), { training: false, retentionDays: 30 });
  });

  test("applies a provider's search price to its endpoints, except those with their own", () => {
    const priceOf = (slug: string, provider: string) => {
      const model = knownModels(readCatalogData(), library).find(({ facts }) => facts.slug === slug);
      return model?.endpoints.find((endpoint) => endpoint.provider === provider)?.facts.price?.webSearch;
    };
    // Twice as much as the one whose own price has it.
    assert.equal(priceOf('anthropic/claude-sonnet-4.5', 'anthropic'), 2 * (priceOf('x-ai/grok-4.3', 'xai') ?? 0));
    assert.equal(priceOf('x-ai/grok-4.7', 'bedrock'), undefined);
  });

  test('lists verbosity exactly for the models of OpenAI that its adapter knows to support it', () => {
    const listed = readCatalogData()
      .authors.flatMap((author) => author.models)
      .flatMap(({ endpoints, supported_parameters: parameters }) =>
        endpoints.flatMap(({ provider, model }) =>
          provider === 'openai' && parameters ? [{ model, parameters }] : [],
        ),
      );
    assert.ok(listed.length > 20);
    for (const { model, parameters } of listed)
      assert.equal(parameters.includes('verbosity'), responsesDialectOf(model).textVerbosity === true, model);
  });

  // @spec catalog-22
  test('knows what models that make no text take, and what they cost by their own units', () => {
    const known = new Map(
      knownModels(readCatalogData(), library).map((model) => [model.facts.slug, model.endpoints[0]?.facts]),
    );
    const factsOf = (slug: string): object => known.get(slug) ?? {};
    assert.partialDeepStrictEqual(factsOf('google/veo-3.1'), {
      outputModalities: ['video'],
      video: { durations: [4, 6, 8], defaultDurationS: 8, frames: ['first_frame', 'last_frame'] },
      // Of 1e-12 USD.
      price: { video: { '720p': 400_000_000_000, '1080p': 400_000_000_000, '4k': 600_000_000_000 } },
    });
    assert.partialDeepStrictEqual(factsOf('cohere/rerank-v3.5'), { rerank: { maxDocuments: 10_000 } });
    assert.partialDeepStrictEqual(factsOf('openai/gpt-image-1-mini'), {
      image: { nMax: 10, referencesMax: 16, mask: true },
    });
    assert.partialDeepStrictEqual(factsOf('openai/whisper-1'), {
      transcription: { translates: true, streaming: false },
    });
    assert.partialDeepStrictEqual(factsOf('voyage/voyage-4'), {
      embeddings: { maxInputs: 128, dimensions: { default: 1_024 } },
    });
  });

  test('marks no model as checked by a person', () => {
    const { authors, providers } = readCatalogData();
    assert.ok(authors.every(({ models }) => models.every(({ checked }) => checked === null)));
    assert.ok(providers.every(({ checked }) => checked === null));
  });

  const PLANTED: readonly (readonly [promise: string, data: () => CatalogData, fault: RegExp])[] = [
    [
      'a reference to a row that the library does not have is found',
      () =>
        withEndpoint(({ price: _price, ...endpoint }) => ({
          ...endpoint,
          price_ref: { provider: 'aws', model: 'amazon.nova' },
        })),
      /the price library has no price aws amazon\.nova/,
    ],
    [
      'a price of zero is found',
      () =>
        withEndpoint(({ price_ref: _reference, ...endpoint }) => ({
          ...endpoint,
          price: { prompt: 0, completion: 1, source: 'pi-ai' },
        })),
      /is not a list price/,
    ],
    [
      'a price whose columns are swapped is found',
      () =>
        withEndpoint(({ price_ref: _reference, ...endpoint }) => ({
          ...endpoint,
          price: { prompt: 15, completion: 3, source: 'pi-ai' },
        })),
      /is not a list price/,
    ],
    ['an unknown source is found', () => planted((entry) => ({ ...entry, source: 'hearsay' })), /names no source/],
    [
      'a source of a member that is not there is found',
      () => planted((entry) => ({ ...entry, sources: { distillable: 'pi-ai' } })),
      /sources\.distillable is of nothing/,
    ],
    [
      'an endpoint at a provider without a file is found',
      () => withEndpoint((endpoint) => ({ ...endpoint, provider: 'nobody' })),
      /nobody has no file/,
    ],
    [
      'a model that stands twice is found',
      () => {
        const data = readCatalogData();
        return { ...data, authors: [...data.authors, ...data.authors.slice(0, 1)] };
      },
      /stands twice/,
    ],
    [
      'an older model before a newer one of its family is found',
      () => {
        const data = readCatalogData();
        return { ...data, authors: data.authors.map((author) => ({ ...author, models: author.models.toReversed() })) };
      },
      /is newer than/,
    ],
    [
      'scores of a model that is not there are found',
      () => ({ ...readCatalogData(), scores: { 'acme/none': [] } }),
      /acme\/none: there is no such model/,
    ],
  ];
  for (const [promise, data, fault] of PLANTED)
    test(promise, () => {
      assert.match(contentFaults(data(), library, ADAPTER_IDS).join('\n'), fault);
    });

  test('rejects a file with an unknown field, or with a price without a source', () => {
    const files = new Map(readRawCatalog());
    const file = structuredClone(files.get('authors/x-ai.json')) as { models: Record<string, unknown>[] };
    file.models[0] = { ...file.models[0], contextlength: 1 };
    const endpoints = file.models[1]?.['endpoints'] as Record<string, unknown>[];
    endpoints[0] = { provider: 'xai', model: 'x', price: { prompt: 1, completion: 2 }, source: 'pi-ai' };
    const faults = shapeFaults(files.set('authors/x-ai.json', file)).join('\n');
    assert.match(faults, /x-ai\.json: models\.0: .*contextlength/);
    assert.match(faults, /x-ai\.json: models\.1\.endpoints\.0\.price\.source/);
  });
});
