import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { QUICK, until } from '../support/videos/client.ts';

const PICTURE = Buffer.from('\u0089PNG\r\n\u001a\n0000', 'latin1');

suite("videos of OpenAI's client", () => {
  let gateway: RunningGateway;
  let client: OpenAI;
  before(async () => {
    gateway = await startGateway({ yaml: 'defaults: { video_model: sandbox/video }\n', videoTimes: QUICK });
    client = new OpenAI({ apiKey: API_KEY, baseURL: gateway.baseUrl, maxRetries: 0 });
  });
  after(() => gateway.close());

  // @spec video-20
  test('makes a clip from a form with a picture, lists it, and fetches and removes it', async () => {
    const begun = await client.videos.create({
      prompt: 'a cat ms=20',
      // @ts-expect-error the client knows the vendor's own lengths alone
      seconds: '2',
      size: '1280x720',
      input_reference: await toFile(PICTURE, 'first.png'),
    });
    assert.equal(begun.object, 'video');
    assert.equal(begun.model, 'sandbox/video');
    let video = begun;
    await until(async () => {
      video = await client.videos.retrieve(begun.id);
      return video.status === 'completed';
    });
    assert.partialDeepStrictEqual(video, { seconds: '2', size: '1280x720', progress: 100, error: null });
    const listed: string[] = [];
    for await (const one of client.videos.list({ limit: 1 })) listed.push(one.id);
    assert.ok(listed.includes(begun.id));
    const clip = Buffer.from(await (await client.videos.downloadContent(begun.id)).arrayBuffer());
    assert.equal(clip.toString('latin1', 4, 8), 'ftyp');
    assert.partialDeepStrictEqual(await client.videos.delete(begun.id), { id: begun.id, deleted: true });
    await assert.rejects(client.videos.retrieve(begun.id), { status: 404 });
  });

  test('gets the path of what is wrong', async () => {
    const wrong = client.videos.create({
      model: 'sandbox/video',
      prompt: 'x',
      input_reference: await toFile(Buffer.from('no picture'), 'first.png'),
    });
    await assert.rejects(wrong, { status: 400, param: 'input_reference' });
  });

  test('reads a job that has failed', async () => {
    const begun = await client.videos.create({ model: 'sandbox/video-fail', prompt: 'ms=1' });
    await until(async () => (await client.videos.retrieve(begun.id)).status === 'failed');
    const { error } = await client.videos.retrieve(begun.id);
    assert.equal(error?.code, 'failed');
  });
});
