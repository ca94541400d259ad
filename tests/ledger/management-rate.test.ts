import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_KEY, MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';

// @spec rate-9
test('returns 429 with headers to a management key over its rate on every route, and not to normal keys', async (t) => {
  const gateway = await startGateway({ yaml: 'rate_limits: { management: { requests_per_minute: 3 } }' });
  t.after(() => gateway.close());
  const get = (path: string, key: string): Promise<Response> =>
    fetch(gateway.baseUrl + path, { headers: { authorization: `Bearer ${key}` } });
  for (const path of ['/keys', '/key', '/workspaces'])
    assert.equal((await get(path, MANAGEMENT_KEY)).status, 200, path);
  for (const path of ['/keys', '/key', '/credits']) {
    const { status, headers } = await get(path, MANAGEMENT_KEY);
    assert.equal(status, 429, path);
    assert.deepEqual([headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')], ['3', '0']);
    assert.match(headers.get('retry-after') ?? '', /^\d+$/);
  }
  for (let round = 0; round < 5; round++) {
    assert.equal((await get('/key', API_KEY)).status, 200);
    assert.equal((await get('/keys', API_KEY)).status, 403);
  }
});
