import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream } from '../support/upstream.ts';

const upstream = await startUpstream(json(200, chatAnswer('well')));
const provider = (name: string, policy: string): string =>
  `  ${name}: { adapter: openai-compatible, name: ${name.toUpperCase()}, base_url: "${upstream.baseUrl}", api_key: upstream-secret-1, data_policy: ${policy} }`;
const gateway = await startGateway({
  yaml: `
providers:
${provider('clean', '{ training: false, retention_days: 0 }')}
${provider('keeps', '{ training: false, retention_days: 30 }')}
${provider('trains', '{ training: true, retention_days: 0 }')}
${provider('unknown', '{}')}
models:
  acme/one:
    endpoints:
      - { provider: clean, model: one, quantization: bf16, price: { prompt: 3, completion: 9 }, supported_parameters: [seed, temperature] }
      - { provider: keeps, model: one, quantization: fp8, price: { prompt: 2, completion: 6 }, supported_parameters: [temperature] }
      - { provider: trains, model: one, price: { prompt: 1, completion: 3 }, supported_parameters: [seed] }
      - { provider: unknown, model: one, supported_parameters: [seed] }
  acme/two:
    endpoints: [{ provider: clean, model: two, price: { prompt: 0.5, completion: 1 } }]
`,
});
after(async () => {
  await gateway.close();
  await upstream.close();
});

interface Stage {
  readonly name: string;
  readonly data: {
    readonly ordering: string;
    readonly excluded?: readonly { readonly provider: string; readonly reason: string }[];
  };
}

interface Answer {
  /** Absent on errors. */
  readonly provider?: string;
  readonly error?: { readonly code: number; readonly availability?: { readonly excluded_by?: readonly string[] } };
  readonly service_metadata: {
    readonly endpoints: { readonly total: number; readonly available: readonly { readonly provider: string }[] };
    readonly pipeline?: readonly Stage[];
  };
}

/** The remaining endpoints, the one that served, and why the others are excluded. */
async function route(
  path: string,
  more: object,
): Promise<{ left: string; served: string; reasons: string; ordering: string; status: number }> {
  const body = { model: 'acme/one', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...more };
  const response = await gateway.post(path, body, { 'x-service-metadata': 'enabled' });
  const { provider: served = '', service_metadata: metadata } = (await response.json()) as Answer;
  const stage = metadata.pipeline?.find(({ name }) => name === 'provider-preferences');
  return {
    status: response.status,
    left: metadata.endpoints.available.map((one) => one.provider).join(' '),
    served,
    reasons: [...new Set(stage?.data.excluded?.map(({ reason }) => reason))].join(' '),
    ordering: stage?.data.ordering ?? 'balanced',
  };
}

const cases: readonly (readonly [prefer: object, left: string, reasons: string])[] = [
  [{ only: ['Keeps', 'trains'] }, 'KEEPS TRAINS', 'allowed_providers'],
  [{ ignore: ['clean', 'KEEPS'] }, 'TRAINS UNKNOWN', 'allowed_providers'],
  [{ data_collection: 'deny' }, 'CLEAN', 'data_policy:training'],
  [{ zdr: true }, 'CLEAN TRAINS', 'data_policy:zdr'],
  [{ zdr: false }, 'CLEAN KEEPS TRAINS UNKNOWN', ''],
  [{ quantizations: ['fp8', 'int4'] }, 'KEEPS', 'quantization'],
  [{ quantizations: ['unknown'] }, 'TRAINS UNKNOWN', 'quantization'],
  [{ max_price: { prompt: '2', completion: 6 } }, 'KEEPS TRAINS', 'max_price'],
  [{ order: ['trains'], allow_fallbacks: false }, 'TRAINS', 'allow_fallbacks'],
  [{ sort: 'price', allow_fallbacks: false }, 'TRAINS', 'allow_fallbacks'],
];

const orders: readonly (readonly [more: object, served: string, ordering: string])[] = [
  [{ provider: { order: ['unknown', 'clean'] } }, 'UNKNOWN', 'order'],
  [{ provider: { sort: 'price' } }, 'TRAINS', 'price'],
  [{ provider: { sort: { by: 'price', partition: 'model' } }, models: ['acme/two'] }, 'TRAINS', 'price'],
  [{ provider: { sort: { by: 'price', partition: 'none' } }, models: ['acme/two'] }, 'CLEAN', 'price'],
  [{ provider: { sort: 'price' }, route: 'sort', models: ['acme/two'] }, 'CLEAN', 'price'],
  [{ provider: { sort: 'price' }, route: 'fallback', models: ['acme/two'] }, 'TRAINS', 'price'],
  [{ provider: { sort: 'throughput' } }, '', 'throughput'],
  [{ provider: { sort: 'latency' } }, '', 'latency'],
  [{ provider: { sort: 'exacto' } }, '', 'exacto'],
  [{ provider: { preferred_min_throughput: 50, preferred_max_latency: { p90: 2 } } }, '', 'balanced'],
  [{ model: 'acme/one:floor' }, 'TRAINS', 'price'],
  [{ model: 'acme/one:nitro' }, '', 'throughput'],
  [{ model: 'acme/one:exacto' }, '', 'exacto'],
  [{ model: 'acme/one:floor', provider: { order: ['clean'] } }, 'CLEAN', 'order'],
];

for (const path of ['/chat/completions', '/messages'])
  suite(`provider, ${path}`, () => {
    for (const [prefer, left, reasons] of cases)
      // @spec route-12
      test(`leaves ${left} for ${JSON.stringify(prefer)}, with the reason in the metadata`, async () => {
        const found = await route(path, { provider: prefer });
        assert.equal(found.status, 200);
        assert.deepEqual([found.left, found.reasons], [left, reasons]);
      });

    for (const [more, served, ordering] of orders)
      test(`${JSON.stringify(more)} is ordered by ${ordering}${served === '' ? '' : `: ${served} serves`}`, async () => {
        const found = await route(path, more);
        assert.equal(found.status, 200);
        assert.equal(found.ordering, ordering);
        if (served !== '') assert.equal(found.served, served);
      });

    // @spec route-8
    test('keeps endpoints that accept all parameters of the request with require_parameters', async () => {
      const found = await route(path, { provider: { require_parameters: true }, top_k: 5 });
      assert.deepEqual([found.status, found.reasons], [404, 'require_parameters']);
    });

    // @spec route-11
    test('keeps only models whose author permits distillation with enforce_distillable_text', async () => {
      const found = await route(path, { provider: { enforce_distillable_text: true } });
      assert.deepEqual([found.status, found.reasons], [404, 'enforce_distillable_text']);
    });

    // @spec request-14, route-1
    test('rejects an unknown field with 400', async () => {
      for (const wrong of [
        { sorted: 'price' },
        { options: {} },
        { sort: { by: 'price', extra: 1 } },
        { quantizations: ['fp9'] },
      ]) {
        const body = { model: 'acme/one', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], provider: wrong };
        assert.equal((await gateway.post(path, body)).status, 400, JSON.stringify(wrong));
      }
    });
  });
