import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { bearer, getJob, jsonOf, QUICK, textAt, waitFor } from '../support/videos/client.ts';

suite('clips of the sandbox', () => {
  let gateway: RunningGateway;
  before(async () => {
    gateway = await startGateway({ videoTimes: QUICK });
  });
  after(() => gateway.close());

  const begin = async (body: object): Promise<string> => {
    const response = await gateway.post('/videos', body);
    assert.equal(response.status, 202, await response.clone().text());
    return textAt(await jsonOf(response), 'id');
  };

  // @spec video-1, video-19
  test('turns a request into a job, and the job into a clip that can be fetched in parts', async () => {
    const response = await gateway.post('/videos', { model: 'sandbox/video', prompt: 'a cat ms=60', duration: 3 });
    assert.equal(response.status, 202);
    const begun = await jsonOf(response);
    const id = textAt(begun, 'id');
    assert.match(id, /^vid_/);
    assert.equal(begun['status'], 'pending');
    assert.equal(begun['polling_url'], `${gateway.baseUrl}/videos/${id}`);
    assert.equal(response.headers.get('x-generation-id'), begun['generation_id']);
    const job = await waitFor(gateway.baseUrl, id);
    assert.equal(job['status'], 'completed', JSON.stringify(job));
    assert.deepEqual(job['usage'], { cost: 0, is_byok: false });
    assert.equal(job['duration'], 3);
    const [url] = Array.isArray(job['unsigned_urls']) ? job['unsigned_urls'] : [];
    assert.ok(typeof url === 'string');
    assert.equal(url, `${gateway.baseUrl}/videos/${id}/content?index=0`);
    const whole = await fetch(url, { headers: bearer() });
    assert.equal(whole.status, 200);
    assert.equal(whole.headers.get('content-type'), 'video/mp4');
    assert.equal(whole.headers.get('content-disposition'), `attachment; filename="${id}-0.mp4"`);
    assert.equal(whole.headers.get('x-content-type-options'), 'nosniff');
    const bytes = Buffer.from(await whole.arrayBuffer());
    assert.equal(bytes.toString('latin1', 4, 12), 'ftypisom');
    assert.ok(bytes.includes('a cat ms=60'));
    const part = await fetch(url, { headers: { ...bearer(), range: 'bytes=4-11' } });
    assert.equal(part.status, 206);
    assert.equal(part.headers.get('content-range'), `bytes 4-11/${bytes.length}`);
    assert.equal(await part.text(), 'ftypisom');
    const head = await fetch(url, { method: 'HEAD', headers: bearer() });
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(bytes.length)]);
  });

  test('records the job as a generation', async () => {
    const id = await begin({ model: 'sandbox/video', prompt: 'ms=10', duration: 2 });
    const job = await waitFor(gateway.baseUrl, id);
    const response = await fetch(`${gateway.baseUrl}/generation?id=${textAt(job, 'generation_id')}`, {
      headers: bearer(),
    });
    assert.equal(response.status, 200);
    const { data } = await jsonOf(response);
    assert.partialDeepStrictEqual(data, {
      api_type: 'video',
      model: 'sandbox/video',
      provider_name: 'Sandbox',
      video_ms: 2_000,
      num_media_completion: 1,
      total_cost: 0,
    });
  });

  test('ends jobs that fail, are refused, or whose clip is gone, with a sentence', async () => {
    for (const [model, sentence] of [
      ['video-fail', /could not make the clip.*failed on purpose/],
      ['video-moderated', /refused the request/],
      ['video-gone', /status 404 for the clip/],
    ] as const) {
      const job = await waitFor(gateway.baseUrl, await begin({ model: `sandbox/${model}`, prompt: 'ms=1' }));
      assert.equal(job['status'], 'failed');
      assert.match(textAt(job, 'error'), sentence);
      assert.deepEqual(job['usage'], { cost: 0, is_byok: false });
    }
  });

  // @spec video-12
  test('cancels a job that runs, and removes one that is over', async () => {
    const id = await begin({ model: 'sandbox/video-stall', prompt: 'ms=1' });
    const remove = () => fetch(`${gateway.baseUrl}/videos/${id}`, { method: 'DELETE', headers: bearer() });
    await waitFor(gateway.baseUrl, id, ({ status }) => status === 'in_progress');
    const cancelled = await remove();
    assert.deepEqual([cancelled.status, (await jsonOf(cancelled))['status']], [200, 'cancelled']);
    assert.equal((await getJob(gateway.baseUrl, id))['status'], 'cancelled');
    assert.deepEqual(await jsonOf(await remove()), { id, deleted: true });
    assert.equal((await remove()).status, 404);
  });

  test('lists jobs, the newest first, in pages', async () => {
    const ids = [
      await begin({ model: 'sandbox/video', prompt: 'ms=1' }),
      await begin({ model: 'sandbox/video', prompt: 'ms=1' }),
    ];
    const list = async (query: string) =>
      jsonOf(await fetch(`${gateway.baseUrl}/videos?${query}`, { headers: bearer() }));
    const first = await list('limit=1');
    assert.deepEqual([first['first_id'], first['has_more']], [ids[1], true]);
    const second = await list(`limit=1&after=${ids[1]}`);
    assert.equal(second['first_id'], ids[0]);
  });

  // @spec video-20
  test("answers a request of OpenAI's client in the shape of that client", async () => {
    const response = await gateway.post('/videos', {
      model: 'sandbox/video',
      prompt: 'ms=1',
      seconds: '2',
      size: '1280x720',
    });
    assert.equal(response.status, 200);
    const begun = await jsonOf(response);
    assert.partialDeepStrictEqual(begun, {
      object: 'video',
      status: 'queued',
      seconds: '2',
      size: '1280x720',
      error: null,
    });
    const job = await waitFor(gateway.baseUrl, textAt(begun, 'id'));
    assert.partialDeepStrictEqual(job, {
      object: 'video',
      status: 'completed',
      progress: 100,
      prompt: 'ms=1',
      seconds: '2',
    });
  });

  test('lists the models that make clips', async () => {
    const response = await fetch(`${gateway.baseUrl}/videos/models`);
    const { data } = await jsonOf(response);
    assert.ok(Array.isArray(data));
    const model = data.find((one) => JSON.stringify(one).includes('"sandbox/video"'));
    assert.partialDeepStrictEqual(model, { supported_resolutions: ['480p', '720p', '1080p'], seed: false });
  });

  // @spec video-1, video-3, video-4
  test('refuses what is wrong with the path of it', async () => {
    for (const [body, path] of [
      [{ prompt: 'x' }, 'model'],
      [{ model: 'sandbox/video' }, 'prompt'],
      [{ model: 'sandbox/video', prompt: '' }, 'prompt'],
      [{ model: 'sandbox/video', prompt: 'x', duration: 0 }, 'duration'],
      [{ model: 'sandbox/video', prompt: 'x', duration: 61 }, 'duration'],
      [{ model: 'sandbox/video', prompt: 'x', resolution: '4K' }, 'resolution'],
      [{ model: 'sandbox/video', prompt: 'x', size: '1280x720', resolution: '720p' }, 'size'],
      [{ model: 'sandbox/video', prompt: 'x', size: 'large' }, 'size'],
      [{ model: 'sandbox/video', prompt: 'x', seed: 7 }, 'seed'],
      [{ model: 'sandbox/video', prompt: 'x', generate_audio: true }, 'generate_audio'],
      [{ model: 'sandbox/video', prompt: 'x', models: ['sandbox/echo'] }, 'models'],
      [{ model: 'sandbox/video', prompt: 'x', previous_job_id: 'vid_1' }, 'previous_job_id'],
      [{ model: 'sandbox/video', prompt: 'x', callback_url: 'http://127.0.0.1/' }, 'callback_url'],
      [{ model: 'sandbox/video', prompt: 'x', callback_url: 'https://127.0.0.1/' }, 'callback_url'],
      [{ model: 'sandbox/video', prompt: 'x', callback_url: 'nowhere' }, 'callback_url'],
      [{ model: 'sandbox/video', prompt: 'x', provider: { zdr: true } }, 'provider.zdr'],
      [
        { model: 'sandbox/video', prompt: 'x', provider: { options: { sandbox: { model: 'y' } } } },
        'provider.options.sandbox.model',
      ],
      [
        {
          model: 'sandbox/video',
          prompt: 'x',
          frame_images: [{ type: 'image_url', image_url: { url: 'ftp://x' }, frame_type: 'first_frame' }],
        },
        'frame_images[0].image_url.url',
      ],
      [
        {
          model: 'sandbox/video',
          prompt: 'x',
          frame_images: [
            { type: 'image_url', image_url: { url: 'https://127.0.0.1/x.png' }, frame_type: 'first_frame' },
          ],
        },
        'frame_images[0].image_url.url',
      ],
      [
        {
          model: 'sandbox/video',
          prompt: 'x',
          input_references: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } }],
        },
        'input_references[0].image_url.url',
      ],
      [{ model: 'sandbox/echo', prompt: 'x' }, 'model'],
      [{ model: 'sandbox/video', prompt: 'x', seconds: 'long' }, 'seconds'],
    ] as const) {
      const response = await gateway.post('/videos', body);
      const text = await response.text();
      assert.equal(response.status, 400, `${JSON.stringify(body)}: ${text}`);
      assert.ok(text.includes(`"path":"${path}"`), `${JSON.stringify(body)}: ${text}`);
    }
  });

  // @spec video-19
  test('knows no job that is not there, and no clip of one that runs', async () => {
    const wrong = async (path: string, method = 'GET') =>
      (await fetch(`${gateway.baseUrl}/videos/${path}`, { method, headers: bearer() })).status;
    assert.deepEqual(
      [await wrong('vid_nothing'), await wrong('vid_nothing/content'), await wrong('vid_nothing', 'DELETE')],
      [404, 404, 404],
    );
    const id = await begin({ model: 'sandbox/video-stall', prompt: 'ms=1' });
    assert.equal(await wrong(`${id}/content`), 400);
    assert.equal((await fetch(`${gateway.baseUrl}/videos/${id}`)).status, 401);
  });
});

// @spec video-21
test('lets a key have a hundred open jobs, and another key as many', async (t) => {
  // Looks are as seldom as they are by default.
  const gateway = await startGateway({});
  t.after(() => gateway.close());
  const keyOf = async (name: string): Promise<string> => {
    const made = await gateway.post('/keys', { name }, bearer(MANAGEMENT_KEY));
    return textAt(await jsonOf(made), 'key');
  };
  const [first, second] = [await keyOf('one'), await keyOf('two')];
  const stall = (key: string): Promise<Response> =>
    gateway.post('/videos', { model: 'sandbox/video-stall', prompt: 'x', duration: 1 }, bearer(key));
  for (let begun = 0; begun < 100; begun += 10) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => stall(first)));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
  }
  const over = await stall(first);
  assert.equal(over.status, 429);
  assert.ok(Number(over.headers.get('retry-after')) > 0);
  assert.equal((await stall(second)).status, 202);
});
