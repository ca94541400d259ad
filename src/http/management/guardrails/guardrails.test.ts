import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { DEFAULT_WORKSPACE_ID } from '../../../accounts/principal.ts';
import { isJsonObject } from '../../../lib/json.ts';
import { ENGINES } from '../../../../tests/support/store/engines.ts';
import { sampleModel } from '../../../../tests/support/management/model-listing.ts';
import {
  assertRefused,
  listOf,
  NOW_MS,
  startAdministration,
  textOf,
  type AdministrationServer,
} from '../../../../tests/support/management/administration.ts';

const UNKNOWN = '11111111-1111-4111-8111-111111111111';
const MODELS = [sampleModel('acme/one', { canonicalSlug: 'acme/one-2026-01' }), sampleModel('acme/two')];

for (const engine of ENGINES)
  suite(`guardrails over ${engine.name}`, () => {
    let gateway: AdministrationServer;
    before(async () => {
      gateway = await startAdministration(engine, MODELS);
    });
    after(() => gateway.close());

    const makeGuardrail = async (rules: object = {}): Promise<string> =>
      textOf((await gateway.must('POST', '/guardrails', { name: 'Rules', ...rules }))['id']);
    const makeKey = async (input: object = {}): Promise<string> =>
      textOf((await gateway.must('POST', '/keys', { name: 'App', ...input }))['hash']);

    // @spec filter-1, guardrail-1, guardrail-3
    test('returns a guardrail as it was created, with models by their permanent names', async () => {
      const rules = {
        description: 'For the web team',
        limit_usd: 12.5,
        reset_interval: 'weekly',
        include_byok_in_budgets: true,
        ignored_providers: ['beta'],
        ignored_models: ['acme/three'],
        enforce_zdr_anthropic: true,
        enforce_zdr_openai: false,
        enforce_zdr_google: null,
        enforce_zdr_xai: null,
        enforce_zdr_other: true,
        enable_paid_model_training: false,
        enable_free_model_training: true,
        enable_free_model_publication: null,
        content_filters: [
          { pattern: 'acme-\\d+', action: 'redact', label: '[ID]' },
          { pattern: 'secret', action: 'block', label: null, scan_output: true },
        ],
      };
      const guardrail = await gateway.must('POST', '/guardrails', {
        name: 'Web',
        ...rules,
        allowed_providers: ['Alpha', 'alpha', 'gamma'],
        allowed_models: ['acme/one', 'acme/one-2026-01', 'acme/two', 'local/llama'],
        content_filter_builtins: [
          { slug: 'email', action: 'redact', label: 'mine' },
          { slug: 'regex-prompt-injection', action: 'block', scan_scope: 'user_only' },
          { slug: 'ssn', action: 'flag', scan_output: true },
        ],
      });
      const { id } = guardrail;
      assert.deepEqual(guardrail, {
        ...rules,
        id,
        name: 'Web',
        workspace_id: DEFAULT_WORKSPACE_ID,
        allowed_providers: ['alpha', 'gamma'],
        allowed_models: ['acme/one-2026-01', 'acme/two', 'local/llama'],
        enforce_zdr: false,
        content_filter_builtins: [
          { slug: 'email', action: 'redact', label: '[EMAIL]' },
          { slug: 'regex-prompt-injection', action: 'block', label: '[PROMPT_INJECTION]', scan_scope: 'user_only' },
          { slug: 'ssn', action: 'flag', label: '[SSN]', scan_output: true },
        ],
        judge_filters: null,
        created_at: new Date(NOW_MS).toISOString(),
        updated_at: null,
      });
      assert.deepEqual(await gateway.must('GET', `/guardrails/${textOf(id)}`), guardrail);
    });

    // @spec guardrail-4
    test('replaces lists whole, removes fields with null, and keeps absent ones', async () => {
      const id = await makeGuardrail({
        description: 'Old',
        allowed_models: ['acme/one'],
        limit_usd: 3,
        enforce_zdr_xai: true,
      });
      const changed = await gateway.must('PATCH', `/guardrails/${id}`, {
        name: 'Renamed',
        allowed_models: ['acme/two'],
        limit_usd: null,
        content_filters: [{ pattern: 'x', action: 'flag' }],
      });
      const { name, description, allowed_models, limit_usd, enforce_zdr_xai, updated_at } = changed;
      assert.deepEqual(
        [name, description, allowed_models, limit_usd, enforce_zdr_xai, updated_at],
        ['Renamed', 'Old', ['acme/two'], null, true, new Date(NOW_MS).toISOString()],
      );
      const cleared = await gateway.must('PATCH', `/guardrails/${id}`, { allowed_models: null, content_filters: null });
      assert.deepEqual(
        [cleared['allowed_models'], cleared['content_filters'], cleared['name']],
        [null, null, 'Renamed'],
      );
    });

    test('keeps both of two concurrent changes', async () => {
      const id = await makeGuardrail();
      const changes = [
        { allowed_models: ['acme/two'] },
        { ignored_providers: ['beta'] },
        { enforce_zdr_openai: true },
        { content_filters: [{ pattern: 'x', action: 'flag' }] },
        { enforce_zdr_google: true },
      ];
      await Promise.all(changes.map((change) => gateway.must('PATCH', `/guardrails/${id}`, change)));
      const { allowed_models, ignored_providers, enforce_zdr_openai, enforce_zdr_google, content_filters } =
        await gateway.must('GET', `/guardrails/${id}`);
      assert.deepEqual([allowed_models, ignored_providers], [['acme/two'], ['beta']]);
      assert.deepEqual([enforce_zdr_openai, enforce_zdr_google], [true, true]);
      assert.equal(listOf(content_filters).length, 1);
    });

    // @spec guardrail-5
    test('applies the deprecated switch to vendors that are not named', async () => {
      const groups = ['anthropic', 'openai', 'google', 'xai', 'other'];
      const read = async (id: string): Promise<readonly unknown[]> => {
        const guardrail = await gateway.must('GET', `/guardrails/${id}`);
        return [...groups.map((group) => guardrail[`enforce_zdr_${group}`]), guardrail['enforce_zdr']];
      };
      const id = await makeGuardrail({ enforce_zdr: true });
      assert.deepEqual(await read(id), [true, true, true, true, true, true]);
      await gateway.must('PATCH', `/guardrails/${id}`, { enforce_zdr: false, enforce_zdr_xai: true });
      assert.deepEqual(await read(id), [false, false, false, true, false, false]);
      await gateway.must('PATCH', `/guardrails/${id}`, { enforce_zdr: null });
      assert.deepEqual(await read(id), [null, null, null, null, null, null]);
    });

    const BAD: readonly (readonly [string, object, RegExp])[] = [
      ['no name', { name: undefined }, /^name: is required/],
      ['a name of 201 characters', { name: 'x'.repeat(201) }, /^name:/],
      ['a description of 1,001 characters', { description: 'x'.repeat(1_001) }, /^description:/],
      ['a negative budget', { limit_usd: -1 }, /^limit_usd:/],
      ['an unknown interval', { reset_interval: 'lifetime' }, /^reset_interval:/],
      ['an empty list', { allowed_providers: [] }, /^allowed_providers:/],
      ['an empty list of models', { ignored_models: [] }, /^ignored_models:/],
      ['an unknown member', { allow_models: ['x'] }, /allow_models/],
      ['an unknown workspace', { workspace_id: UNKNOWN }, /^workspace_id:/],
      ['a flag as text', { enforce_zdr_openai: 'yes' }, /^enforce_zdr_openai:/],
      ['an unknown action', { content_filters: [{ pattern: 'a', action: 'hide' }] }, /^content_filters\[0\].action:/],
      ['no pattern', { content_filters: [{ action: 'flag' }] }, /^content_filters\[0\].pattern:/],
      ['an unknown filter', { content_filter_builtins: [{ slug: 'iban', action: 'flag' }] }, /builtins\[0\].slug:/],
      [
        'a scope of a filter that has none',
        { content_filter_builtins: [{ slug: 'email', action: 'flag', scan_scope: 'user_only' }] },
        /builtins\[0\].scan_scope:/,
      ],
      [
        'a label of 101 characters',
        { content_filters: [{ pattern: 'a', action: 'flag', label: 'x'.repeat(101) }] },
        /^content_filters\[0\].label:/,
      ],
    ];
    for (const [what, rules, message] of BAD)
      // @spec filter-6, guardrail-2
      test(`answers 400 for ${what}`, async () => {
        assertRefused(await gateway.call('POST', '/guardrails', { name: 'Rules', ...rules }), 400, message);
        if (what === 'no name' || what === 'an unknown workspace') return;
        assertRefused(await gateway.call('PATCH', `/guardrails/${await makeGuardrail()}`, rules), 400, message);
      });

    // @spec filter-2
    test('answers 400 invalid_regex_pattern for a pattern that could run for ever, on creation and change', async () => {
      const id = await makeGuardrail();
      for (const pattern of ['(a+)+$', '(?=a)b', '(?<!a)b', '(a)\\1', '(', ''])
        for (const [method, path] of [
          ['POST', '/guardrails'],
          ['PATCH', `/guardrails/${id}`],
        ] as const) {
          const content_filters = [
            { pattern: 'good', action: 'flag' },
            { pattern, action: 'flag' },
          ];
          const reply = await gateway.call(method, path, { name: 'G', content_filters });
          assertRefused(reply, 400, /^content_filters\[1\].pattern:.*invalid_regex_pattern/);
          const { error } = reply.body;
          assert.ok(isJsonObject(error) && isJsonObject(error['metadata']));
          assert.equal(error['metadata']['code'], 'invalid_regex_pattern');
        }
    });

    // @spec workspace-1
    test('lists guardrails by workspace, newest first, in pages', async () => {
      const { id: workspaceId } = await gateway.must('POST', '/workspaces', { name: 'W', slug: 'filed' });
      const ids: string[] = [];
      for (let index = 0; index < 3; index++) {
        gateway.passMs(1);
        ids.unshift(await makeGuardrail({ workspace_id: workspaceId }));
      }
      const list = async (query: string) => {
        const { data, total_count } = await gateway.must(
          'GET',
          `/guardrails?workspace_id=${textOf(workspaceId)}${query}`,
        );
        return [listOf(data).map(({ id }) => id), total_count];
      };
      assert.deepEqual(await list(''), [ids, 3]);
      assert.deepEqual(await list('&offset=1&limit=1'), [[ids[1]], 3]);
      const others = listOf((await gateway.must('GET', '/guardrails?limit=100'))['data']);
      assert.ok(others.every(({ workspace_id }) => workspace_id === DEFAULT_WORKSPACE_ID));
    });

    // @spec guardrail-8
    test('creates the guardrail of a workspace with its first change, under the id that was known before', async () => {
      const workspace = await gateway.must('POST', '/workspaces', { name: 'W', slug: 'with-default' });
      const id = textOf(workspace['default_guardrail_id']);
      assertRefused(await gateway.call('GET', `/guardrails/${id}`), 404);
      assertRefused(await gateway.call('PATCH', `/guardrails/${id}`, { name: 'Mine' }), 400, /^name:/);
      assertRefused(await gateway.call('GET', `/guardrails/${id}`), 404);
      await Promise.all([
        gateway.must('PATCH', `/guardrails/${id}`, { limit_usd: 5 }),
        gateway.must('PATCH', `/guardrails/${id}`, { ignored_models: ['acme/two'] }),
      ]);
      const guardrail = await gateway.must('GET', `/guardrails/${id}`);
      assert.deepEqual(
        [guardrail['workspace_id'], guardrail['limit_usd'], guardrail['ignored_models']],
        [workspace['id'], 5, ['acme/two']],
      );
      await gateway.must('DELETE', `/guardrails/${id}`);
      assertRefused(await gateway.call('GET', `/guardrails/${id}`), 404);
    });

    // @spec guardrail-6
    test('gives a key one guardrail: another assignment replaces it', async () => {
      const [first, second] = [await makeGuardrail(), await makeGuardrail()];
      const [one, two] = [await makeKey({ name: 'One' }), await makeKey({ name: 'Two' })];
      const assign = (id: string, key_hashes: readonly string[]) =>
        gateway.must('POST', `/guardrails/${id}/assignments/keys`, { key_hashes });
      assert.deepEqual(await assign(first, [one, two, one]), { assigned_count: 2 });
      gateway.passMs(1);
      assert.deepEqual(await assign(second, [two]), { assigned_count: 1 });
      const list = async (id: string) =>
        listOf((await gateway.must('GET', `/guardrails/${id}/assignments/keys`))['data']);
      assert.deepEqual(
        (await list(first)).map(({ key_hash, key_name, guardrail_id, assigned_by }) => [
          key_hash,
          key_name,
          guardrail_id,
          assigned_by,
        ]),
        [[one, 'One', first, gateway.managementHash]],
      );
      assert.deepEqual(
        (await list(second)).map(({ key_hash }) => key_hash),
        [two],
      );
      const all = await gateway.must('GET', '/guardrails/assignments/keys?limit=2');
      assert.deepEqual(
        listOf(all['data']).map(({ key_hash }) => key_hash),
        [two, one],
      );
      const remove = (id: string, key_hashes: readonly string[]) =>
        gateway.must('POST', `/guardrails/${id}/assignments/keys/remove`, { key_hashes });
      assert.deepEqual(await remove(first, [one, two]), { unassigned_count: 1 });
      assert.deepEqual(await list(first), []);
      await gateway.must('DELETE', `/keys/${two}`);
      assert.deepEqual(await list(second), [], 'a deleted key has nothing');
    });

    // @spec guardrail-7
    test('answers 400 for a hash that is no normal key, and assigns none', async () => {
      const id = await makeGuardrail();
      const key = await makeKey();
      for (const bad of ['0'.repeat(64), 'x', gateway.managementHash]) {
        const reply = await gateway.call('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [key, bad] });
        assertRefused(reply, 400, /^key_hashes\[1\]:/);
      }
      assert.equal((await gateway.must('GET', `/guardrails/${id}/assignments/keys`))['total_count'], 0);
    });

    // @spec guardrail-6
    test('gives a member one guardrail too, which ends with the guardrail', async () => {
      const [first, second] = [await makeGuardrail(), await makeGuardrail()];
      const assign = (id: string, member_user_ids: readonly string[]) =>
        gateway.must('POST', `/guardrails/${id}/assignments/members`, { member_user_ids });
      assert.deepEqual(await assign(first, ['ann', 'bob']), { assigned_count: 2 });
      assert.deepEqual(await assign(second, ['ann']), { assigned_count: 1 });
      const members = async (path: string) =>
        listOf((await gateway.must('GET', path))['data']).map(({ user_id, guardrail_id }) => [user_id, guardrail_id]);
      assert.deepEqual(await members(`/guardrails/${first}/assignments/members`), [['bob', first]]);
      assert.deepEqual(new Set(await members('/guardrails/assignments/members')).size, 2);
      const removed = await gateway.must('POST', `/guardrails/${first}/assignments/members/remove`, {
        member_user_ids: ['bob', 'ann'],
      });
      assert.deepEqual(removed, { unassigned_count: 1 });
      await gateway.must('DELETE', `/guardrails/${second}`);
      assert.deepEqual(await members('/guardrails/assignments/members'), []);
    });

    test('answers 400 for lists that are empty, too long, or of another type', async () => {
      const id = await makeGuardrail();
      const long = Array.from({ length: 1_001 }, (_, index) => `id-${index}`);
      for (const ids of [[], long, [''], [7], 'ann', null])
        for (const [below, member] of [
          ['keys', 'key_hashes'],
          ['keys/remove', 'key_hashes'],
          ['members', 'member_user_ids'],
          ['members/remove', 'member_user_ids'],
        ] as const) {
          const reply = await gateway.call('POST', `/guardrails/${id}/assignments/${below}`, { [member]: ids });
          assertRefused(reply, 400, new RegExp(`^${member}`));
        }
    });

    test('answers 404 for an unknown guardrail, on every route below it', async () => {
      for (const id of [UNKNOWN, 'nothing'])
        for (const [method, below, body] of [
          ['GET', '', undefined],
          ['PATCH', '', { description: 'x' }],
          ['DELETE', '', undefined],
          ['GET', '/assignments/keys', undefined],
          ['GET', '/assignments/members', undefined],
          ['POST', '/assignments/keys', { key_hashes: [await makeKey()] }],
          ['POST', '/assignments/keys/remove', { key_hashes: ['x'] }],
          ['POST', '/assignments/members', { member_user_ids: ['ann'] }],
          ['POST', '/assignments/members/remove', { member_user_ids: ['ann'] }],
        ] as const)
          assertRefused(await gateway.call(method, `/guardrails/${id}${below}`, body), 404);
    });

    test('deletes guardrails with their workspace', async () => {
      const { id: workspaceId } = await gateway.must('POST', '/workspaces', { name: 'W', slug: 'gone' });
      const id = await makeGuardrail({ workspace_id: workspaceId });
      const key = await makeKey();
      await gateway.must('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [key] });
      await gateway.must('DELETE', '/workspaces/gone');
      assertRefused(await gateway.call('GET', `/guardrails/${id}`), 404);
      const { data } = await gateway.must('GET', '/guardrails/assignments/keys');
      assert.ok(!listOf(data).some(({ key_hash }) => key_hash === key));
    });
  });
