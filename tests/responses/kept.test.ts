import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { dataOf } from '../support/http/people-client.ts';
import { acceptResponse, call, ENDLESS, hasEnded, hasOutput, until } from '../support/wire/responses/background.ts';

for (const [name, yaml] of [
  ['memory', 'responses: { store: memory }'],
  ['the database', 'responses: { store: database, background: true }'],
] as const)
  suite(`the list of kept responses in ${name}`, () => {
    let gateway: RunningGateway;
    let otherKey = '';
    let foreignKey = '';
    let foreign = '';
    before(async () => {
      gateway = await startGateway({ yaml });
      otherKey = textAt((await manage(gateway, 'POST', '/keys', { name: 'Other' })).body, 'key');
      foreign = textAt(
        dataOf(await manage(gateway, 'POST', '/workspaces', { name: 'Foreign', slug: 'foreign' })),
        'id',
      );
      const made = await manage(gateway, 'POST', '/keys', { name: 'Foreign', workspace_id: foreign });
      foreignKey = textAt(made.body, 'key');
    });
    after(() => gateway.close());

    const create = async (key: string, more: object = {}): Promise<string> => {
      const request = { model: 'sandbox/echo', input: 'a secret', ...more };
      const { status, body } = await call(gateway, 'POST', '/responses', request, key);
      assert.equal(status, 200, JSON.stringify(body));
      return textAt(body, 'id');
    };
    const list = async (query = '', key = MANAGEMENT_KEY): Promise<readonly JsonObject[]> => {
      const { status, body } = await call(gateway, 'GET', `/responses/kept${query}`, undefined, key);
      assert.equal(status, 200, JSON.stringify(body));
      return body['data'] as readonly JsonObject[];
    };
    const idsOf = (rows: readonly JsonObject[]) => rows.map(({ id }) => id);
    const act = async (method: string, path: string, key = MANAGEMENT_KEY): Promise<number> => {
      const url = `${gateway.baseUrl}/responses/kept/${path}`;
      return (await fetch(url, { method, headers: { authorization: `Bearer ${key}` } })).status;
    };

    // @spec responses-139
    test('has those of a workspace for management keys, without content, and for a normal key its own', async () => {
      const own = await create(API_KEY);
      const next = await create(API_KEY, { previous_response_id: own });
      const other = await create(otherKey);
      const strange = await create(foreignKey);
      const rows = await list();
      assert.deepEqual(idsOf(rows), [other, next, own]);
      assert.ok(!JSON.stringify(rows).includes('secret'));
      assert.partialDeepStrictEqual(rows[0], {
        status: 'completed',
        api_key_name: 'Other',
        previous_response_id: null,
      });
      assert.partialDeepStrictEqual(rows[1], { previous_response_id: own, background_runs: null });
      assert.deepEqual(idsOf(await list('', API_KEY)), [next, own]);
      assert.deepEqual(idsOf(await list('', otherKey)), [other]);
      assert.deepEqual(idsOf(await list(`?workspace_id=${foreign}`)), [strange]);
      const hash = textAt(rows[0] ?? {}, 'api_key_hash');
      assert.deepEqual(idsOf(await list(`?key=${hash}`)), [other]);
      assert.deepEqual(await list(`?key=${hash}`, API_KEY), []);
      const page = await call(gateway, 'GET', '/responses/kept?limit=2', undefined, MANAGEMENT_KEY);
      const cursor = textAt(page.body, 'next_cursor');
      assert.deepEqual(idsOf(await list(`?limit=2&cursor=${cursor}`)), [own]);
      for (const [query, key, status] of [
        ['?cursor=x', MANAGEMENT_KEY, 400],
        ['?limit=0', MANAGEMENT_KEY, 400],
        [`?workspace_id=${foreign}`, API_KEY, 404],
      ] as const)
        assert.equal((await call(gateway, 'GET', `/responses/kept${query}`, undefined, key)).status, status, query);
      // A list opens nothing: the content stays with its key.
      assert.equal((await call(gateway, 'GET', `/responses/${own}`, undefined, otherKey)).status, 404);
    });

    // @spec responses-139
    test('lets management keys delete what is in the workspace, and a normal key its own alone', async () => {
      const [own, strange] = [await create(API_KEY), await create(foreignKey)];
      assert.equal(await act('DELETE', own, otherKey), 404);
      assert.equal(await act('DELETE', strange), 404, 'it is in another workspace');
      assert.equal(await act('POST', `${own}/cancel`), 400, 'it does not run in the background');
      assert.equal(await act('DELETE', own), 204);
      assert.equal((await call(gateway, 'GET', `/responses/${own}`)).status, 404);
      assert.equal(await act('DELETE', `${strange}?workspace_id=${foreign}`), 204);
      const { body } = await manage(gateway, 'GET', '/audit?action=deleteKeptResponse');
      assert.deepEqual(
        (body['data'] as readonly JsonObject[]).map(({ subject }) => subject),
        [`/responses/kept/${strange}`, `/responses/kept/${own}`],
      );
    });

    if (name === 'memory') return;

    // @spec responses-139
    test('says what runs in the background, and stops it', async () => {
      const id = await acceptResponse(gateway, ENDLESS);
      await until(gateway, id, hasOutput);
      const [running] = await list('?limit=1');
      assert.partialDeepStrictEqual(running, { id, status: 'in_progress', background_runs: 1 });
      assert.equal(await act('POST', `${id}/cancel`, otherKey), 404);
      assert.equal(await act('POST', `${id}/cancel`), 204);
      assert.equal((await until(gateway, id, hasEnded))['status'], 'cancelled');
      assert.equal((await list('?limit=1'))[0]?.['status'], 'cancelled');
      assert.equal(await act('POST', `${id}/cancel`), 400);
    });
  });
