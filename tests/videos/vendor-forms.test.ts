import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { bearer, jsonOf, QUICK, textAt, until, waitFor } from '../support/videos/client.ts';
import {
  FAL_CLIPS,
  REPLICATE_CLIPS,
  RUNWAY_CLIPS,
  serveClips,
  type ClipVendor,
} from '../support/videos/clip-vendors.ts';
import { CLIP, startVendor, type FakeVendor } from '../support/videos/fake-vendor.ts';

const PICTURE = `data:image/png;base64,${Buffer.from('\u0089PNG\r\n\u001a\n0000', 'latin1').toString('base64')}`;

interface Case {
  readonly vendor: ClipVendor;
  readonly request: JsonObject;
  readonly path: string;
  readonly sent: JsonObject;
}

const SETTINGS = {
  duration: 5,
  aspect_ratio: '9:16',
  resolution: '720p',
  seed: 7,
  generate_audio: true,
  frame_images: [{ type: 'image_url', image_url: { url: PICTURE }, frame_type: 'first_frame' }],
} as const satisfies JsonObject;

/** What the gateway is to send for a request with all that the vendor has words for. */
const CASES: Readonly<Record<string, Case>> = {
  fal: {
    vendor: FAL_CLIPS,
    request: { ...SETTINGS, provider: { options: { fal: { cfg_scale: 0.5 } } } },
    path: '/fal-ai/kling-video/v2/master/image-to-video',
    sent: {
      prompt: 'a cat',
      image_url: PICTURE,
      aspect_ratio: '9:16',
      resolution: '720p',
      duration: '5',
      generate_audio: true,
      seed: 7,
      cfg_scale: 0.5,
    },
  },
  replicate: {
    vendor: REPLICATE_CLIPS,
    request: { ...SETTINGS, provider: { options: { replicate: { negative_prompt: 'dogs' } } } },
    path: '/v1/models/kwaivgi/kling-v2.5-turbo-pro/predictions',
    sent: {
      input: {
        prompt: 'a cat',
        start_image: PICTURE,
        aspect_ratio: '9:16',
        resolution: '720p',
        duration: 5,
        generate_audio: true,
        seed: 7,
        negative_prompt: 'dogs',
      },
    },
  },
  runway: {
    vendor: RUNWAY_CLIPS,
    request: SETTINGS,
    path: '/v1/image_to_video',
    sent: {
      model: 'gen4.5',
      promptText: 'a cat',
      promptImage: [{ uri: PICTURE, position: 'first' }],
      ratio: '720:1280',
      duration: 5,
      audio: true,
      seed: 7,
    },
  },
};

suite('clips in the forms of vendors', () => {
  let upstream: FakeVendor;
  let gateway: RunningGateway;
  before(async () => {
    upstream = await startVendor(() => assert.fail('no answer is set'));
    const { origin } = new URL(upstream.baseUrl);
    const price = 'price: { prompt: 0, completion: 0, video: { 720p: 0.1, "*": 0.5 } }';
    const model = (provider: string, name: string): string =>
      `a/${provider}: { output_modalities: [video], endpoints: [{ provider: ${provider}, model: ${name}, ${price} }] }`;
    gateway = await startGateway({
      yaml: `
providers:
  fal: { base_url: "${origin}", api_key: sk }
  replicate: { base_url: "${origin}/v1", api_key: sk }
  runway: { base_url: "${origin}/v1", api_key: sk }
models:
  ${model('fal', 'fal-ai/kling-video/v2/master/image-to-video')}
  ${model('replicate', 'kwaivgi/kling-v2.5-turbo-pro')}
  ${model('runway', 'gen4.5')}
`,
      videoTimes: QUICK,
    });
  });
  after(() => Promise.all([gateway.close(), upstream.close()]));

  const post = (model: string, body: JsonObject = {}) => {
    upstream.calls.length = 0;
    return gateway.post('/videos', { model, prompt: 'a cat', ...body });
  };
  const begin = async (model: string, body: JsonObject = {}): Promise<string> => {
    const response = await post(model, body);
    assert.equal(response.status, 202, await response.clone().text());
    return textAt(await jsonOf(response), 'id');
  };

  for (const [name, { vendor, request, path, sent }] of Object.entries(CASES)) {
    // @spec video-22
    test(`are made by ${name}: requested in its words, looked at, fetched and charged once`, async () => {
      serveClips(upstream, vendor, 'done');
      const id = await begin(`a/${name}`, request);
      const job = await waitFor(gateway.baseUrl, id);
      assert.deepEqual([job['status'], (job['usage'] as JsonObject)['cost']], ['completed', 0.5], JSON.stringify(job));
      const [call] = upstream.calls;
      assert.deepEqual([call?.path, call?.body], [path, sent]);
      const content = await fetch(`${gateway.baseUrl}/videos/${id}/content`, { headers: bearer() });
      assert.deepEqual(Buffer.from(await content.arrayBuffer()), Buffer.from(CLIP));
    });

    // @spec video-22
    test(`end as failed and free where ${name} refuses or fails them`, async () => {
      for (const end of ['refused', 'failed'] as const) {
        serveClips(upstream, vendor, end, 0);
        const job = await waitFor(gateway.baseUrl, await begin(`a/${name}`));
        assert.deepEqual([job['status'], (job['usage'] as JsonObject)['cost']], ['failed', 0]);
        assert.equal(/refused/.test(textAt(job, 'error')), end === 'refused', JSON.stringify(job));
      }
    });

    // @spec video-22
    test(`are cancelled at ${name}`, async () => {
      const state = serveClips(upstream, vendor, 'done', Number.MAX_SAFE_INTEGER);
      const id = await begin(`a/${name}`);
      await until(() => upstream.calls.length > 1);
      const answer = await fetch(`${gateway.baseUrl}/videos/${id}`, { method: 'DELETE', headers: bearer() });
      assert.equal(answer.status, 200, await answer.clone().text());
      assert.deepEqual([(await jsonOf(answer))['status'], state.isCancelled], ['cancelled', true]);
    });
  }

  // @spec video-3
  test('are 400 before a call for what a vendor has no word for', async () => {
    serveClips(upstream, RUNWAY_CLIPS, 'done');
    const last = [{ type: 'image_url', image_url: { url: PICTURE }, frame_type: 'last_frame' }];
    for (const [model, body, path] of [
      ['a/fal', { size: '1280x720' }, 'size'],
      ['a/fal', { frame_images: last }, 'frame_images[0].frame_type'],
      [
        'a/replicate',
        { input_references: [{ type: 'image_url', image_url: { url: PICTURE } }] },
        'input_references[0].type',
      ],
      ['a/runway', { resolution: '1080p', aspect_ratio: '1:1' }, 'aspect_ratio'],
      ['a/runway', { size: '640x480' }, 'size'],
    ] as const) {
      const response = await post(model, body);
      const text = await response.text();
      assert.equal(response.status, 400, text);
      assert.ok(text.includes(`"path":${JSON.stringify(path)}`), text);
      assert.equal(upstream.calls.length, 0);
    }
  });
});
