import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { bearer, jsonOf, QUICK, textAt, waitFor } from '../support/videos/client.ts';
import { CLIP, sendJson, startVendor, type FakeVendor, type VendorCall } from '../support/videos/fake-vendor.ts';

const PICTURE = `data:image/png;base64,${Buffer.from('\u0089PNG\r\n\u001a\n0000', 'latin1').toString('base64')}`;
const BASE = '/v1/projects/p-1/locations/us-central1/publishers/google/models/';
const OPERATION = `projects/p-1/locations/us-central1/publishers/google/models/veo-3.1-generate-001/operations/0f8a-1`;
const REFUSED = { code: 3, message: 'The prompt violates our usage guidelines. Responsible AI practices apply.' };

type End = 'inside' | 'bucket' | 'elsewhere' | 'filtered' | 'refused' | 'failed' | 'no-clip';

/**
 * Google Cloud, as its documentation shows it.
 * @source cloud.google.com "Veo on Vertex AI video generation API" (2026-11); google-genai 2.32, `GenerateVideosOperation`
 */
class FakeVertex {
  end: End = 'inside';
  clip: Uint8Array = CLIP;
  looksLeft = 1;
  /** Objects of buckets that were read, with their credential. */
  readonly objects: (readonly [string, string | undefined])[] = [];

  answer = (call: VendorCall, response: ServerResponse): void => {
    const { method, path, headers } = call;
    if (path.startsWith('/storage/v1/b/')) {
      this.objects.push([path, headers.authorization?.split(' ')[0]]);
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': CLIP.length }).end(CLIP);
      return undefined;
    }
    if (headers.authorization?.startsWith('Bearer ey') !== true) return error(response, 401, 'no token');
    if (method !== 'POST') return error(response, 404, 'Not Found');
    if (path.endsWith(':predictLongRunning')) return this.#submit(call, response);
    if (path !== `${BASE}veo-3.1-generate-001:fetchPredictOperation` || call.body['operationName'] !== OPERATION)
      return error(response, 400, 'Invalid operation name.');
    if (this.looksLeft-- > 0) return sendJson(response, 200, { name: OPERATION });
    return this.#end(response);
  };

  /** It refuses parameters that it does not know, and models with sound want theirs. */
  #submit({ body }: VendorCall, response: ServerResponse): void {
    const { parameters, instances } = body;
    const known = new Set(
      'sampleCount aspectRatio resolution durationSeconds seed generateAudio storageUri negativePrompt'.split(' '),
    );
    if (!isJsonObject(parameters) || !Array.isArray(instances)) return error(response, 400, 'instances are required');
    const odd = Object.keys(parameters).find((name) => !known.has(name));
    if (odd !== undefined) return error(response, 400, `Unknown parameter ${odd}`);
    const { generateAudio, resolution } = parameters;
    if (typeof generateAudio !== 'boolean') return error(response, 400, 'generateAudio is required');
    if (resolution !== undefined && !['720p', '1080p', '4k'].includes(textOf(resolution)))
      return error(response, 400, 'Unsupported resolution');
    return sendJson(response, 200, { name: OPERATION });
  }

  #end(response: ServerResponse): void {
    const base64 = Buffer.from(this.clip).toString('base64');
    const uri = this.end === 'bucket' ? 'gs://clips-1/veo/12/sample_0.mp4' : 'gs://other/12/sample_0.mp4';
    const made: Readonly<Record<End, JsonObject>> = {
      inside: { response: { videos: [{ bytesBase64Encoded: base64, mimeType: 'video/mp4' }] } },
      'no-clip': { response: { videos: [{ bytesBase64Encoded: 'PGh0bWw+PGh0bWw+', mimeType: 'video/mp4' }] } },
      bucket: { response: { videos: [{ gcsUri: uri, mimeType: 'video/mp4' }] } },
      elsewhere: { response: { videos: [{ gcsUri: uri, mimeType: 'video/mp4' }] } },
      filtered: { response: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['Filtered: 58061214'] } },
      refused: { error: REFUSED },
      failed: { error: { code: 13, message: 'Internal error.' } },
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ name: OPERATION, done: true, ...made[this.end] }, undefined, 2));
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function error(response: ServerResponse, code: number, message: string): void {
  return sendJson(response, code, { error: { code, message, status: 'INVALID_ARGUMENT' } });
}

suite('clips of Veo at Google Cloud', () => {
  const vertex = new FakeVertex();
  let upstream: FakeVendor;
  let gateway: RunningGateway;
  let proxying: RunningGateway;
  before(async () => {
    upstream = await startVendor(vertex.answer);
    const { origin } = new URL(upstream.baseUrl);
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const credentials = JSON.stringify({
      type: 'service_account',
      client_email: 'a@p-1.iam.gserviceaccount.com',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      private_key_id: '1',
    });
    const options = `project: p-1, location: us-central1, credentials: ${JSON.stringify(credentials)}`;
    const price = 'price: { prompt: 0, completion: 0, video: { 720p: 0.4, 720p_silent: 0.2, 4k: 0.6 } }';
    const facts = 'video: { resolutions: [720p, 4K], default_resolution: 720p, default_duration_s: 8 }';
    const model = (slug: string, provider: string, name: string): string =>
      `${slug}: { output_modalities: [video], endpoints: [{ provider: ${provider}, model: ${name}, ${price}, ${facts} }] }`;
    const yaml = (assets: string): string => `
videos: { assets: ${assets} }
providers:
  inside: { adapter: google-vertex, base_url: "${origin}", options: { ${options} } }
  bucket: { adapter: google-vertex, base_url: "${origin}", options: { ${options}, clip_bucket: "gs://clips-1/veo", storage_base_url: "${origin}" } }
models:
  ${model('a/veo', 'inside', 'veo-3.1-generate-001')}
  ${model('a/kept', 'bucket', 'veo-3.1-generate-001')}
  ${model('a/silent', 'inside', 'veo-2.0-generate-001')}
`;
    gateway = await startGateway({ yaml: yaml('store'), videoTimes: QUICK });
    proxying = await startGateway({ yaml: yaml('proxy'), videoTimes: QUICK });
  });
  after(() => Promise.all([gateway.close(), proxying.close(), upstream.close()]));

  const begin = (end: End, model: string, body: JsonObject = {}, at = gateway): Promise<Response> => {
    upstream.calls.length = 0;
    Object.assign(vertex, { end, looksLeft: 1, clip: CLIP });
    vertex.objects.length = 0;
    return at.post('/videos', { model, prompt: 'a cat', ...body });
  };
  const finish = async (response: Response, at = gateway): Promise<JsonObject> => {
    assert.equal(response.status, 202, await response.clone().text());
    return waitFor(at.baseUrl, textAt(await jsonOf(response), 'id'));
  };
  const costOf = ({ usage }: JsonObject): unknown => isJsonObject(usage) && usage['cost'];
  const contentOf = async ({ id }: JsonObject, at = gateway): Promise<Buffer> => {
    const content = await fetch(`${at.baseUrl}/videos/${textOf(id)}/content`, { headers: bearer() });
    assert.equal(content.status, 200, content.ok ? '' : await content.text());
    return Buffer.from(await content.arrayBuffer());
  };

  // @spec video-24
  test('are requested in its words, looked at by a POST, taken out of the answer and charged by the second', async () => {
    const job = await finish(
      await begin('inside', 'a/veo', {
        duration: 8,
        resolution: '4K',
        aspect_ratio: '9:16',
        seed: 7,
        frame_images: [{ type: 'image_url', image_url: { url: PICTURE }, frame_type: 'first_frame' }],
        provider: { options: { inside: { negativePrompt: 'dogs' } } },
      }),
    );
    assert.deepEqual([job['status'], costOf(job)], ['completed', 4.8], JSON.stringify(job));
    assert.deepEqual(await contentOf(job), CLIP);
    const [submitted] = upstream.calls;
    assert.equal(submitted?.path, `${BASE}veo-3.1-generate-001:predictLongRunning`);
    assert.deepEqual(submitted.body, {
      instances: [
        { prompt: 'a cat', image: { bytesBase64Encoded: PICTURE.split(',')[1] ?? '', mimeType: 'image/png' } },
      ],
      parameters: {
        sampleCount: 1,
        aspectRatio: '9:16',
        resolution: '4k',
        durationSeconds: 8,
        seed: 7,
        generateAudio: true,
        negativePrompt: 'dogs',
      },
    });
  });

  // @spec video-24
  test('without sound have the price of that', async () => {
    const job = await finish(await begin('inside', 'a/veo', { duration: 4, generate_audio: false }));
    assert.deepEqual([job['status'], costOf(job)], ['completed', 0.8]);
    const response = await begin('inside', 'a/silent', { generate_audio: true });
    const text = await response.text();
    assert.ok(response.status === 400 && text.includes('"path":"generate_audio"'), text);
    assert.equal(upstream.calls.length, 0);
  });

  // @spec video-24
  test('are read from the bucket of the operator with its credential, and from no other', async () => {
    const job = await finish(await begin('bucket', 'a/kept', { duration: 4 }));
    assert.equal(job['status'], 'completed', JSON.stringify(job));
    assert.deepEqual(upstream.calls[0]?.body['parameters'], {
      sampleCount: 1,
      durationSeconds: 4,
      generateAudio: true,
      storageUri: 'gs://clips-1/veo/',
    });
    assert.deepEqual(vertex.objects, [['/storage/v1/b/clips-1/o/veo%2F12%2Fsample_0.mp4?alt=media', 'Bearer']]);
    for (const model of ['a/kept', 'a/veo']) {
      const stranger = await finish(await begin('elsewhere', model));
      assert.deepEqual([stranger['status'], costOf(stranger), vertex.objects.length], ['failed', 0, 0]);
    }
  });

  // @spec video-24
  test('end as failed and free where they are filtered, refused, fail, or are none', async () => {
    for (const [end, words] of [
      ['filtered', /refused/],
      ['refused', /refused/],
      ['failed', /Internal error/],
      ['no-clip', /no clip/],
    ] as const) {
      const job = await finish(await begin(end, 'a/veo'));
      assert.deepEqual([job['status'], costOf(job)], ['failed', 0], JSON.stringify(job));
      assert.match(textAt(job, 'error'), words);
    }
  });

  // @spec video-24
  test('that stand in an answer are kept although others are not, and may be large', async () => {
    const response = begin('inside', 'a/veo', {}, proxying);
    vertex.clip = Buffer.concat([CLIP, Buffer.alloc(24_000_000, 7)]);
    const job = await finish(await response, proxying);
    assert.equal(job['status'], 'completed', JSON.stringify(job));
    const looks = upstream.calls.length;
    const content = await contentOf(job, proxying);
    assert.equal(content.length, CLIP.length + 24_000_000);
    assert.equal(upstream.calls.length, looks);
  });

  // @spec video-24
  test('cannot be cancelled, and name no bucket of a caller', async () => {
    vertex.looksLeft = Number.MAX_SAFE_INTEGER;
    const response = await begin('inside', 'a/veo');
    vertex.looksLeft = Number.MAX_SAFE_INTEGER;
    const id = textAt(await jsonOf(response), 'id');
    const cancelled = await fetch(`${gateway.baseUrl}/videos/${id}`, { method: 'DELETE', headers: bearer() });
    assert.equal(cancelled.status, 409);
    const named = await begin('inside', 'a/veo', { provider: { options: { inside: { storageUri: 'gs://mine/' } } } });
    assert.equal(named.status, 400);
  });
});
