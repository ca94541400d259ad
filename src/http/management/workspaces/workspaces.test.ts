import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { DEFAULT_WORKSPACE_ID } from '../../../accounts/principal.ts';
import { defaultGuardrailId } from '../../../accounts/policy/default-guardrail-id.ts';
import { ENGINES } from '../../../../tests/support/store/engines.ts';
import {
  assertRefused,
  listOf,
  NOW_MS,
  startAdministration,
  textOf,
  type AdministrationServer,
} from '../../../../tests/support/management/administration.ts';

const UNKNOWN = '11111111-1111-4111-8111-111111111111';
const HOUR_MS = 3_600_000;

for (const engine of ENGINES)
  suite(`workspaces over ${engine.name}`, () => {
    let gateway: AdministrationServer;
    before(async () => {
      gateway = await startAdministration(engine);
    });
    after(() => gateway.close());

    let made = 0;
    const makeWorkspace = async (settings: object = {}): Promise<{ readonly id: string; readonly slug: string }> => {
      const slug = `team-${made++}`;
      const { id } = await gateway.must('POST', '/workspaces', { name: 'Team', slug, ...settings });
      return { id: textOf(id), slug };
    };
    const makeKey = async (workspaceId: string, input: object = {}): Promise<string> => {
      const key = await gateway.must('POST', '/keys', { name: 'App', workspace_id: workspaceId, ...input });
      return textOf(key['hash']);
    };

    test('has the default workspace from the start, under the id that other rows use', async () => {
      const workspace = await gateway.must('GET', '/workspaces/default');
      assert.equal(workspace['id'], DEFAULT_WORKSPACE_ID);
      assert.equal(workspace['default_guardrail_id'], defaultGuardrailId(DEFAULT_WORKSPACE_ID));
      assert.deepEqual(await gateway.must('GET', `/workspaces/${DEFAULT_WORKSPACE_ID}`), workspace);
    });

    // @spec workspace-3, workspace-5
    test('returns a workspace as it was created', async () => {
      const settings = {
        description: 'Search',
        default_text_model: 'acme/one',
        default_image_model: 'acme/draw',
        default_provider_sort: 'latency',
        default_provider_preferences: { only: ['alpha'], ignore: ['beta'], sort: 'price', zdr: true },
        default_plugins: [{ id: 'context-compression', enabled: true, prevent_overrides: true }],
        is_observability_io_logging_enabled: true,
        io_logging_sampling_rate: 0.0001,
        io_logging_api_key_ids: [1, 2],
        io_logging_api_key_hashes: ['a'.repeat(64)],
        is_observability_broadcast_enabled: false,
        is_data_discount_logging_enabled: true,
      };
      const workspace = await gateway.must('POST', '/workspaces', { name: 'Search', slug: 'search', ...settings });
      const { id } = workspace;
      assert.deepEqual(workspace, {
        ...settings,
        id,
        name: 'Search',
        slug: 'search',
        include_byok_in_budgets: false,
        default_guardrail_id: defaultGuardrailId(textOf(id)),
        created_at: new Date(NOW_MS).toISOString(),
        updated_at: null,
        created_by: gateway.managementHash,
      });
      assert.deepEqual(await gateway.must('GET', '/workspaces/search'), workspace);
    });

    test('changes some members, keeps the others, and clears with null', async () => {
      const { id, slug } = await makeWorkspace({ description: 'Old', default_text_model: 'acme/one' });
      const changed = await gateway.must('PATCH', `/workspaces/${slug}`, { description: null, slug: `${slug}-b` });
      assert.deepEqual(
        [changed['id'], changed['description'], changed['default_text_model'], changed['updated_at']],
        [id, null, 'acme/one', new Date(NOW_MS).toISOString()],
      );
      assertRefused(await gateway.call('GET', `/workspaces/${slug}`), 404);
      assert.equal((await gateway.must('PATCH', `/workspaces/${id}`, {}))['slug'], `${slug}-b`);
    });

    // @spec workspace-1
    test('lists workspaces in pages, oldest first', async () => {
      for (let index = 0; index < 3; index++) await makeWorkspace();
      const all = await gateway.must('GET', '/workspaces?limit=100');
      const total = Number(all['total_count']);
      assert.equal(listOf(all['data']).length, total);
      assert.equal(listOf(all['data'])[0]?.['id'], DEFAULT_WORKSPACE_ID);
      const page = await gateway.must('GET', `/workspaces?offset=${total - 1}&limit=2`);
      assert.deepEqual(listOf(page['data']), listOf(all['data']).slice(-1));
      assert.equal(page['total_count'], total);
    });

    // @spec workspace-4
    test('lets a slug be taken once, and frees it with its workspace', async () => {
      const { slug } = await makeWorkspace();
      const { id: other } = await makeWorkspace();
      assertRefused(await gateway.call('POST', '/workspaces', { name: 'Team', slug }), 400, /^slug:.*taken/);
      assertRefused(await gateway.call('PATCH', `/workspaces/${other}`, { slug }), 400, /^slug:.*taken/);
      await gateway.must('DELETE', `/workspaces/${slug}`);
      await gateway.must('POST', '/workspaces', { name: 'Team', slug });
    });

    const BAD: readonly (readonly [string, object, RegExp])[] = [
      ['no name', { slug: 'a' }, /^name: is required/],
      ['no slug', { name: 'A' }, /^slug: is required/],
      ['an empty name', { name: '', slug: 'a' }, /^name:/],
      ['a name of 101 characters', { name: 'x'.repeat(101), slug: 'a' }, /^name:/],
      ['capitals in the slug', { name: 'A', slug: 'Team' }, /^slug:/],
      ['two hyphens in the slug', { name: 'A', slug: 'a--b' }, /^slug:/],
      ['a slug of 51 characters', { name: 'A', slug: 'x'.repeat(51) }, /^slug:/],
      ['a slug like an id', { name: 'A', slug: UNKNOWN }, /^slug:/],
      ['a description of 501 characters', { name: 'A', slug: 'a', description: 'x'.repeat(501) }, /^description:/],
      ['an unknown sort', { name: 'A', slug: 'a', default_provider_sort: 'speed' }, /^default_provider_sort:/],
      ['a rate of 0', { name: 'A', slug: 'a', io_logging_sampling_rate: 0 }, /^io_logging_sampling_rate:/],
      ['a rate above 1', { name: 'A', slug: 'a', io_logging_sampling_rate: 1.1 }, /^io_logging_sampling_rate:/],
      ['a hash that is none', { name: 'A', slug: 'a', io_logging_api_key_hashes: ['x'] }, /api_key_hashes\[0\]:/],
      ['an unknown member', { name: 'A', slug: 'a', owner: 'me' }, /owner/],
      ['what is only read', { name: 'A', slug: 'a', include_byok_in_budgets: true }, /include_byok_in_budgets/],
      [
        'an unknown preference',
        { name: 'A', slug: 'a', default_provider_preferences: { onyl: [] } },
        /default_provider_preferences.*onyl/,
      ],
    ];
    for (const [what, body, message] of BAD)
      // @spec workspace-4
      test(`answers 400 for ${what}`, async () =>
        assertRefused(await gateway.call('POST', '/workspaces', body), 400, message));

    // @spec workspace-6
    test('keeps a workspace with an active key, and deletes one with its inactive keys', async () => {
      const { id } = await makeWorkspace();
      const active = await makeKey(id);
      const expiring = await makeKey(id, { expires_at: new Date(NOW_MS + HOUR_MS).toISOString() });
      assertRefused(await gateway.call('DELETE', `/workspaces/${id}`), 400, /keys that work/);
      await gateway.must('GET', `/workspaces/${id}`);
      await gateway.must('PATCH', `/keys/${active}`, { disabled: true });
      assertRefused(await gateway.call('DELETE', `/workspaces/${id}`), 400, /keys that work/);
      gateway.passMs(HOUR_MS);
      await gateway.must('DELETE', `/workspaces/${id}`);
      assertRefused(await gateway.call('GET', `/workspaces/${id}`), 404);
      for (const hash of [active, expiring])
        assertRefused(await gateway.call('PATCH', `/keys/${hash}`, { disabled: false }), 404);
      assertRefused(await gateway.call('POST', '/keys', { name: 'App', workspace_id: id }), 400, /^workspace_id:/);
    });

    test('creates no key in a workspace that is deleted at the same time', async () => {
      for (let round = 0; round < 5; round++) {
        const { id } = await makeWorkspace();
        const [key, gone] = await Promise.all([
          gateway.call('POST', '/keys', { name: 'App', workspace_id: id }),
          gateway.call('DELETE', `/workspaces/${id}`),
        ]);
        assert.deepEqual([key.status, gone.status], key.status === 201 ? [201, 400] : [400, 200]);
      }
    });

    test('creates keys in a workspace, and lists them by workspace and user', async () => {
      const { id } = await makeWorkspace();
      const [first, second] = [await makeKey(id, { creator_user_id: 'ann' }), await makeKey(id)];
      const hashes = async (query: string): Promise<ReadonlySet<unknown>> =>
        new Set(listOf((await gateway.must('GET', `/keys${query}`))['data']).map(({ hash }) => hash));
      assert.deepEqual(await hashes(`?workspace_id=${id}`), new Set([first, second]));
      assert.deepEqual(await hashes(`?workspace_id=${id}&creator_user_id=ann`), new Set([first]));
      const others = await hashes('');
      assert.ok(!others.has(first) && others.size > 0, 'without a workspace the default one is meant');
      assert.equal((await gateway.must('GET', `/keys/${first}`))['workspace_id'], id);
    });

    test('stores default preferences of a key', async () => {
      const { id } = await makeWorkspace();
      const hash = await makeKey(id, { default_provider_preferences: { order: ['alpha'], data_collection: 'deny' } });
      const key = await gateway.must('GET', `/keys/${hash}`);
      assert.deepEqual(key['default_provider_preferences'], { order: ['alpha'], data_collection: 'deny' });
      for (const [sent, kept] of [
        [{ zdr: true, only: null }, { zdr: true }],
        [{}, null],
        [null, null],
      ]) {
        const changed = await gateway.must('PATCH', `/keys/${hash}`, { default_provider_preferences: sent });
        assert.deepEqual(changed['default_provider_preferences'], kept);
      }
      const bad = { default_provider_preferences: { sort: 'speed' } };
      assertRefused(await gateway.call('PATCH', `/keys/${hash}`, bad), 400, /^default_provider_preferences.sort:/);
    });

    suite('budgets', () => {
      // @spec workspace-7, workspace-10
      test('sets, reads, lists and deletes budgets, broadest first, whether there is one or not', async () => {
        const { id, slug } = await makeWorkspace();
        const daily = await gateway.call('PUT', `/workspaces/${slug}/budgets/daily`, {
          limit_usd: 5,
          include_byok_in_budgets: true,
        });
        assert.equal(daily.status, 200, daily.text);
        assert.equal(daily.body['include_byok_in_budgets'], true);
        await gateway.must('PUT', `/workspaces/${id}/budgets/lifetime`, { limit_usd: 100 });
        const list = await gateway.must('GET', `/workspaces/${id}/budgets`);
        assert.deepEqual(
          listOf(list['data']).map(({ reset_interval, limit_usd, workspace_id }) => [
            reset_interval,
            limit_usd,
            workspace_id,
          ]),
          [
            [null, 100, id],
            ['daily', 5, id],
          ],
        );
        assert.equal(list['include_byok_in_budgets'], true);
        assert.equal((await gateway.must('GET', `/workspaces/${id}`))['include_byok_in_budgets'], true);
        const again = await gateway.must('PUT', `/workspaces/${id}/budgets/daily`, { limit_usd: 6 });
        assert.equal(again['limit_usd'], 6);
        assert.equal(again['id'], listOf(list['data'])[1]?.['id'], 'it is the same budget');
        for (let time = 0; time < 2; time++) await gateway.must('DELETE', `/workspaces/${id}/budgets/daily`);
        assertRefused(await gateway.call('GET', `/workspaces/${id}/budgets/daily`), 404);
        assert.equal((await gateway.must('GET', `/workspaces/${id}/budgets/lifetime`))['limit_usd'], 100);
      });

      // @spec workspace-8
      test('requires a larger limit for a broader interval, and names both in the refusal', async () => {
        const { id } = await makeWorkspace();
        await gateway.must('PUT', `/workspaces/${id}/budgets/monthly`, { limit_usd: 50 });
        const same = await gateway.call('PUT', `/workspaces/${id}/budgets/daily`, { limit_usd: 50 });
        assertRefused(same, 400, /monthly budget of 50 USD .* daily budget of 50 USD/);
        await gateway.must('PUT', `/workspaces/${id}/budgets/daily`, { limit_usd: 49.99 });
        const below = await gateway.call('PUT', `/workspaces/${id}/budgets/weekly`, { limit_usd: 49 });
        assertRefused(below, 400, /weekly budget of 49 USD .* daily budget of 49.99 USD/);
        assert.equal(listOf((await gateway.must('GET', `/workspaces/${id}/budgets`))['data']).length, 2);
      });

      test('checks the order of budgets that are set at once', async () => {
        const { id } = await makeWorkspace();
        const put = (interval: string, limit: number) =>
          gateway.call('PUT', `/workspaces/${id}/budgets/${interval}`, { limit_usd: limit });
        const replies = await Promise.all(
          Array.from({ length: 8 }, (_, index) =>
            index % 2 === 0 ? put('monthly', 10 + index) : put('daily', 5 + index),
          ),
        );
        assert.ok(replies.every(({ status }) => status === 200 || status === 400));
        const [monthly, daily] = listOf((await gateway.must('GET', `/workspaces/${id}/budgets`))['data']);
        if (daily !== undefined) assert.ok(Number(monthly?.['limit_usd']) > Number(daily['limit_usd']));
      });

      // @spec workspace-7
      test('answers 400 for an invalid limit, an invalid interval, and an unknown member', async () => {
        const { id } = await makeWorkspace();
        for (const limit of [0, -1, 1e-10, 1e15, '5', null])
          assertRefused(
            await gateway.call('PUT', `/workspaces/${id}/budgets/daily`, { limit_usd: limit }),
            400,
            /^limit/,
          );
        for (const method of ['GET', 'PUT', 'DELETE']) {
          const reply = await gateway.call(
            method,
            `/workspaces/${id}/budgets/yearly`,
            method === 'PUT' ? { limit_usd: 1 } : undefined,
          );
          assertRefused(reply, 400, /interval/);
        }
        assertRefused(await gateway.call('PUT', `/workspaces/${id}/budgets/daily`, { limit_usd: 1, x: 1 }), 400, /x/);
      });
    });

    suite('members', () => {
      test('adds members once, lists and removes them', async () => {
        const { id, slug } = await makeWorkspace();
        const added = await gateway.call('POST', `/workspaces/${slug}/members/add`, {
          user_ids: ['ann', 'bob', 'ann'],
        });
        assert.deepEqual([added.status, added.body['added_count']], [200, 2]);
        const again = await gateway.call('POST', `/workspaces/${id}/members/add`, { user_ids: ['bob', 'eve'] });
        assert.equal(again.body['added_count'], 1);
        assert.deepEqual(
          listOf(again.body['data']).map(({ user_id, role, workspace_id }) => [user_id, role, workspace_id]),
          [
            ['bob', 'member', id],
            ['eve', 'member', id],
          ],
        );
        const page = await gateway.must('GET', `/workspaces/${id}/members?limit=2`);
        assert.deepEqual([listOf(page['data']).length, page['total_count']], [2, 3]);
        const removed = await gateway.must('POST', `/workspaces/${id}/members/remove`, { user_ids: ['bob', 'nobody'] });
        assert.equal(removed['removed_count'], 1);
        assert.equal((await gateway.must('GET', `/workspaces/${id}/members`))['total_count'], 2);
      });

      // @spec workspace-11
      test('keeps all members of a call when one owns active keys', async () => {
        const { id } = await makeWorkspace();
        await gateway.must('POST', `/workspaces/${id}/members/add`, { user_ids: ['ann', 'bob'] });
        const hash = await makeKey(id, { creator_user_id: 'ann' });
        const remove = () => gateway.call('POST', `/workspaces/${id}/members/remove`, { user_ids: ['ann', 'bob'] });
        assertRefused(await remove(), 400, /"ann" still own API keys/);
        assert.equal((await gateway.must('GET', `/workspaces/${id}/members`))['total_count'], 2);
        await gateway.must('PATCH', `/keys/${hash}`, { disabled: true });
        assert.equal((await remove()).body['removed_count'], 2);
      });

      // @spec workspace-11
      test('answers 400 for a list that is empty, too long, or of another type', async () => {
        const { id } = await makeWorkspace();
        const long = Array.from({ length: 101 }, (_, index) => `user-${index}`);
        for (const user_ids of [[], long, [''], [7], 'ann', null])
          for (const verb of ['add', 'remove'])
            assertRefused(
              await gateway.call('POST', `/workspaces/${id}/members/${verb}`, { user_ids }),
              400,
              /^user_ids/,
            );
      });
    });

    // @spec workspace-3
    test('answers 404 for an unknown workspace, on every route below it', async () => {
      for (const id of [UNKNOWN, 'nobody', "x'%20or%201=1--"])
        for (const [method, below, body] of [
          ['GET', '', undefined],
          ['PATCH', '', { name: 'A' }],
          ['DELETE', '', undefined],
          ['GET', '/budgets', undefined],
          ['GET', '/budgets/daily', undefined],
          ['PUT', '/budgets/daily', { limit_usd: 1 }],
          ['DELETE', '/budgets/daily', undefined],
          ['GET', '/members', undefined],
          ['POST', '/members/add', { user_ids: ['ann'] }],
          ['POST', '/members/remove', { user_ids: ['ann'] }],
        ] as const)
          assertRefused(await gateway.call(method, `/workspaces/${id}${below}`, body), 404);
    });
  });

for (const engine of ENGINES)
  // @spec workspace-2, workspace-6
  test(`requires a workspace in calls once the default one is deleted (${engine.name})`, async (context) => {
    const gateway = await startAdministration(engine);
    context.after(() => gateway.close());
    assertRefused(await gateway.call('DELETE', '/workspaces/default'), 403, /confirm_default_workspace_deletion=true/);
    const confirmed = '/workspaces/default?confirm_default_workspace_deletion=true';
    assertRefused(await gateway.call('DELETE', confirmed), 400, /keys that work/);
    for (const { hash } of await gateway.keys.list({ kind: 'normal', includeDisabled: true, offset: 0, limit: 100 }))
      await gateway.keys.delete(hash);
    await gateway.must('DELETE', confirmed);
    for (const [method, path, body] of [
      ['GET', '/keys', undefined],
      ['POST', '/keys', { name: 'App' }],
      ['GET', '/guardrails', undefined],
      ['POST', '/guardrails', { name: 'G' }],
    ] as const)
      assertRefused(await gateway.call(method, path, body), 400, /^workspace_id: is required/);
    const { id } = await gateway.must('POST', '/workspaces', { name: 'Next', slug: 'default' });
    await gateway.must('POST', '/keys', { name: 'App', workspace_id: id });
    await gateway.must('GET', `/guardrails?workspace_id=${textOf(id)}`);
  });
