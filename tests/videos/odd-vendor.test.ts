import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, beforeEach, suite, test } from 'node:test';
import { pino } from 'pino';
import { isPublicOrOwnAddress } from '../../src/lib/net/public-address.ts';
import type { VideoTimes } from '../../src/video-jobs/poll-job.ts';
import { createLog } from '../../src/telemetry/logs.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { bearer, jsonOf, QUICK, textAt, until, waitFor } from '../support/videos/client.ts';
import { CLIP, done, sendJson, startXai, type AnswerCall } from '../support/videos/fake-vendor.ts';

/** Vendors that do what none promises. */
suite('odd vendors of clips', () => {
  const lines: string[] = [];
  let alpha: Awaited<ReturnType<typeof startXai>>;
  let plain: AnswerCall;
  let gateway: RunningGateway;
  before(async () => {
    alpha = await startXai();
    plain = alpha.answer;
    gateway = await start();
  });
  const start = (times: Partial<VideoTimes> = {}): Promise<RunningGateway> =>
    startGateway({
      yaml: `
providers:
  alpha: { adapter: xai, base_url: "${alpha.baseUrl}", api_key: key-alpha }
  runway: { base_url: "${alpha.baseUrl}", api_key: key-runway }
models:
  acme/clip:
    output_modalities: [video]
    endpoints: [{ provider: alpha, model: grok-imagine-video, price: { prompt: 0, completion: 0, video: { "*": 0.1 } } }]
  acme/many:
    output_modalities: [video]
    endpoints: [{ provider: runway, model: gen4.5, price: { prompt: 0, completion: 0, video: { "*": 0.1 } } }]
`,
      log: { ...createLog('silent'), general: pino({ level: 'error' }, { write: (line: string) => lines.push(line) }) },
      videoTimes: { ...QUICK, ...times },
      downloads: { isAllowed: isPublicOrOwnAddress, protocols: ['https:', 'http:'] },
    });
  after(async () => {
    await gateway.close();
    await alpha.close();
  });
  beforeEach(() => {
    lines.length = 0;
    alpha.calls.length = 0;
    alpha.answer = plain;
    alpha.state = (id) => done(alpha, id);
  });

  const begin = async (model = 'acme/clip'): Promise<string> =>
    textAt(await jsonOf(await gateway.post('/videos', { model, prompt: 'x', duration: 5 })), 'id');

  /** Answers calls for clips in its own way. */
  const serveClip = (serve: AnswerCall): void => {
    alpha.answer = (call, response) => (call.path.endsWith('/content') ? serve(call, response) : plain(call, response));
  };

  // @spec video-27
  test('know a clip by its first bytes also where they come one by one', async () => {
    serveClip((_call, response) => {
      const send = async (): Promise<void> => {
        response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': CLIP.length });
        for (let at = 0; at < 12; at++) {
          response.write(CLIP.subarray(at, at + 1));
          await sleep(3);
        }
        response.end(CLIP.subarray(12));
      };
      void send();
    });
    const id = await begin();
    const job = await waitFor(gateway.baseUrl, id);
    assert.equal(job['status'], 'completed', JSON.stringify(job));
    const clip = await fetch(`${gateway.baseUrl}/videos/${id}/content`, { headers: bearer() });
    assert.deepEqual(Buffer.from(await clip.arrayBuffer()), CLIP);
  });

  // @spec video-26
  test('get time for a clip whose storage is down for a while', async () => {
    let fetched = 0;
    serveClip((call, response) => {
      fetched++;
      if (fetched <= 3) sendJson(response, 503, { error: 'slow down' });
      else if (fetched === 4) response.destroy();
      else if (fetched === 5) response.writeHead(200, { 'content-length': 100 }).write('\0', () => response.destroy());
      else plain(call, response);
    });
    const job = await waitFor(gateway.baseUrl, await begin());
    assert.equal(job['status'], 'completed', JSON.stringify(job));
    assert.equal(fetched, 6);
  });

  // @spec video-26
  test('fail a job whose clip stays out of reach, and charge nothing', async (t) => {
    const impatient = await start({ awayMsMax: 60 });
    t.after(() => impatient.close());
    serveClip((_call, response) => sendJson(response, 503, {}));
    const begun = await impatient.post('/videos', { model: 'acme/clip', prompt: 'x', duration: 5 });
    const job = await waitFor(impatient.baseUrl, textAt(await jsonOf(begun), 'id'));
    assert.equal(job['status'], 'failed');
    assert.match(textAt(job, 'error'), /status 503/);
    assert.deepEqual(job['usage'], { cost: 0, is_byok: false });
  });

  // @spec video-26
  test('fail a job whose clip is not there, and charge nothing', async () => {
    serveClip((_call, response) => sendJson(response, 404, {}));
    const job = await waitFor(gateway.baseUrl, await begin());
    assert.equal(job['status'], 'failed');
    assert.deepEqual(job['usage'], { cost: 0, is_byok: false });
    assert.equal(alpha.calls.filter(({ path }) => path.endsWith('/content')).length, 3);
  });

  // @spec video-27
  test('have 64 clips of a job kept, and no more fetched', async () => {
    alpha.answer = (call, response) => {
      if (call.method === 'POST') return sendJson(response, 200, { id: 't1' });
      if (call.path.endsWith('/tasks/t1')) {
        const output = Array.from({ length: 200 }, (_, at) => `${alpha.baseUrl}/${at}/content`);
        return sendJson(response, 200, { id: 't1', status: 'SUCCEEDED', output });
      }
      response.writeHead(200).end(CLIP.subarray(0, 100));
      return undefined;
    };
    const job = await waitFor(gateway.baseUrl, await begin('acme/many'));
    assert.equal(job['status'], 'completed');
    const { unsigned_urls: urls } = job;
    assert.ok(Array.isArray(urls));
    assert.equal(urls.length, 64);
    assert.equal(alpha.calls.filter(({ path }) => path.endsWith('/content')).length, 64);
  });

  // @spec video-8
  test('have a word that is not known in the log once, and no more than 100 characters of it', async () => {
    alpha.state = () => ({ status: `dreaming ${'x'.repeat(100_000)}` });
    const ids = [await begin(), await begin()];
    await until(() => alpha.count('GET', '/v1/videos/') > 8);
    alpha.state = () => ({ status: 'expired' });
    for (const id of ids) await waitFor(gateway.baseUrl, id);
    assert.equal(lines.length, 1, lines.join('').slice(0, 1_000));
    assert.match(lines[0] ?? '', /dreaming x{91}"/);
  });

  // @spec video-6
  test('are followed by no other after statuses of a proxy that say nothing of the job', async () => {
    for (const status of [520, 524]) {
      alpha.answer = (_call, response) => sendJson(response, status, {});
      const response = await gateway.post('/videos', { model: 'acme/clip', prompt: 'x' });
      assert.match(await response.text(), /may have accepted the job/);
      assert.equal(response.headers.get('x-should-retry'), 'false');
    }
  });
});
