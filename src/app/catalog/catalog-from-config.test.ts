import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { catalogFromConfig } from './catalog-from-config.ts';
import type { KnownModel } from '../../catalog/built-in.ts';
import { priceTableOf } from '../../catalog/price.ts';
import { loadConfig } from '../../config/load-config.ts';
import { providersFromConfig } from '../providers/providers-from-config.ts';
import { sandboxModels } from '../../sandbox/models.ts';

const KNOWN: readonly KnownModel[] = [
  {
    facts: {
      slug: 'openai/gpt-9',
      name: 'GPT-9',
      family: 'gpt',
      contextTokensMax: 400_000,
      scores: [{ metric: 'livebench/coding', score: 0.8 }],
    },
    endpoints: [
      {
        provider: 'openai',
        upstreamModel: 'gpt-9-2026',
        facts: {
          price: priceTableOf({ prompt: 2, completion: 8 }),
          contextTokensMax: 400_000,
          supportedParameters: new Set(['tools', 'top_k']),
        },
      },
      { provider: 'groq', upstreamModel: 'openai/gpt-9', facts: { price: priceTableOf({ prompt: 1, completion: 4 }) } },
    ],
  },
  { facts: { slug: 'qwen/next', name: 'Next' }, endpoints: [{ provider: 'groq', upstreamModel: 'next', facts: {} }] },
];

function catalogOf(yaml: string, env: Readonly<Record<string, string>> = {}) {
  const config = loadConfig({ argv: ['--config', 'x.yaml'], env, readFile: () => yaml });
  const providers = providersFromConfig(config, env, 'http://127.0.0.1:1/v1');
  return catalogFromConfig(config, providers, sandboxModels(), KNOWN);
}

const OPENAI = { OPENAI_API_KEY: 'x' };
const own = (catalog: ReturnType<typeof catalogOf>) =>
  catalog
    .list()
    .map(({ slug }) => slug)
    .filter((slug) => !slug.startsWith('sandbox/'));

suite('the layers of the catalog', () => {
  test('omits models that no provider serves here', () => {
    const catalog = catalogOf('');
    assert.deepEqual(own(catalog), []);
    assert.equal(catalog.find('openai/gpt-9'), undefined);
    assert.equal(catalog.find('~openai/gpt-latest'), undefined);
  });

  test('enables the models of a provider by its key in the environment, only at that provider', () => {
    const catalog = catalogOf('', OPENAI);
    assert.deepEqual(own(catalog), ['openai/gpt-9']);
    const [endpoint, ...others] = catalog.find('openai/gpt-9')?.endpoints ?? [];
    assert.deepEqual(others, []);
    assert.equal(endpoint?.upstreamModel, 'gpt-9-2026');
    assert.equal(endpoint?.price?.prompt, 2_000_000);
    assert.equal(catalog.find('~openai/gpt-latest')?.slug, 'openai/gpt-9');
  });

  test('lists no parameter that the vendor refuses, whatever other lists say', () => {
    const parameters = catalogOf('', OPENAI).find('openai/gpt-9')?.endpoints[0]?.supportedParameters;
    assert.equal(parameters?.has('tools'), true);
    assert.equal(parameters?.has('top_k'), false);
  });

  test('adds nothing for a provider of the same slug that is another kind of host', () => {
    const yaml = 'providers: { openai: { adapter: openai-compatible, base_url: "http://127.0.0.1:9/v1", api_key: k } }';
    assert.deepEqual(own(catalogOf(yaml)), []);
  });

  test("prefers the operator's facts field by field, and keeps the others", () => {
    const yaml = `
models:
  openai/gpt-9:
    context_length: 1000
    scores: { coding: 0.5 }
    endpoints:
      - { provider: openai, model: gpt-9-2026, price: { prompt: 1, completion: 1 } }
      - { provider: groq, model: openai/gpt-9 }
`;
    const model = catalogOf(yaml, { ...OPENAI, GROQ_API_KEY: 'y' }).find('openai/gpt-9');
    assert.equal(model?.name, 'GPT-9');
    assert.equal(model?.family, 'gpt');
    assert.equal(model?.contextTokensMax, 1_000);
    assert.deepEqual(model?.scores, [
      { metric: 'coding', score: 0.5 },
      { metric: 'livebench/coding', score: 0.8 },
    ]);
    assert.deepEqual(
      model?.endpoints.map(({ price, contextTokensMax }) => [price?.prompt, contextTokensMax]),
      [
        [1_000_000, 1_000],
        [1_000_000, 1_000],
      ],
    );
  });

  test("replaces the catalog's list of endpoints by the operator's", () => {
    const yaml = 'models: { openai/gpt-9: { endpoints: [{ provider: openai, model: other }] } }';
    const endpoints = catalogOf(yaml, { ...OPENAI, GROQ_API_KEY: 'y' }).find('openai/gpt-9')?.endpoints;
    assert.deepEqual(
      endpoints?.map(({ upstreamModel, price }) => [upstreamModel, price]),
      [['other', undefined]],
    );
  });

  test('passes through a known upstream name at its price, another one at an unknown price', () => {
    const catalog = catalogOf('', OPENAI);
    assert.equal(catalog.find('openai/gpt-9-2026')?.endpoints[0]?.price?.prompt, 2_000_000);
    assert.equal(catalog.find('openai/gpt-10')?.endpoints[0]?.price, undefined);
    assert.deepEqual(catalog.find('sandbox/error-418')?.endpoints[0]?.price, { prompt: 0, completion: 0 });
  });
});

suite('endpoints of a tier, and what an operator says of endpoints', () => {
  const YAML = `
providers: { openai: { api_key: k, data_policy: { training: false } } }
models:
  openai/gpt-9:
    distillable: true
    endpoints:
      - { provider: openai, model: gpt-9-2026, tag: openai/eu, data_policy: { retention_days: 0 } }
      - { provider: openai, model: gpt-9-2026, service_tier: flex }
      - { provider: openai, model: gpt-9-2026, service_tier: priority, price: { prompt: 4, completion: 16 } }
`;
  const [standard, flex, priority] = catalogOf(YAML).find('openai/gpt-9')?.endpoints ?? [];

  test('have names of their own, and the standard one knows which tiers are not its', () => {
    assert.deepEqual([standard?.tag, flex?.tag, priority?.tag], ['openai/eu', 'openai/flex', 'openai/priority']);
    assert.deepEqual([...(standard?.tiersApart ?? [])], ['flex', 'priority']);
    assert.equal(priority?.tiersApart, undefined);
  });

  test('share the facts of the model, but not the price of the standard one', () => {
    assert.equal(flex?.contextTokensMax, 400_000);
    assert.equal(flex.price, undefined);
    assert.deepEqual(priority?.standardPrice, priceTableOf({ prompt: 2, completion: 8 }));
    assert.deepEqual(standard?.price, priceTableOf({ prompt: 2, completion: 8 }));
  });

  test('take policy and permission member by member from the configuration', () => {
    assert.deepEqual(standard?.dataPolicy, { training: false, retentionDays: 0 });
    assert.deepEqual(flex?.dataPolicy, { training: false });
    assert.ok([standard, flex, priority].every((endpoint) => endpoint?.distillable === true));
  });
});
