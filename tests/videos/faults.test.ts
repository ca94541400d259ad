import assert from 'node:assert/strict';
import { after, before, suite, test, type TestContext } from 'node:test';
import { isJsonObject } from '../../src/lib/json.ts';
import { isPublicOrOwnAddress } from '../../src/lib/net/public-address.ts';
import { MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { ENGINES } from '../support/store/engines.ts';
import { bearer, jsonOf, QUICK, textAt, until, waitFor } from '../support/videos/client.ts';
import { CLIP, done, sendJson, startVendor, startXai, type FakeVendor } from '../support/videos/fake-vendor.ts';

function configOf(alpha: FakeVendor, more = ''): string {
  return `
observability: { private_destinations: true }
providers:
  alpha: { adapter: xai, base_url: "${alpha.baseUrl}", api_key: key-alpha }
models:
  acme/clip:
    output_modalities: [video]
    endpoints:
      - { provider: alpha, model: grok-imagine-video, price: { prompt: 0, completion: 0, video: { "*": 0.1 } } }
${more}`;
}

const DOWNLOADS = { isAllowed: isPublicOrOwnAddress, protocols: ['https:', 'http:'] };

suite('limits and time of jobs', () => {
  let alpha: Awaited<ReturnType<typeof startXai>>;
  before(async () => {
    alpha = await startXai();
  });
  after(() => alpha.close());

  const start = async (t: TestContext, more = ''): Promise<RunningGateway> => {
    const gateway = await startGateway({ yaml: configOf(alpha, more), videoTimes: QUICK, downloads: DOWNLOADS });
    t.after(() => gateway.close());
    return gateway;
  };

  // @spec video-19
  test('gives no clip once its time is over, and fetches it no more from the provider', async (t) => {
    for (const assets of ['proxy', 'store']) {
      const gateway = await start(t, `videos: { assets: ${assets}, retention_days: 0.00001 }\n`);
      alpha.state = (id) => done(alpha, id, 1);
      const id = textAt(await jsonOf(await gateway.post('/videos', { model: 'acme/clip', prompt: 'x' })), 'id');
      const job = await waitFor(gateway.baseUrl, id);
      assert.equal(job['status'], 'completed');
      const content = () => fetch(`${gateway.baseUrl}/videos/${id}/content`, { headers: bearer() });
      let clip = await content();
      await until(async () => {
        await clip.body?.cancel();
        clip = await content();
        return clip.status !== 200;
      });
      assert.equal(clip.status, 404);
      assert.match(await clip.text(), /The clip has expired/);
      const fetched = alpha.count('GET', '/v1/videos/');
      assert.equal((await content()).status, 404);
      assert.equal(alpha.count('GET', '/v1/videos/'), fetched);
    }
  });

  // @spec video-10
  test('expires a job that takes too long, and asks its provider to stop', async (t) => {
    const gateway = await start(t, 'videos: { job_hours: 0.00001 }\n');
    alpha.state = () => ({ status: 'pending' });
    const response = await gateway.post('/videos', { model: 'acme/clip', prompt: 'x' });
    const job = await waitFor(gateway.baseUrl, textAt(await jsonOf(response), 'id'));
    assert.equal(job['status'], 'expired');
    assert.deepEqual(job['usage'], { cost: 0, is_byok: false });
    const sandbox = await gateway.post('/videos', { model: 'sandbox/video-stall', prompt: 'ms=1' });
    assert.equal((await waitFor(gateway.baseUrl, textAt(await jsonOf(sandbox), 'id')))['status'], 'expired');
  });

  // @spec video-13
  test('holds what a clip may cost until the job is over, and charges what it did cost', async (t) => {
    const gateway = await start(t);
    const made = await fetch(`${gateway.baseUrl}/keys`, {
      method: 'POST',
      headers: { ...bearer(MANAGEMENT_KEY), 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'limited', limit: 1 }),
    });
    const key = textAt(await jsonOf(made), 'key');
    const post = (duration: number) =>
      gateway.post('/videos', { model: 'acme/clip', prompt: 'x', duration }, bearer(key));
    assert.equal((await post(11)).status, 402);
    alpha.state = () => ({ status: 'pending' });
    const first = textAt(await jsonOf(await post(6)), 'id');
    assert.equal((await post(6)).status, 402);
    alpha.state = (id) => done(alpha, id, 3);
    assert.deepEqual((await waitFor(gateway.baseUrl, first))['usage'], { cost: 0.3, is_byok: false });
    const second = await post(6);
    assert.equal(second.status, 202);
    await waitFor(gateway.baseUrl, textAt(await jsonOf(second), 'id'));
    // A job that fails gives back what was held for it.
    alpha.state = () => ({ status: 'failed', error: { message: 'no' } });
    const third = await post(4);
    assert.equal(third.status, 202);
    await waitFor(gateway.baseUrl, textAt(await jsonOf(third), 'id'));
    assert.equal((await post(4)).status, 202);
  });

  test('looks into prompts, and keeps blocked ones from every provider', async (t) => {
    const gateway = await start(t);
    const manage = (path: string, body: object) =>
      fetch(gateway.baseUrl + path, {
        method: 'POST',
        headers: { ...bearer(MANAGEMENT_KEY), 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const keyMade = await jsonOf(await manage('/keys', { name: 'filtered' }));
    const key = textAt(keyMade, 'key');
    assert.ok(isJsonObject(keyMade['data']));
    const guardrail = await jsonOf(
      await manage('/guardrails', {
        name: 'words',
        content_filters: [
          { pattern: 'forbidden', action: 'block' },
          { pattern: 'secret-\\d+', action: 'redact' },
        ],
      }),
    );
    assert.ok(isJsonObject(guardrail['data']));
    const assigned = await manage(`/guardrails/${textAt(guardrail['data'], 'id')}/assignments/keys`, {
      key_hashes: [textAt(keyMade['data'], 'hash')],
    });
    assert.equal(assigned.status, 200, await assigned.clone().text());
    alpha.calls.length = 0;
    alpha.state = () => ({ status: 'pending' });
    const blocked = await gateway.post('/videos', { model: 'acme/clip', prompt: 'a forbidden cat' }, bearer(key));
    assert.equal(blocked.status, 403, await blocked.clone().text());
    assert.equal(alpha.calls.length, 0);
    const redacted = await gateway.post('/videos', { model: 'acme/clip', prompt: 'cat secret-42' }, bearer(key));
    assert.equal(redacted.status, 202);
    assert.equal(alpha.calls[0]?.body['prompt'], 'cat [REDACTED]');
  });
});

for (const { name, isPostgres, makePlace } of ENGINES.filter(({ isPostgres: is }) => is))
  suite(`two gateways on one database: ${name}`, () => {
    let place: Awaited<ReturnType<typeof makePlace>>;
    before(async () => {
      place = await makePlace();
    });
    after(() => place.remove());

    const start = async (t: TestContext, alpha: FakeVendor, times: object = {}): Promise<RunningGateway> => {
      assert.ok(isPostgres && place.url !== undefined);
      const gateway = await startGateway({
        yaml: configOf(alpha, 'videos: { assets: proxy }\n'),
        env: { DATABASE_URL: place.url, GATEWAY_SECRET: 'one secret for both of the gateways' },
        videoTimes: { ...QUICK, ...times },
        downloads: DOWNLOADS,
      });
      t.after(() => gateway.close());
      return gateway;
    };

    // @spec video-9
    test('share jobs, end each once, and go on with those of one that is gone', async (t) => {
      const alpha = await startXai();
      const caller = await startVendor((_call, response) => sendJson(response, 204, {}));
      t.after(() => Promise.all([alpha.close(), caller.close()]));
      const [one, two] = [await start(t, alpha), await start(t, alpha)];
      const ids: string[] = [];
      for (let number = 0; number < 12; number++) {
        const to = number % 2 === 0 ? one : two;
        const body = { model: 'acme/clip', prompt: 'x', duration: 1, callback_url: `${caller.baseUrl}/${number}` };
        ids.push(textAt(await jsonOf(await to.post('/videos', body)), 'id'));
      }
      await until(() => alpha.count('GET', '/v1/videos/') > 12);
      // The other one goes on alone.
      await one.close();
      alpha.state = (id) => done(alpha, id, 1);
      for (const id of ids) assert.equal((await waitFor(two.baseUrl, id))['status'], 'completed');
      await until(() => caller.calls.length >= 12);
      assert.equal(new Set(caller.calls.map(({ path }) => path)).size, 12);
      assert.equal(caller.calls.length, 12);
      assert.equal(alpha.count('POST', '/v1/videos/generations'), 12);
      const { data } = await jsonOf(await fetch(`${two.baseUrl}/credits`, { headers: bearer(MANAGEMENT_KEY) }));
      assert.ok(isJsonObject(data));
      assert.equal(Math.round(Number(data['total_usage']) * 10), 12);
      const clip = await fetch(`${two.baseUrl}/videos/${ids[0]}/content`, { headers: bearer() });
      assert.deepEqual(Buffer.from(await clip.arrayBuffer()), CLIP);
    });

    // @spec video-7
    test('give a job up whose submission was never heard of again, and say so to its request if that lives', async (t) => {
      const held: (() => void)[] = [];
      const alpha = await startVendor((call, response) => {
        if (call.method === 'POST') held.push(() => sendJson(response, 200, { request_id: 'late' }));
        else sendJson(response, 200, { status: 'pending' });
      });
      t.after(() => alpha.close());
      const [one, two] = [await start(t, alpha, { submitLeaseMs: 30 }), await start(t, alpha)];
      const begun = one.post('/videos', { model: 'acme/clip', prompt: 'x' });
      await until(() => held.length === 1);
      const { Client } = await import('pg');
      const client = new Client({ connectionString: place.url ?? '' });
      await client.connect();
      t.after(() => client.end());
      const status = async (): Promise<unknown> => {
        const { rows } = await client.query<{ status: string; id: string }>(
          `select id, status from video_jobs where is_submitted = 0 order by id desc limit 1`,
        );
        return rows[0]?.status;
      };
      await until(async () => (await status()) === 'failed');
      for (const answer of held) answer();
      const response = await begun;
      assert.equal(response.status, 503);
      const { data } = await jsonOf(await fetch(`${two.baseUrl}/videos?status=failed`, { headers: bearer() }));
      assert.deepEqual(data, []);
    });
  });
