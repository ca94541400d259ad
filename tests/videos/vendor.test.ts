import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, beforeEach, suite, test } from 'node:test';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { isPublicOrOwnAddress } from '../../src/lib/net/public-address.ts';
import { upload } from '../support/files/upload.ts';
import { MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { bearer, getJob, jsonOf, QUICK, textAt, until, waitFor } from '../support/videos/client.ts';
import { CLIP, done, sendJson, startVendor, startXai, type FakeVendor } from '../support/videos/fake-vendor.ts';

const SECRET = 'a-secret-of-at-least-24-characters';
const PNG = Buffer.from('\u0089PNG\r\n\u001a\n0000', 'latin1');
const PICTURE = `data:image/png;base64,${PNG.toString('base64')}`;

/** Each is alpha under a name of its own: a failure keeps the next request from it for a while. */
const FRAGILE = Array.from({ length: 14 }, (_, at) => `fragile-${at}`);

function configOf(alpha: FakeVendor, beta: FakeVendor, google: FakeVendor): string {
  const fragile = FRAGILE;
  return `
observability: { private_destinations: true }
videos: { webhook_secret: ${SECRET} }
files: { workspace_quota_mb: 1 }
providers:
  alpha: { adapter: xai, base_url: "${alpha.baseUrl}", api_key: key-alpha }
  beta: { adapter: xai, base_url: "${beta.baseUrl}", api_key: key-beta }
${fragile.map((slug) => `  ${slug}: { adapter: xai, base_url: "${alpha.baseUrl}", api_key: key-alpha }`).join('\n')}
  google: { base_url: "${google.baseUrl}", api_key: key-google }
models:
  acme/clip:
    output_modalities: [video]
    endpoints:
      - { provider: alpha, model: grok-imagine-video, price: { prompt: 0, completion: 0, video: { 720p: 0.1, "*": 0.5 } } }
${fragile.map((slug) => `  acme/${slug}: { output_modalities: [video], endpoints: [{ provider: ${slug}, model: grok-imagine-video }, { provider: beta, model: grok-imagine-video }] }`).join('\n')}
  acme/veo:
    output_modalities: [video]
    endpoints:
      - { provider: google, model: veo-3.1-generate-preview, price: { prompt: 0, completion: 0, video: { "*": 0.4 } } }
`;
}

suite('clips of vendors', () => {
  let alpha: Awaited<ReturnType<typeof startXai>>;
  let beta: Awaited<ReturnType<typeof startXai>>;
  let google: FakeVendor;
  let caller: FakeVendor;
  let gateway: RunningGateway;
  let plain: FakeVendor['answer'];

  before(async () => {
    [alpha, beta] = [await startXai(), await startXai()];
    plain = alpha.answer;
    google = await startVendor((_call, response) => sendJson(response, 500, {}));
    caller = await startVendor((_call, response) => sendJson(response, 204, {}));
    gateway = await startGateway({
      yaml: configOf(alpha, beta, google),
      videoTimes: QUICK,
      downloads: { isAllowed: isPublicOrOwnAddress, protocols: ['https:', 'http:'] },
    });
  });
  after(() => Promise.all([gateway, alpha, beta, google, caller].map((each) => each.close())));
  beforeEach(() => {
    alpha.answer = plain;
    alpha.state = (id) => done(alpha, id);
    for (const { calls } of [alpha, beta, google, caller]) calls.length = 0;
  });

  let fragile = 0;
  const nextFragile = (): string => `acme/${FRAGILE[fragile++] ?? ''}`;
  const post = (body: object) => gateway.post('/videos', { model: 'acme/clip', prompt: 'a cat', ...body });
  const begin = async (body: object = {}): Promise<string> => {
    const response = await post(body);
    assert.equal(response.status, 202, await response.clone().text());
    return textAt(await jsonOf(response), 'id');
  };
  const listed = async (): Promise<readonly unknown[]> => {
    const { data } = await jsonOf(await fetch(`${gateway.baseUrl}/videos?limit=100`, { headers: bearer() }));
    assert.ok(Array.isArray(data));
    return data.map((job) => (isJsonObject(job) ? job['id'] : undefined));
  };
  const generation = async (id: string): Promise<JsonObject> => {
    const { data } = await jsonOf(await fetch(`${gateway.baseUrl}/generation?id=${id}`, { headers: bearer() }));
    assert.ok(isJsonObject(data));
    return data;
  };

  // @spec video-11
  test('charges the seconds that were made, at the price of what was requested, once', async () => {
    const spentBefore = await spent();
    const id = await begin({ resolution: '720p', duration: 8 });
    alpha.state = (job) => done(alpha, job, 6);
    const job = await waitFor(gateway.baseUrl, id);
    assert.deepEqual(job['usage'], { cost: 0.6, is_byok: false });
    const record = await generation(textAt(job, 'generation_id'));
    assert.partialDeepStrictEqual(record, { total_cost: 0.6, video_ms: 6_000, upstream_id: 'job-1' });
    assert.equal(Math.round((await spent()) * 1_000) - Math.round(spentBefore * 1_000), 600);
  });

  async function spent(): Promise<number> {
    const { data } = await jsonOf(await fetch(`${gateway.baseUrl}/credits`, { headers: bearer(MANAGEMENT_KEY) }));
    assert.ok(isJsonObject(data) && typeof data['total_usage'] === 'number');
    return data['total_usage'];
  }

  // @spec video-6
  test('calls no other provider where one may have accepted the job', async () => {
    for (const answer of [
      (response) => response.destroy(),
      (response) => sendJson(response, 500, { error: 'x' }),
      (response) => sendJson(response, 502, {}),
      (response) => sendJson(response, 504, {}),
      (response) => sendJson(response, 200, { no: 'id' }),
      (response) => response.writeHead(200).end('not json'),
    ] satisfies ((response: Parameters<typeof sendJson>[0]) => unknown)[]) {
      alpha.answer = (_call, response) => {
        answer(response);
      };
      beta.calls.length = 0;
      const listedBefore = await listed();
      const response = await post({ model: nextFragile() });
      assert.equal(response.status, 502);
      assert.equal(response.headers.get('x-should-retry'), 'false');
      const { error } = await jsonOf(response);
      assert.ok(isJsonObject(error));
      assert.match(textAt(error, 'message'), /may have accepted the job/);
      assert.equal(beta.calls.length, 0);
      assert.deepEqual(await listed(), listedBefore);
      const record = await generation(response.headers.get('x-generation-id') ?? '');
      assert.partialDeepStrictEqual(record, { api_type: 'video', total_cost: 0 });
    }
    assert.equal(caller.calls.length, 0);
  });

  // @spec video-5
  test('calls the next provider where one has refused the job', async () => {
    for (const status of [401, 402, 403, 404, 429, 503, 529]) {
      alpha.answer = (_call, response) => sendJson(response, status, { error: { message: 'no' } });
      beta.state = (id) => done(beta, id);
      const job = await waitFor(gateway.baseUrl, await begin({ model: nextFragile() }));
      assert.equal(job['status'], 'completed');
    }
    assert.equal(beta.count('POST', '/v1/videos/generations'), 7);
  });

  test('tells the caller what is wrong with a request that the provider refuses', async () => {
    alpha.answer = (_call, response) => sendJson(response, 400, { error: { message: 'prompt is too odd' } });
    const response = await post({ model: nextFragile() });
    assert.equal(response.status, 400);
    assert.match(await response.text(), /prompt is too odd/);
  });

  // @spec video-8
  test('looks on after answers that are lost, and gives a job up that its provider has lost', async () => {
    const id = await begin();
    let looks = 0;
    alpha.answer = (call, response) => {
      if (++looks <= 4) {
        if (looks === 1) response.destroy();
        else if (looks === 2) sendJson(response, 500, {});
        else if (looks === 3) response.writeHead(200).end('<html>');
        else sendJson(response, 404, {});
        return;
      }
      plain(call, response);
    };
    assert.equal((await waitFor(gateway.baseUrl, id))['status'], 'completed');
    const lost = await begin();
    alpha.answer = (_call, response) => sendJson(response, 404, {});
    const job = await waitFor(gateway.baseUrl, lost);
    assert.equal(job['status'], 'failed');
    assert.match(textAt(job, 'error'), /does not know the job/);
    assert.deepEqual(job['usage'], { cost: 0, is_byok: false });
  });

  test('shows progress, and takes a word that it does not know for none', async () => {
    alpha.state = () => ({ status: 'processing', progress: 40 });
    const id = await begin();
    const job = await waitFor(gateway.baseUrl, id, ({ progress }) => progress === 40);
    assert.equal(job['status'], 'in_progress');
    alpha.state = () => ({ status: 'dreaming-of-sheep' });
    await until(() => alpha.count('GET', '/v1/videos/') > 3);
    assert.equal((await getJob(gateway.baseUrl, id))['status'], 'in_progress');
    alpha.state = () => ({ status: 'expired' });
    assert.equal((await waitFor(gateway.baseUrl, id))['status'], 'expired');
  });

  // @spec video-12
  test('refuses to cancel where the provider cannot, and charges the clip all the same', async () => {
    alpha.state = () => ({ status: 'processing' });
    const id = await begin({ resolution: '720p', duration: 2 });
    const response = await fetch(`${gateway.baseUrl}/videos/${id}`, { method: 'DELETE', headers: bearer() });
    assert.equal(response.status, 409);
    assert.match(await response.text(), /cannot cancel/);
    alpha.state = (job) => done(alpha, job, 2);
    assert.deepEqual((await waitFor(gateway.baseUrl, id))['usage'], { cost: 0.2, is_byok: false });
  });

  // @spec video-16, video-17
  test('reports the end of a job to an address, signed, again after a failure, and never to where that redirects', async () => {
    const statuses = [302, 500, 204];
    caller.answer = (call, response) => {
      const status = statuses[caller.calls.length - 1] ?? 204;
      response.writeHead(status, { location: `${caller.baseUrl}/elsewhere` }).end();
      assert.equal(call.method, 'POST');
    };
    const id = await begin({ callback_url: `${caller.baseUrl}/done?token=1`, resolution: '720p', duration: 1 });
    const job = await waitFor(gateway.baseUrl, id);
    await until(() => caller.calls.length === 3);
    for (const { path, headers, body } of caller.calls) {
      assert.equal(path, '/v1/done?token=1');
      assert.equal(headers['x-service-idempotency-key'], `${id}-completed`);
      const signature = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-service-signature']));
      assert.ok(signature);
      const expected = createHmac('sha256', SECRET)
        .update(`${signature[1]},${JSON.stringify(body)}`)
        .digest('hex');
      assert.equal(signature[2], expected);
      assert.partialDeepStrictEqual(body, {
        type: 'video.generation.completed',
        data: { id, status: 'completed', generation_id: job['generation_id'], model: 'acme/clip', usage: job['usage'] },
      });
    }
    // Nothing more is reported.
    const other = await begin({ callback_url: `${caller.baseUrl}/other` });
    await waitFor(gateway.baseUrl, other);
    await until(() => caller.calls.length === 4);
    assert.equal(caller.count('POST', '/v1/done'), 3);
  });

  test('gives an address up that never takes the report', async () => {
    caller.answer = (_call, response) => sendJson(response, 500, {});
    await waitFor(gateway.baseUrl, await begin({ callback_url: `${caller.baseUrl}/never` }));
    await until(() => caller.calls.length === QUICK.callbackDelaysMs.length);
    await waitFor(gateway.baseUrl, await begin());
    assert.equal(caller.calls.length, QUICK.callbackDelaysMs.length);
  });

  // @spec video-14
  test('stores a clip as far as the quota goes, and fetches it from the provider beyond', async () => {
    for (const id of await listed())
      await fetch(`${gateway.baseUrl}/videos/${String(id)}`, { method: 'DELETE', headers: bearer() });
    const ids: string[] = [];
    for (let number = 0; number < 12; number++) ids.push(await begin());
    for (const id of ids) assert.equal((await waitFor(gateway.baseUrl, id))['status'], 'completed');
    alpha.calls.length = 0;
    for (const id of ids) {
      const clip = await fetch(`${gateway.baseUrl}/videos/${id}/content`, { headers: bearer() });
      assert.equal(clip.status, 200);
      assert.deepEqual(Buffer.from(await clip.arrayBuffer()), CLIP);
    }
    const fetched = alpha.count('GET', '/v1/videos/');
    assert.ok(fetched > 0 && fetched < ids.length, `${fetched} of ${ids.length}`);
    // Another copy of the provider's is gone by now.
    alpha.answer = (_call, response) => sendJson(response, 404, {});
    const statuses = await Promise.all(
      ids.map(async (id) => (await fetch(`${gateway.baseUrl}/videos/${id}/content`, { headers: bearer() })).status),
    );
    assert.deepEqual(
      [...new Set(statuses)].toSorted((one, other) => one - other),
      [200, 502],
    );
    // Room again, with the job.
    for (const id of ids) {
      const removed = await fetch(`${gateway.baseUrl}/videos/${id}`, { method: 'DELETE', headers: bearer() });
      assert.equal(removed.status, 200);
    }
    const { data } = await jsonOf(await fetch(`${gateway.baseUrl}/files`, { headers: bearer() }));
    assert.ok(!JSON.stringify(data).includes(ids[0] ?? '-'));
  });

  test('takes what is no clip for a failure, and shows no address of the provider', async () => {
    alpha.answer = (call, response) => {
      if (call.path.endsWith('/content'))
        response.writeHead(200, { 'content-type': 'video/mp4' }).end('<html>sorry</html>');
      else plain(call, response);
    };
    const job = await waitFor(gateway.baseUrl, await begin());
    assert.equal(job['status'], 'failed');
    assert.match(textAt(job, 'error'), /is no clip/);
    assert.ok(!JSON.stringify(job).includes(alpha.baseUrl));
  });

  // @spec video-15
  test('sends the credential to the provider alone, and to no redirect', async () => {
    const elsewhere = await startVendor((_call, response) => void response.writeHead(200).end(CLIP));
    try {
      alpha.answer = (call, response) => {
        if (call.path.endsWith('/content')) response.writeHead(302, { location: `${elsewhere.baseUrl}/clip` }).end();
        else plain(call, response);
      };
      assert.equal((await waitFor(gateway.baseUrl, await begin()))['status'], 'completed');
      const [first] = alpha.calls.filter(({ path }) => path.endsWith('/content'));
      assert.equal(first?.headers.authorization, 'Bearer key-alpha');
      assert.equal(elsewhere.calls[0]?.headers.authorization, undefined);
    } finally {
      await elsewhere.close();
    }
  });

  // @spec video-4
  test('speaks the form of the xai vendor', async () => {
    await waitFor(
      gateway.baseUrl,
      await begin({
        size: '1280x720',
        duration: 5,
        frame_images: [{ type: 'image_url', image_url: { url: PICTURE }, frame_type: 'first_frame' }],
        provider: { options: { alpha: { style: 'noir' }, beta: { style: 'pop' } } },
      }),
    );
    const [call] = alpha.calls;
    assert.ok(call);
    const { path, headers, body } = call;
    assert.equal(path, '/v1/videos/generations');
    assert.equal(headers.authorization, 'Bearer key-alpha');
    const { user, ...rest } = body;
    assert.ok(typeof user === 'string');
    assert.match(user, /^[0-9a-f]{64}$/);
    assert.deepEqual(rest, {
      model: 'grok-imagine-video',
      prompt: 'a cat',
      duration: 5,
      resolution: '720p',
      aspect_ratio: '16:9',
      image: { url: PICTURE },
      style: 'noir',
    });
  });

  // @spec video-23
  test('takes stored files of the workspace in the place of addresses, and no others', async () => {
    const stored = async (content: string | Uint8Array<ArrayBuffer>): Promise<string> =>
      textAt((await upload(gateway, content, { name: 'a.bin' })).body, 'id');
    const [picture, note] = [await stored(Uint8Array.from(PNG)), await stored('hello')];
    const firstFrame = (fileId: string) => ({
      frame_images: [{ type: 'image_url', image_url: { file_id: fileId }, frame_type: 'first_frame' }],
    });
    const input = (fileId: string) => ({
      input_references: [{ type: 'image_url', image_url: { file_id: fileId } }],
    });
    await begin(firstFrame(picture));
    await begin(input(picture));
    assert.equal((await post({ input_reference: { file_id: picture } })).status, 200);
    assert.deepEqual(
      alpha.calls
        .filter(({ method }) => method === 'POST')
        .map(({ body }) => body['image'] ?? body['reference_images']),
      [{ url: PICTURE }, [{ url: PICTURE }], { url: PICTURE }],
    );
    const wrong: readonly (readonly [object, number, string])[] = [
      [firstFrame(note), 400, 'frame_images[0].image_url.file_id'],
      [input(`file_${'0'.repeat(32)}`), 404, 'input_references[0].image_url.file_id'],
      [input('file-of-another-vendor'), 400, 'input_references[0].image_url.file_id'],
      [{ input_reference: { file_id: 'file-1' } }, 400, 'input_reference.file_id'],
    ];
    for (const [body, status, param] of wrong) {
      const response = await post(body);
      assert.equal(response.status, status);
      assert.partialDeepStrictEqual(await jsonOf(response), { error: { param } });
    }
  });

  test('speaks the form of Veo, and takes an empty list for a refusal', async () => {
    const name = 'models/veo-3.1-generate-preview/operations/abc1';
    let operation: JsonObject = { name, done: false };
    google.answer = (call, response) => {
      if (call.path.endsWith('/clip')) response.writeHead(200).end(CLIP);
      else sendJson(response, 200, call.method === 'POST' ? { name } : operation);
    };
    const body = {
      model: 'acme/veo',
      resolution: '1080p',
      aspect_ratio: '9:16',
      duration: 8,
      seed: 7,
      frame_images: [
        { type: 'image_url', image_url: { url: PICTURE }, frame_type: 'first_frame' },
        { type: 'image_url', image_url: { url: PICTURE }, frame_type: 'last_frame' },
      ],
    };
    const id = await begin(body);
    const picture = { bytesBase64Encoded: PICTURE.split(',')[1], mimeType: 'image/png' };
    const [call] = google.calls;
    assert.ok(call);
    const { path, headers, body: sent } = call;
    assert.equal(path, '/v1/models/veo-3.1-generate-preview:predictLongRunning');
    assert.equal(headers['x-goog-api-key'], 'key-google');
    assert.deepEqual(sent, {
      instances: [{ prompt: 'a cat', image: picture, lastFrame: picture }],
      parameters: { sampleCount: 1, aspectRatio: '9:16', resolution: '1080p', durationSeconds: 8, seed: 7 },
    });
    const response = { generateVideoResponse: { generatedSamples: [{ video: { uri: `${google.baseUrl}/clip` } }] } };
    operation = { name, done: true, response };
    const job = await waitFor(gateway.baseUrl, id);
    assert.deepEqual(job['usage'], { cost: 3.2, is_byok: false });
    assert.equal(google.count('GET', `/v1/${name}`) > 0, true);
    const refused = { generateVideoResponse: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['no people'] } };
    operation = { name, done: true, response: refused };
    const blocked = await waitFor(gateway.baseUrl, await begin(body));
    assert.equal(blocked['status'], 'failed');
    assert.match(textAt(blocked, 'error'), /no people/);
    assert.deepEqual(blocked['usage'], { cost: 0, is_byok: false });
  });
});
