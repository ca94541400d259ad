import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { manage } from '../support/byok.ts';
import { dataOf } from '../support/http/people-client.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { bearer, QUICK, textAt, jsonOf, waitFor } from '../support/videos/client.ts';

suite('jobs of all workspaces', () => {
  let gateway: RunningGateway;
  let otherKey = '';
  let otherWorkspace = '';
  before(async () => {
    gateway = await startGateway({ videoTimes: QUICK });
    otherWorkspace = textAt(
      dataOf(await manage(gateway, 'POST', '/workspaces', { name: 'Other', slug: 'other' })),
      'id',
    );
    const made = await manage(gateway, 'POST', '/keys', { name: 'Studio', workspace_id: otherWorkspace });
    otherKey = textAt(made.body, 'key');
  });
  after(() => gateway.close());

  const begin = async (body: object, key = API_KEY): Promise<string> => {
    const response = await gateway.post('/videos', body, bearer(key));
    assert.equal(response.status, 202, await response.clone().text());
    return textAt(await jsonOf(response), 'id');
  };
  const call = (method: string, path: string, key = MANAGEMENT_KEY) =>
    fetch(`${gateway.baseUrl}/videos/jobs${path}`, { method, headers: bearer(key) });
  const list = async (query = '', key = MANAGEMENT_KEY): Promise<readonly JsonObject[]> => {
    const response = await call('GET', query, key);
    assert.equal(response.status, 200, await response.clone().text());
    return (await jsonOf(response))['data'] as JsonObject[];
  };
  const idsOf = (rows: readonly JsonObject[]) => rows.map(({ id }) => id);

  // @spec video-25
  test('are listed for management keys without their content, and for a normal key its own alone', async () => {
    const first = await begin({ model: 'sandbox/video', prompt: 'a secret cat ms=10', duration: 2 });
    const second = await begin({ model: 'sandbox/video-fail', prompt: 'ms=10' }, otherKey);
    await waitFor(gateway.baseUrl, first);
    await waitFor(gateway.baseUrl, second, undefined, otherKey);
    const rows = await list();
    assert.deepEqual(idsOf(rows), [second, first]);
    assert.ok(!JSON.stringify(rows).includes('secret cat'));
    const [failed, made] = rows;
    assert.partialDeepStrictEqual(made, {
      status: 'completed',
      model: 'sandbox/video',
      provider: 'sandbox',
      provider_name: 'Sandbox',
      api_key_name: null,
      duration: 2,
      total_cost: 0,
      error: null,
      next_poll_at: null,
      clips: [{ media_type: 'video/mp4', is_stored: true }],
    });
    assert.partialDeepStrictEqual(failed, { status: 'failed', api_key_name: 'Studio', workspace_id: otherWorkspace });
    assert.match(textAt(failed ?? {}, 'error'), /on purpose/);
    assert.deepEqual(idsOf(await list('', otherKey)), [second]);
    assert.deepEqual(idsOf(await list('', API_KEY)), [first]);
    for (const [query, expected] of [
      ['?status=failed', [second]],
      ['?model=sandbox/video', [first]],
      [`?workspace=${otherWorkspace}`, [second]],
      [`?key=${textAt(made ?? {}, 'api_key_hash')}`, [first]],
      ['?provider=unknown', []],
      ['?limit=1', [second]],
      [`?after=${second}`, [first]],
    ] as const)
      assert.deepEqual(idsOf(await list(query)), expected, query);
    assert.equal((await jsonOf(await call('GET', '?limit=1')))['has_more'], true);
    for (const wrong of ['?status=done', '?limit=0', '?colour=red'])
      assert.equal((await call('GET', wrong)).status, 400, wrong);
  });

  // @spec video-25
  test('are cancelled, read and removed by a management key, and by a normal key its own alone', async () => {
    const id = await begin({ model: 'sandbox/video-stall', prompt: 'ms=1' }, otherKey);
    await waitFor(gateway.baseUrl, id, ({ status }) => status === 'in_progress', otherKey);
    for (const [method, path] of [
      ['POST', `/${id}/cancel`],
      ['DELETE', `/${id}`],
      ['GET', `/${id}/content`],
    ] as const)
      assert.equal((await call(method, path, API_KEY)).status, 404, method);
    assert.equal((await call('DELETE', `/${id}`)).status, 409, 'it runs');
    const cancelled = await call('POST', `/${id}/cancel`);
    assert.equal(cancelled.status, 200, await cancelled.clone().text());
    assert.partialDeepStrictEqual((await jsonOf(cancelled))['data'], { id, status: 'cancelled' });
    // A job that ends while its cancellation is under way keeps its clips.
    assert.equal((await call('POST', `/${id}/cancel`)).status, 409);
    assert.equal((await call('DELETE', `/${id}`, otherKey)).status, 204);
    assert.equal((await call('DELETE', `/${id}`)).status, 404);
    const [made] = await list('?status=completed');
    const clip = await call('GET', `/${textAt(made ?? {}, 'id')}/content`);
    assert.deepEqual([clip.status, clip.headers.get('content-type')], [200, 'video/mp4']);
    assert.equal(Buffer.from(await clip.arrayBuffer()).toString('latin1', 4, 12), 'ftypisom');
    const { body } = await manage(gateway, 'GET', '/audit?action=cancelVideoJob');
    assert.deepEqual(
      (body['data'] as readonly JsonObject[]).map(({ subject }) => subject),
      [`/videos/jobs/${id}/cancel`],
    );
  });
});
