import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { encodePng } from '../../src/sandbox/png.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { formOf, RawUpstream, sendJson } from '../support/upstreams/raw-upstream.ts';

const PICTURE = encodePng({ width: 64, height: 36 }, (x) => [x % 256, 1, 2, 128], []).toString('base64');

const upstream = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await upstream.start();
  const price = '{ prompt: 0, completion: 0, images: [{ billable: output_image, unit: image, cost_usd: 0.03 }] }';
  gateway = await startGateway({
    yaml: `
providers: { stability: { base_url: "${upstream.url}", api_key: sk } }
models:
  a/core: { output_modalities: [image], endpoints: [{ provider: stability, model: stable-image-core, price: ${price} }] }
  a/large: { output_modalities: [image], endpoints: [{ provider: stability, model: sd3.5-large, price: ${price} }] }
`,
  });
});
after(async () => {
  await gateway.close();
  upstream.close();
});

async function makePicture(
  model: string,
  more: JsonObject = {},
): Promise<{ status: number; body: JsonObject; cost: unknown }> {
  upstream.seen.length = 0;
  const response = await gateway.post('/images', { model, prompt: 'a cat', ...more });
  const body = (await response.json()) as JsonObject;
  const found = await fetch(`${gateway.baseUrl}/generation?id=${response.headers.get('x-generation-id') ?? ''}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  const { data } = (await found.json()) as { data?: JsonObject };
  return { status: response.status, body, cost: data?.['total_cost'] };
}

const errorOf = ({ body }: { body: JsonObject }): JsonObject => body['error'] as JsonObject;

describe('pictures of Stability AI', () => {
  // @spec image-15
  test('are requested by a form, at the path of their model, and cost their line', async () => {
    upstream.answer = (_call, response) => sendJson(response, { image: PICTURE, finish_reason: 'SUCCESS', seed: 7 });
    const { body, cost } = await makePicture('a/core', {
      size: '1024x576',
      seed: 7,
      output_format: 'png',
      quality: 'high',
      provider: { options: { stability: { negative_prompt: 'dogs' } } },
    });
    assert.deepEqual(body['data'], [{ b64_json: PICTURE, media_type: 'image/png' }]);
    assert.equal(cost, 0.03);
    const [call] = upstream.seen;
    assert.ok(call !== undefined);
    assert.match(call.path, /\/stable-image\/generate\/core$/);
    assert.deepEqual([call.headers['authorization'], call.headers['accept']], ['Bearer sk', 'application/json']);
    assert.deepEqual(
      [...(await formOf(call)).entries()],
      [
        ['prompt', 'a cat'],
        ['aspect_ratio', '16:9'],
        ['seed', '7'],
        ['output_format', 'png'],
        ['negative_prompt', 'dogs'],
      ],
    );
    await makePicture('a/large');
    assert.match(upstream.seen[0]?.path ?? '', /\/stable-image\/generate\/sd3$/);
    assert.equal((await formOf(upstream.seen[0] ?? assert.fail())).get('model'), 'sd3.5-large');
  });

  // @spec image-15
  test('that are withheld are 400 and free, by either of its words', async () => {
    for (const [status, answer] of [
      [200, { image: PICTURE, finish_reason: 'CONTENT_FILTERED', seed: 1 }],
      [403, { id: 'x', name: 'content_moderation', errors: ['Your request was flagged.'] }],
    ] as const) {
      upstream.answer = (_call, response) => sendJson(response, answer, status);
      const refused = await makePicture('a/core');
      assert.deepEqual([refused.status, errorOf(refused)['type'], refused.cost], [400, 'content_policy_violation', 0]);
    }
  });

  // @spec image-15
  test('are 400 before a call for what it has no word for', async () => {
    for (const [more, path] of [
      [{ aspect_ratio: '1:8' }, 'aspect_ratio'],
      [{ n: 2 }, 'n'],
      [{ resolution: '4K' }, 'resolution'],
    ] as const) {
      const refused = await makePicture('a/core', more);
      assert.deepEqual([refused.status, errorOf(refused)['param'] ?? path], [400, path], JSON.stringify(refused.body));
      assert.equal(upstream.seen.length, 0);
    }
  });
});
