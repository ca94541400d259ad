import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { ManagementRoute } from '../../../src/http/management/route.ts';
import { MANAGEMENT_ROUTES } from '../../../src/http/routes.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { manage, textAt } from '../../support/byok.ts';
import { signIn, type BrowserReply, type SignedIn } from '../../support/http/console-client.ts';
import { dataOf, join, makeWorkspace, startOrganization, type Colleague } from '../../support/http/people-client.ts';
import { API_KEY, type RunningGateway } from '../../support/gateway.ts';

/** What a user that is no operator reaches, besides the routes of members. Everything else is for operators. */
const OF_USERS = new Set([
  'addWorkspaceMembers',
  'createKey',
  'createObservabilityDestination',
  'deleteKey',
  'deleteObservabilityDestination',
  'deletePreset',
  'deleteWorkspaceBudget',
  'getAnalyticsMeta',
  'getGuardrail',
  'getKey',
  'getKeyLimits',
  'getObservabilityDestination',
  'getWorkspace',
  'getWorkspaceBudget',
  'listGuardrailMatches',
  'listGuardrails',
  'listKeys',
  'listObservabilityDestinations',
  'listObservabilityDestinationTypes',
  'listOrganizationMembers',
  'listWorkspaceBudgets',
  'listWorkspaceMembers',
  'listWorkspaces',
  'putWorkspaceBudget',
  'queryAnalytics',
  'exportAnalytics',
  'removeWorkspaceMembers',
  'testGuardrail',
  'testObservabilityDestination',
  'updateKey',
  'updateObservabilityDestination',
  'updatePreset',
  'updateWorkspace',
  'updateWorkspaceMember',
]);

/** Of those, what a member of a workspace may do there that is not its admin: all of it, or to what is its own. */
const OF_MEMBERS = new Set(['createKey', 'getWorkspace', 'listKeys', 'listWorkspaceMembers']);
const OF_OWNERS = new Set(['deleteKey', 'getKey', 'getKeyLimits', 'updateKey']);

/** The routes narrow what they show by themselves: other tests look at what. */
const isNarrowed = ({ users }: ManagementRoute): boolean => users === 'narrowed';
const isChecked = ({ users, scope }: ManagementRoute): boolean => typeof users === 'function' && scope === 'management';

interface Place {
  readonly workspaceId: string;
  readonly hash: string;
  readonly destinationId: string;
  readonly guardrailId: string;
}

suite('the rights of users', () => {
  let gateway: RunningGateway;
  let member: Colleague;
  let admin: Colleague;
  let own: Place;
  let foreign: Place;
  before(async () => {
    gateway = await startOrganization();
    own = await makePlace('own');
    foreign = await makePlace('foreign');
    const workspaceOf = (role: string) => ({ workspaces: [{ workspace_id: own.workspaceId, role }] });
    member = await join(gateway, 'mia@acme.example', workspaceOf('member'));
    admin = await join(gateway, 'wendy@acme.example', workspaceOf('admin'));
  });
  after(() => gateway.close());

  /** A workspace with one of each. */
  async function makePlace(slug: string): Promise<Place> {
    const workspaceId = await makeWorkspace(gateway, slug);
    const key = await manage(gateway, 'POST', '/keys', { name: `${slug} key`, workspace_id: workspaceId });
    const destination = await manage(gateway, 'POST', '/observability/destinations', {
      name: `${slug} destination`,
      type: 'webhook',
      workspace_id: workspaceId,
      config: { url: 'https://hooks.example/x' },
      skip_test: true,
    });
    assert.equal(destination.status, 201, destination.text);
    const guardrail = await manage(gateway, 'POST', '/guardrails', { name: `${slug} rail`, workspace_id: workspaceId });
    assert.equal(guardrail.status, 201, guardrail.text);
    return {
      workspaceId,
      hash: textAt(dataOf(key), 'hash'),
      destinationId: textAt(dataOf(destination), 'id'),
      guardrailId: textAt(dataOf(guardrail), 'id'),
    };
  }

  const bodies = ({ workspaceId }: Place): Readonly<Record<string, JsonObject>> => ({
    createKey: { name: 'x', workspace_id: workspaceId },
    updateKey: { name: 'y' },
    updateWorkspace: { name: 'z' },
    putWorkspaceBudget: { limit_usd: 1 },
    addWorkspaceMembers: { user_ids: ['somebody'] },
    removeWorkspaceMembers: { user_ids: ['somebody'] },
    updateWorkspaceMember: { role: 'admin' },
    createObservabilityDestination: {
      name: 'another',
      type: 'webhook',
      workspace_id: workspaceId,
      config: { url: 'https://hooks.example/y' },
      skip_test: true,
    },
    updateObservabilityDestination: { name: 'renamed', skip_test: true },
    testGuardrail: { text: 'x' },
    updatePreset: { name: 'x' },
  });

  const NAMES_WORKSPACE = new Set([
    'listKeys',
    'listGuardrails',
    'listObservabilityDestinations',
    'updatePreset',
    'deletePreset',
  ]);

  function call(session: SignedIn, route: ManagementRoute, place: Place): Promise<BrowserReply> {
    const id = /guardrails/.test(route.path)
      ? place.guardrailId
      : /destinations/.test(route.path)
        ? place.destinationId
        : place.workspaceId;
    const values: Readonly<Record<string, string>> = {
      id,
      hash: place.hash,
      interval: 'daily',
      user_id: member.id,
      slug: 'none',
    };
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? name);
    const query = NAMES_WORKSPACE.has(route.operationId) ? `?workspace_id=${place.workspaceId}` : '';
    const body = route.method === 'GET' || route.method === 'DELETE' ? undefined : bodies(place)[route.operationId];
    return session.call(route.method, `/ui/api/v1${path}${query}`, body);
  }

  // @spec people-9
  test('are said by each route, and are those of this list', () => {
    const found = MANAGEMENT_ROUTES.filter(({ users, scope }) => users !== undefined && scope === 'management');
    assert.deepEqual(new Set(found.map(({ operationId }) => operationId)), OF_USERS);
  });

  // @spec people-9
  test('end at every route of operators, before anything else is looked at', async () => {
    const closed = MANAGEMENT_ROUTES.filter(({ users, role }) => users === undefined && role === undefined);
    assert.ok(closed.length > 40);
    const key = await signIn(gateway, { key: API_KEY });
    for (const { method, path } of closed)
      for (const session of [member.session, admin.session, key]) {
        const { status } = await session.call(method, `/ui/api/v1${path.replaceAll(/[{}]/g, '')}`);
        assert.equal(status, 403, `${method} ${path}`);
      }
  });

  // @spec people-9
  test('are none of an API key: its session reaches no route of users', async () => {
    const key = await signIn(gateway, { key: API_KEY });
    for (const route of MANAGEMENT_ROUTES.filter(({ users, role }) => users !== undefined && role === undefined))
      assert.equal((await call(key, route, own)).status, 403, route.operationId);
  });

  // @spec people-9
  test('end at the border of a workspace, where nothing is said of what is behind it', async () => {
    for (const route of MANAGEMENT_ROUTES.filter(isChecked))
      for (const session of [member.session, admin.session]) {
        const { status, text } = await call(session, route, foreign);
        assert.equal(status, 404, `${route.operationId} ${text}`);
        assert.match(text, /does not exist, or belongs to a workspace/, route.operationId);
        assert.ok(!/foreign/.test(text), text);
      }
    const { body } = await manage(gateway, 'GET', `/workspaces/${foreign.workspaceId}/budgets`);
    assert.deepEqual(body['data'], []);
  });

  // @spec people-9, people-11
  test('of a member are to see its workspace, and to do what is with its own keys', async () => {
    const made = await member.session.call('POST', '/ui/api/v1/keys', bodies(own)['createKey']);
    assert.equal(made.status, 201, made.text);
    assert.equal(dataOf(made)['creator_user_id'], member.id);
    const mine = { ...own, hash: textAt(dataOf(made), 'hash') };
    for (const route of MANAGEMENT_ROUTES.filter(isChecked)) {
      const { operationId } = route;
      const { status, text } = await call(member.session, route, own);
      if (OF_MEMBERS.has(operationId)) assert.ok(status < 300, `${operationId} ${text}`);
      else assert.equal(status, 403, `${operationId} ${text}`);
    }
    for (const route of MANAGEMENT_ROUTES.filter(({ operationId }) => OF_OWNERS.has(operationId)).toSorted(byMethod)) {
      const { status, text } = await call(member.session, route, mine);
      assert.equal(status, 200, `${route.operationId} ${text}`);
    }
  });

  // @spec people-9
  test('of a member leave limits, disabled keys and keys of others to admins', async () => {
    const { session } = member;
    const made = await session.call('POST', '/ui/api/v1/keys', { name: 'mine', workspace_id: own.workspaceId });
    const path = `/ui/api/v1/keys/${textAt(dataOf(made), 'hash')}`;
    for (const change of [{ limit: null }, { limit_reset: 'daily' }, { default_plugins: null }, { disabled: false }])
      assert.equal((await session.call('PATCH', path, change)).status, 403, JSON.stringify(change));
    const other = { name: 'x', workspace_id: own.workspaceId, creator_user_id: admin.id };
    assert.equal((await session.call('POST', '/ui/api/v1/keys', other)).status, 403);
    const listed = await session.call(
      'GET',
      `/ui/api/v1/keys?workspace_id=${own.workspaceId}&creator_user_id=${admin.id}`,
    );
    assert.ok((listed.body['data'] as JsonObject[]).every((key) => key['creator_user_id'] === member.id));
    assert.equal((await session.call('PATCH', path, { disabled: true })).status, 200);
  });

  // @spec people-9, people-11
  test('of an admin of a workspace are to do there what the routes of users do, for members alone', async () => {
    const { session } = admin;
    for (const route of MANAGEMENT_ROUTES.filter(isChecked).toSorted(byMethod)) {
      const { status, text } = await call(session, route, own);
      assert.ok(
        status < 300 || PRESETS.test(text) || BUDGET.test(text) || CALL.test(text),
        `${route.operationId} ${status} ${text}`,
      );
    }
    const path = `/ui/api/v1/workspaces/${own.workspaceId}/members/${member.id}`;
    assert.equal((await session.call('PATCH', path, { role: 'member' })).status, 200);
    const place = { workspace_id: own.workspaceId };
    for (const [id, status] of [
      [member.id, 201],
      ['somebody else', 403],
    ] as const)
      assert.equal(
        (await session.call('POST', '/ui/api/v1/keys', { name: 'x', ...place, creator_user_id: id })).status,
        status,
      );
  });

  // @spec people-9
  test('narrow every list: what belongs to other workspaces and other users is on none', async () => {
    const key = await manage(gateway, 'POST', '/keys', { name: 'secret sauce', workspace_id: foreign.workspaceId });
    const chat = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] };
    const used = await gateway.post('/chat/completions', chat, { authorization: `Bearer ${textAt(key.body, 'key')}` });
    const { id } = (await used.json()) as { id: string };
    const clip = { model: 'sandbox/video-stall', prompt: 'ms=1' };
    const begun = await gateway.post('/videos', clip, { authorization: `Bearer ${textAt(key.body, 'key')}` });
    const { id: jobId } = (await begun.json()) as { id: string };
    const query = { metrics: ['request_count'], dimensions: ['workspace'] };
    for (const { session } of [member, admin]) {
      const seen = [
        await session.call('GET', '/ui/api/v1/generations'),
        await session.call('GET', `/ui/api/v1/generations?workspace=${foreign.workspaceId}`),
        await session.call('GET', '/ui/api/v1/generations/export?format=jsonl'),
        await session.call('GET', '/ui/api/v1/workspaces'),
        await session.call('GET', '/ui/api/v1/videos/jobs'),
        await session.call('POST', '/ui/api/v1/analytics/query', query),
        await session.call('POST', '/ui/api/v1/analytics/export', { ...query, include_query: true }),
        await session.call('GET', '/ui/api/v1/observability/destinations'),
        await session.call('GET', '/ui/api/v1/guardrails'),
      ];
      for (const { text } of seen)
        for (const secret of [foreign.workspaceId, id, jobId, 'foreign']) assert.ok(!text.includes(secret), text);
      for (const path of ['/generation', '/generation/content', '/generation/route'])
        assert.equal((await session.call('GET', `/ui/api/v1${path}?id=${id}`)).status, 404, path);
      for (const [method, path] of [
        ['GET', `/videos/jobs/${jobId}/content`],
        ['POST', `/videos/jobs/${jobId}/cancel`],
        ['DELETE', `/videos/jobs/${jobId}`],
      ] as const)
        assert.equal((await session.call(method, `/ui/api/v1${path}`)).status, 404, path);
    }
    assert.equal((await member.session.call('GET', '/ui/api/v1/organization/members')).status, 403);
  });

  // @spec people-9, video-25
  test('are to see and cancel the clips of the own keys and, of an admin, those of the workspace', async () => {
    const begin = async (creator: string): Promise<string> => {
      const key = { name: 'clips', workspace_id: own.workspaceId, creator_user_id: creator };
      const made = await manage(gateway, 'POST', '/keys', key);
      const clip = { model: 'sandbox/video-stall', prompt: 'ms=1' };
      const begun = await gateway.post('/videos', clip, { authorization: `Bearer ${textAt(made.body, 'key')}` });
      return ((await begun.json()) as { id: string }).id;
    };
    const [ofMember, ofAdmin] = [await begin(member.id), await begin(admin.id)];
    const listed = async ({ session }: Colleague) => {
      const { body } = await session.call('GET', '/ui/api/v1/videos/jobs');
      return (body['data'] as JsonObject[]).map(({ id }) => id);
    };
    assert.deepEqual(await listed(member), [ofMember]);
    assert.deepEqual(await listed(admin), [ofAdmin, ofMember]);
    const cancel = async ({ session }: Colleague, id: string) =>
      (await session.call('POST', `/ui/api/v1/videos/jobs/${id}/cancel`)).status;
    assert.equal(await cancel(member, ofAdmin), 403);
    for (const who of [member, admin]) {
      const id = who === member ? ofMember : ofAdmin;
      // It may still be on its way to its provider.
      while ((await cancel(who, id)) === 409)
        if ((await listed(who)).length === 0) assert.fail('it is gone');
        else await new Promise((resolve) => setTimeout(resolve, 50));
      const { body } = await who.session.call('GET', '/ui/api/v1/videos/jobs?status=cancelled');
      assert.ok((body['data'] as JsonObject[]).some((job) => job['id'] === id));
    }
  });

  // @spec people-9, responses-139
  test('are to see and delete responses of the own keys and, of an admin, those of the workspace', async () => {
    const create = async (creator: string, workspaceId = own.workspaceId): Promise<string> => {
      const key = { name: 'responses', workspace_id: workspaceId, creator_user_id: creator };
      const made = await manage(gateway, 'POST', '/keys', key);
      const request = { model: 'sandbox/echo', input: 'a secret' };
      const sent = await gateway.post('/responses', request, { authorization: `Bearer ${textAt(made.body, 'key')}` });
      return ((await sent.json()) as { id: string }).id;
    };
    const [ofMember, ofAdmin] = [await create(member.id), await create(admin.id)];
    const place = `?workspace_id=${own.workspaceId}`;
    const listed = async ({ session }: Colleague) => {
      const { body } = await session.call('GET', `/ui/api/v1/responses/kept${place}`);
      return (body['data'] as JsonObject[]).map(({ id }) => id);
    };
    assert.deepEqual(await listed(member), [ofMember]);
    assert.deepEqual(await listed(admin), [ofAdmin, ofMember]);
    const remove = async ({ session }: Colleague, id: string) =>
      (await session.call('DELETE', `/ui/api/v1/responses/kept/${id}${place}`)).status;
    assert.equal(await remove(member, ofAdmin), 404);
    assert.equal(await remove(member, ofMember), 204);
    assert.equal(await remove(admin, ofAdmin), 204);
    const other = `/ui/api/v1/responses/kept?workspace_id=${foreign.workspaceId}`;
    for (const { session } of [member, admin]) assert.equal((await session.call('GET', other)).status, 404);
  });

  // @spec people-9
  test('are to see what the own keys did and, of an admin, what the workspace did', async () => {
    const chat = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] };
    const place = { 'x-console-workspace': own.workspaceId };
    const asked = await member.session.call('POST', '/ui/api/v1/chat/completions', chat, place);
    assert.equal(asked.status, 200, asked.text);
    const id = textAt(asked.body, 'id');
    for (const { session } of [member, admin]) {
      assert.equal((await session.call('GET', `/ui/api/v1/generation?id=${id}`)).status, 200);
      assert.ok((await session.call('GET', '/ui/api/v1/generations')).text.includes(id));
      const query = { metrics: ['request_count'] };
      const { body, text } = await session.call('POST', '/ui/api/v1/analytics/query', query);
      const [row] = (body['data'] as { data: { request_count: number }[] }).data;
      assert.ok(Number(row?.request_count) > 0, text);
    }
    const elsewhere = { 'x-console-workspace': foreign.workspaceId };
    for (const { session } of [member, admin])
      assert.equal((await session.call('POST', '/ui/api/v1/chat/completions', chat, elsewhere)).status, 404);
  });

  // @spec people-10
  test('are to give an application a key of the own, in the own workspaces, which ends with the user', async () => {
    const leaver = await join(gateway, 'lou@acme.example');
    const code = { callback_url: 'https://app.example/done', key_label: 'Editor' };
    const refused = await leaver.session.call('POST', '/ui/api/v1/auth/keys/code', {
      ...code,
      workspace_id: foreign.workspaceId,
    });
    assert.equal(refused.status, 404, refused.text);
    const issued = await leaver.session.call('POST', '/ui/api/v1/auth/keys/code', code);
    assert.equal(issued.status, 200, issued.text);
    const exchange = async (text: string) =>
      (await fetch(`${gateway.baseUrl}/auth/keys`, { method: 'POST', body: JSON.stringify({ code: text }) })).json();
    const { key, user_id: userId } = (await exchange(textAt(dataOf(issued), 'id'))) as { key: string; user_id: string };
    assert.equal(userId, leaver.id);
    const waiting = await leaver.session.call('POST', '/ui/api/v1/auth/keys/code', code);
    await manage(gateway, 'PATCH', `/organization/members/${leaver.id}`, { disabled: true });
    const answer = await fetch(`${gateway.baseUrl}/key`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(answer.status, 401);
    const late = (await exchange(textAt(dataOf(waiting), 'id'))) as { error: { code: number } };
    assert.equal(late.error.code, 403);
  });

  test('of what is narrowed are these routes alone', () => {
    assert.deepEqual(
      MANAGEMENT_ROUTES.filter(isNarrowed).map(({ operationId }) => operationId),
      [
        'listWorkspaces',
        'listOrganizationMembers',
        'listGenerations',
        'exportGenerations',
        'listRunningGenerations',
        'stopGeneration',
        'getGeneration',
        'getGenerationRoute',
        'listGenerationContent',
        'getAnalyticsMeta',
        'queryAnalytics',
        'exportAnalytics',
        // The same for all: any admin of a workspace chooses among them.
        'listObservabilityDestinationTypes',
        'listKeptResponses',
        'cancelKeptResponse',
        'deleteKeptResponse',
        'listVideoJobs',
      ],
    );
  });
});

/** What deletes comes last. */
function byMethod(one: ManagementRoute, other: ManagementRoute): number {
  return Number(one.method === 'DELETE') - Number(other.method === 'DELETE');
}

/** The route was reached: there is no such preset, no budget, and no such host. */
const PRESETS = /There is no preset|no such preset/i;
const BUDGET = /has no .*budget|no budget|There is no/i;
const CALL = /hooks\.example|could not be reached|does not resolve|lookup/i;
