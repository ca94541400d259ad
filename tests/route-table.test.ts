import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { errorsOf } from '../src/http/openapi/management.ts';
import { MANAGEMENT_ROUTES } from '../src/http/routes.ts';
import type { ManagementRoute } from '../src/http/management/route.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from './support/gateway.ts';

const UNKNOWN_ID = '11111111-1111-4111-8111-111111111111';
const UNKNOWN_HASH = '0'.repeat(64);

/** What stands for a path parameter that names nothing, where an id will not do. */
const UNKNOWN: Readonly<Record<string, string>> = {
  hash: UNKNOWN_HASH,
  interval: 'daily',
  version: '1',
  author: 'nobody',
  slug: 'nothing',
};

/** Bodies that are good by themselves, of routes whose path names something and whose body may not be left out. */
const GOOD_BODY: Readonly<Record<string, unknown>> = {
  'PUT /workspaces/{id}/budgets/{interval}': { limit_usd: 1 },
  'POST /workspaces/{id}/members/add': { user_ids: ['ann'] },
  'POST /workspaces/{id}/members/remove': { user_ids: ['ann'] },
  'PATCH /workspaces/{id}/members/{user_id}': { role: 'admin' },
  'PATCH /scim/group-mappings/{id}': { role: 'admin' },
  'POST /guardrails/{id}/test': { text: 'x' },
  'POST /classifiers/{id}/test': { text: 'x' },
  'POST /classifiers/{id}/backfill': { start: '2026-11-01T00:00:00Z', end: '2026-11-02T00:00:00Z', max_cost_usd: 1 },
  'POST /interns/{internId}/chat/completions': { stream: true, messages: [{ role: 'user', content: 'hi' }] },
  'POST /interns/{internId}/inputs/{inputId}/answer': { decision: 'deny' },
  'PUT /interns/{internId}/memory': { text: 'a note' },
  'PUT /vault/interns/{internId}/secrets/{name}': { value: 'x', hosts: ['a.example'] },
  'POST /vault/interns/{internId}/secrets/copy': { names: ['a'] },
  'POST /guardrails/{id}/assignments/keys': { key_hashes: [UNKNOWN_HASH] },
  'POST /guardrails/{id}/assignments/keys/remove': { key_hashes: [UNKNOWN_HASH] },
  'POST /guardrails/{id}/assignments/members': { member_user_ids: ['ann'] },
  'POST /guardrails/{id}/assignments/members/remove': { member_user_ids: ['ann'] },
};

/** Routes whose path names what they make. */
const MAKES_WHAT_IT_NAMES = /^(?:POST \/presets|PUT \/vault\/secrets)\//;

const nameOf = ({ method, path }: ManagementRoute): string => `${method} ${path}`;
const isNamed = ({ path }: ManagementRoute): boolean => path.includes('{');

suite('every route of the table', () => {
  let gateway: RunningGateway;
  before(async () => {
    // A key that may change nothing is refused before it learns what exists.
    gateway = await startGateway({ yaml: 'vault: { writers: any }\ninterns: { enabled: true }' });
  });
  after(() => gateway.close());

  async function statusOf(route: ManagementRoute, key: string | null, body?: unknown, query = ''): Promise<number> {
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => UNKNOWN[name] ?? UNKNOWN_ID);
    const response = await fetch(gateway.baseUrl + path + query, {
      method: route.method,
      headers: key === null ? {} : { authorization: `Bearer ${key}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    await response.body?.cancel();
    const { status } = response;
    assert.ok(status in route.responses || errorsOf(route).includes(status), `${nameOf(route)} documents ${status}`);
    return status;
  }

  for (const route of MANAGEMENT_ROUTES) {
    const name = nameOf(route);
    if (route.scope !== 'public') {
      test(`is 401 without a key, and with an unknown one: ${name}`, async () => {
        assert.equal(await statusOf(route, null), 401);
        assert.equal(await statusOf(route, 'mgw-mgmt-nobody-has-this-key'), 401);
      });
    }
    if (route.scope === 'management')
      // @spec auth-6
      test(`is 403 with a normal key, whatever the body: ${name}`, async () => {
        assert.equal(await statusOf(route, API_KEY), 403);
        if (route.method !== 'GET') assert.equal(await statusOf(route, API_KEY, GOOD_BODY[name] ?? {}), 403);
      });
    if (route.scope === 'normal')
      test(`is 403 with a management key: ${name}`, async () => {
        assert.equal(await statusOf(route, MANAGEMENT_KEY), 403);
      });
    const key = route.scope === 'management' ? MANAGEMENT_KEY : API_KEY;
    test(`names unknown query parameters: ${name}`, async () => {
      const status = await statusOf(
        route,
        key,
        route.method === 'GET' ? undefined : (GOOD_BODY[name] ?? {}),
        '?unknown=1',
      );
      assert.ok(status === 400 || route.query.safeParse({ unknown: '1' }).success, `${status}`);
    });
    if (isNamed(route) && !MAKES_WHAT_IT_NAMES.test(name))
      // @spec workspace-13
      test(`is 404 for what does not exist: ${name}`, async () => {
        const body = route.method === 'GET' || route.method === 'DELETE' ? undefined : (GOOD_BODY[name] ?? {});
        assert.equal(await statusOf(route, key, body), 404);
      });
    else
      test(`never fails with 500: ${name}`, async () => {
        for (const body of route.method === 'GET' ? [undefined] : [undefined, {}, [], { unknown: 1 }]) {
          const status = await statusOf(route, key, body);
          assert.ok(status < 500, `${status}`);
        }
      });
  }
});
