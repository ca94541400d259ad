import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import { manage, textAt } from '../../support/byok.ts';
import { dataOf, join, makeWorkspace } from '../../support/http/people-client.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../../support/gateway.ts';

const YAML = 'organization: { enabled: true }\nscim: { enabled: true, admin_group: platform }';
const CORE = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

interface Reply {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Headers;
}

suite('an identity provider that pushes users and groups', () => {
  let gateway: RunningGateway;
  let token: string;
  before(async () => {
    gateway = await startGateway({ yaml: YAML });
    await join(gateway, 'root@acme.example', { role: 'org:admin' });
    const made = await manage(gateway, 'POST', '/scim/tokens', { name: 'Entra' });
    assert.equal(made.status, 201, made.text);
    token = textAt(made.body, 'token');
    assert.match(token, /^scim-[\w-]{43}$/);
  });
  after(() => gateway.close());

  async function scim(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const response = await fetch(`${gateway.url}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed: unknown = text === '' ? {} : JSON.parse(text);
    assert.ok(isJsonObject(parsed), text);
    assert.ok(response.status < 500 || response.status === 501, `${method} ${path} ${text}`);
    return { status: response.status, body: parsed, headers: response.headers };
  }
  const patch = (path: string, ...operations: object[]) =>
    scim('PATCH', path, { schemas: [PATCH], Operations: operations });
  async function makeUser(name: string, more: object = {}): Promise<string> {
    const body = {
      schemas: [CORE],
      userName: `${name}@acme.example`,
      externalId: `ext-${name}`,
      active: true,
      ...more,
    };
    const { status, body: made } = await scim('POST', '/Users', body);
    assert.equal(status, 201, JSON.stringify(made));
    return textAt(made, 'id');
  }
  async function makeGroup(displayName: string, members: readonly string[] = []): Promise<string> {
    const { status, body } = await scim('POST', '/Groups', {
      schemas: [
        'urn:ietf:params:scim:schemas:core:2.0:Group',
        'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group',
      ],
      externalId: `ext-${displayName}`,
      displayName,
      meta: { resourceType: 'Group' },
      members: members.map((value) => ({ value })),
    });
    assert.equal(status, 201, JSON.stringify(body));
    return textAt(body, 'id');
  }
  async function membersOf(group: string): Promise<readonly string[]> {
    const { body } = await scim('GET', `/Groups/${group}`);
    return (body['members'] as { value: string }[]).map(({ value }) => value).toSorted();
  }

  // @spec scim-1, scim-2
  test('needs a token of its own, and is refused in the words of the protocol', async () => {
    for (const authorization of [
      '',
      `Bearer ${MANAGEMENT_KEY}`,
      `Bearer ${API_KEY}`,
      `Bearer scim-${'x'.repeat(43)}`,
      'Basic eDp5',
    ]) {
      const { status, body, headers } = await scim('GET', '/Users', undefined, { authorization });
      assert.equal(status, 401);
      assert.deepEqual([body['schemas'], body['status']], [['urn:ietf:params:scim:api:messages:2.0:Error'], '401']);
      assert.match(headers.get('content-type') ?? '', /^application\/scim\+json/);
    }
    assert.equal(
      (await fetch(`${gateway.baseUrl}/keys`, { headers: { authorization: `Bearer ${token}` } })).status,
      401,
    );
    for (const path of [
      '/ServiceProviderConfig',
      '/ResourceTypes',
      '/Schemas',
      `/Schemas/${CORE}`,
      '/ResourceTypes/User',
    ])
      assert.equal((await scim('GET', path)).status, 200, path);
    assert.equal((await scim('POST', '/Bulk', {})).status, 501);
    for (let each = 0; each < 4; each++) await manage(gateway, 'POST', '/scim/tokens', { name: 'more' });
    assert.equal((await manage(gateway, 'POST', '/scim/tokens', { name: 'too many' })).status, 409);
    const { body } = await manage(gateway, 'GET', '/scim/tokens');
    const spare = (body['data'] as { id: string; name: string }[]).find(({ name }) => name === 'more');
    assert.equal((await manage(gateway, 'DELETE', `/scim/tokens/${spare?.id}`)).status, 200);
  });

  // @spec scim-3, scim-4
  test('finds users as Entra ID and Okta look for them, inactive ones too, and nothing is an empty list', async () => {
    const id = await makeUser('finn', {
      active: false,
      emails: [{ value: 'finn.work@acme.example', type: 'work', primary: true }],
    });
    for (const query of [
      '?filter=userName%20eq%20%22FINN%40acme.example%22&startIndex=1&count=100',
      '?aadOptscim062020&filter=externalId eq "ext-finn"',
      `?filter=id eq "${id}" and active eq False`,
      '?filter=emails[type eq "work"].value eq "finn.work@acme.example"',
      `?filter=${CORE}:userName sw "finn"`,
    ]) {
      const { body } = await scim('GET', `/Users${query}`);
      assert.equal(body['totalResults'], 1, query);
      const [user] = body['Resources'] as JsonObject[];
      assert.deepEqual([user?.['id'], user?.['active']], [id, false]);
    }
    const none = await scim('GET', '?aadOptscim062020/Users?filter=userName eq "nobody"');
    assert.deepEqual([none.status, none.body['totalResults'], none.body['Resources']], [200, 0, []]);
    const counted = await scim('GET', '/Users?count=0');
    assert.deepEqual([counted.body['itemsPerPage'], counted.body['totalResults']], [0, 1]);
    for (const filter of [
      'userName or x',
      'userName eq',
      '(userName eq "x")',
      'userName eq "x" or active eq true',
      'x'.repeat(3_000),
    ]) {
      const { status, body } = await scim('GET', `/Users?filter=${encodeURIComponent(filter)}`);
      assert.deepEqual([status, body['scimType']], [400, 'invalidFilter'], filter);
    }
    // People that the provider did not make are none of its business.
    assert.equal((await scim('GET', '/Users?filter=userName eq "root@acme.example"')).body['totalResults'], 0);
  });

  // @spec scim-5
  test('changes users by each form of PATCH that is really sent', async () => {
    const id = await makeUser('pat', { name: { givenName: 'Pat', familyName: 'Old' } });
    const path = `/Users/${id}`;
    const active = async (...operations: object[]) => (await patch(path, ...operations)).body['active'];
    assert.equal(await active({ op: 'Replace', path: 'active', value: 'False' }), false);
    assert.equal(await active({ op: 'replace', path: 'active', value: true }), true);
    assert.equal(await active({ op: 'replace', value: { active: false } }), false);
    assert.equal(await active({ op: 'Add', path: `${CORE}:Active`, value: 'TRUE' }), true);
    const wrong = await patch(path, { op: 'replace', path: 'active', value: 'maybe' });
    assert.deepEqual([wrong.status, wrong.body['scimType']], [400, 'invalidValue']);
    const { body: dotted } = await patch(path, {
      op: 'replace',
      value: {
        displayName: 'Pat N',
        'name.familyName': 'New',
        [`${ENTERPRISE}:employeeNumber`]: '7',
        shoeSize: 44,
        id,
      },
    });
    assert.deepEqual([dotted['displayName'], dotted['name']], ['Pat N', { givenName: 'Pat', familyName: 'New' }]);
    assert.deepEqual(dotted[ENTERPRISE], { employeeNumber: '7' });
    for (const value of ['a@acme.example', 'b@acme.example']) {
      const { body } = await patch(path, { op: 'Add', path: 'emails[type eq "work"].value', value });
      assert.deepEqual(body['emails'], [{ type: 'work', value }]);
    }
    const { body: managed } = await patch(path, { op: 'Add', path: `${ENTERPRISE}:manager`, value: 'boss' });
    assert.deepEqual((managed[ENTERPRISE] as JsonObject)['manager'], { value: 'boss' });
    for (const [operation, scimType] of [
      [{ op: 'replace', path: 'shoeSize', value: 1 }, 'invalidPath'],
      [{ op: 'replace', path: 'id', value: 'x' }, 'mutability'],
      [{ op: 'replace', value: { id: 'x' } }, 'mutability'],
      [{ op: 'replace', path: 'emails[type eq "home"].value', value: 'x' }, 'noTarget'],
      [{ op: 'move', path: 'x' }, 'invalidSyntax'],
    ] as const)
      assert.equal((await patch(path, operation)).body['scimType'], scimType, JSON.stringify(operation));
    const half = await patch(
      path,
      { op: 'replace', path: 'title', value: 'X' },
      { op: 'replace', path: 'nothing', value: 1 },
    );
    assert.equal(half.status, 400);
    assert.equal((await scim('GET', path)).body['title'], undefined);
  });

  // @spec scim-3
  test('replaces a user by PUT, keeps `active` where it is absent, and knows versions', async () => {
    const id = await makeUser('put', { title: 'Old', active: false });
    const { body, headers } = await scim('PUT', `/Users/${id}`, {
      schemas: [CORE],
      id,
      userName: 'put@acme.example',
      password: 'secret',
      meta: {},
      groups: [],
    });
    assert.deepEqual(
      [body['active'], body['title'], body['externalId'], body['password']],
      [false, undefined, undefined, undefined],
    );
    const tag = headers.get('etag') ?? '';
    assert.equal((await scim('GET', `/Users/${id}`, undefined, { 'if-none-match': tag })).status, 304);
    assert.equal((await scim('PUT', `/Users/${id}`, body, { 'if-match': 'W/"99"' })).status, 412);
    assert.equal((await scim('PUT', `/Users/${id}`, body, { 'if-match': tag })).headers.get('etag'), tag);
    const taken = await scim('POST', '/Users', { userName: 'PUT@acme.example' });
    assert.deepEqual([taken.status, taken.body['scimType']], [409, 'uniqueness']);
    for (const wrong of [{}, { userName: 7 }, []]) assert.equal((await scim('POST', '/Users', wrong)).status, 400);
  });

  // @spec scim-6
  test('changes groups by each form of PATCH, one removal at a time', async () => {
    const [a, b, c] = [await makeUser('ga'), await makeUser('gb'), await makeUser('gc')];
    const group = await makeGroup('ml-team', [a]);
    const path = `/Groups/${group}`;
    const changed = await patch(path, { op: 'Add', path: 'members', value: [{ $ref: null, value: b }, { value: a }] });
    assert.equal(changed.status, 204);
    assert.deepEqual(await membersOf(group), [a, b].toSorted());
    await patch(path, { op: 'Remove', path: 'members', value: [{ value: a }] });
    assert.deepEqual(await membersOf(group), [b]);
    await patch(
      path,
      { op: 'remove', path: `members[value eq "${b}"]` },
      { op: 'add', path: 'members', value: [{ value: c, display: 'c' }] },
    );
    assert.deepEqual(await membersOf(group), [c]);
    assert.equal((await patch(path, { op: 'remove', path: `members[value eq "${b}"]` })).status, 204);
    const empty = await patch(path, { op: 'Remove', path: 'members' });
    assert.deepEqual([empty.status, empty.body['scimType']], [400, 'noTarget']);
    await patch(path, { op: 'replace', value: { members: [{ value: a }, { value: b }] } });
    assert.deepEqual(await membersOf(group), [a, b].toSorted());
    const shown = await scim('PATCH', `${path}?attributes=displayName`, {
      Operations: [{ op: 'replace', value: { id: group, displayName: 'ML' } }],
    });
    assert.deepEqual([shown.status, shown.body['displayName']], [200, 'ML']);
    const unknown = await patch(path, { op: 'add', path: 'members', value: [{ value: 'stranger' }] });
    assert.deepEqual([unknown.status, unknown.body['scimType']], [400, 'invalidValue']);
    for (const query of [
      `filter=id eq "${group}" and members eq "${a}"`,
      `filter=members[value eq "${a}"]`,
      'excludedAttributes=members&filter=displayName eq "ml"',
    ])
      assert.equal((await scim('GET', `/Groups?${query}`)).body['totalResults'], 1, query);
    const without = await scim('GET', '/Groups?excludedAttributes=members');
    assert.ok((without.body['Resources'] as JsonObject[]).every((each) => each['members'] === undefined));
    const both = await Promise.all([
      patch(path, { op: 'add', path: 'members', value: [{ value: c }] }),
      patch(path, { op: 'remove', path: 'members', value: [{ value: a }] }),
    ]);
    assert.deepEqual(
      both.map(({ status }) => status),
      [204, 204],
    );
    assert.deepEqual(await membersOf(group), [b, c].toSorted());
  });

  // @spec scim-7, people-4
  test('ends keys and sessions at once with a user that is not active or gone, and brings it back under its id', async () => {
    const adopted = await join(gateway, 'ada@acme.example');
    const made = await adopted.session.call('POST', '/ui/api/v1/keys', { name: 'laptop' });
    const key = textAt(made.body, 'key');
    const statusOf = async () =>
      (await fetch(`${gateway.baseUrl}/key`, { headers: { authorization: `Bearer ${key}` } })).status;
    const id = await makeUser('ada');
    assert.equal(id, adopted.id);
    assert.equal(await statusOf(), 200);
    await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' });
    assert.equal(await statusOf(), 401);
    assert.equal((await adopted.session.call('GET', '/ui/api/session')).status, 401);
    await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true });
    assert.equal(await statusOf(), 401);
    assert.equal((await scim('DELETE', `/Users/${id}`)).status, 204);
    assert.equal((await scim('GET', `/Users/${id}`)).status, 404);
    assert.equal(await makeUser('ada'), id);
  });

  // @spec scim-7
  test('leaves a user disabled that an admin disabled, whatever the provider sends', async (t) => {
    // Each token has its own limit on rates, and the one of this suite is nearly used up.
    const ofSuite = token;
    t.after(() => {
      token = ofSuite;
    });
    token = textAt((await manage(gateway, 'POST', '/scim/tokens', { name: 'Okta' })).body, 'token');
    const id = await makeUser('locked');
    const disable = (disabled: boolean) => manage(gateway, 'PATCH', `/organization/members/${id}`, { disabled });
    const activate = () => patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true });
    // The lock of an admin outlives what the provider does before it and after it.
    await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    assert.equal((await disable(true)).status, 200);
    await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    const refused = await activate();
    assert.equal(refused.status, 403);
    assert.match(JSON.stringify(refused.body), /an admin of the gateway disabled this user/);
    const renamed = await scim('PUT', `/Users/${id}`, {
      schemas: [CORE],
      userName: 'renamed@acme.example',
      active: true,
    });
    assert.equal(renamed.status, 403);
    const { body } = await scim('GET', `/Users/${id}`);
    assert.deepEqual([body['active'], body['userName']], [false, 'locked@acme.example'], 'nothing of it is stored');
    // Deleted and pushed again, it comes back as it was.
    assert.equal((await scim('DELETE', `/Users/${id}`)).status, 204);
    const again = { schemas: [CORE], userName: 'locked@acme.example', externalId: 'ext-locked', active: true };
    assert.equal((await scim('POST', '/Users', again)).status, 403);
    assert.equal((await disable(false)).status, 200);
    assert.equal(await makeUser('locked'), id);
    await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    assert.equal((await activate()).status, 200);
  });

  // @spec scim-3
  test('gives no user the external id of another one', async () => {
    const [one] = [await makeUser('twin-one'), await makeUser('twin-two')];
    const taken = await patch(`/Users/${one}`, { op: 'replace', path: 'externalId', value: 'ext-twin-two' });
    assert.deepEqual([taken.status, taken.body['scimType']], [409, 'uniqueness']);
    assert.equal((await patch(`/Users/${one}`, { op: 'replace', path: 'externalId', value: 'ext-own' })).status, 200);
  });

  // @spec scim-10
  test('makes a new user of one that was removed here, and writes nothing into what is left of the old one', async () => {
    const id = await makeUser('removed', { name: { givenName: 'Rae' } });
    const gone = await manage(gateway, 'DELETE', `/organization/members/${id}`);
    assert.equal(gone.status, 200, gone.text);
    assert.equal((await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true })).status, 404);
    const again = await makeUser('removed');
    assert.notEqual(again, id);
    assert.equal((await scim('GET', `/Users/${again}`)).status, 200);

    await scim('DELETE', `/Users/${again}`);
    await manage(gateway, 'DELETE', `/organization/members/${again}`);
    const third = await makeUser('removed');
    assert.equal((await patch(`/Users/${third}`, { op: 'replace', path: 'active', value: false })).status, 200);
    const { body } = await manage(gateway, 'GET', '/organization/members?limit=100');
    const users = (body['data'] as JsonObject[]).filter(({ email }) => email === 'removed@acme.example');
    assert.deepEqual(
      users.map(({ id: own, state }) => [own, state]),
      [[third, 'disabled']],
    );
  });

  // @spec scim-8
  test('gives and takes workspaces by the groups that are mapped, and leaves what people gave', async () => {
    const [one, two] = [await makeWorkspace(gateway, 'one'), await makeWorkspace(gateway, 'two')];
    const [u, v] = [await makeUser('mu'), await makeUser('mv')];
    const [group, other] = [await makeGroup('g1', [u]), await makeGroup('g2', [u])];
    const map = (scim_group_id: string, workspace_id: string, role: string) =>
      manage(gateway, 'POST', '/scim/group-mappings', { scim_group_id, workspace_id, role });
    const rolesIn = async (workspace: string) => {
      const { body } = await manage(gateway, 'GET', `/workspaces/${workspace}/members`);
      return (body['data'] as { user_id: string; role: string }[]).map(({ user_id: id, role }) => [id, role]);
    };
    const first = await map(group, 'one', 'member');
    assert.equal(first.status, 201, first.text);
    assert.equal((await map(group, one, 'admin')).status, 409);
    assert.equal((await map('unknown', one, 'admin')).status, 404);
    const second = await map(other, one, 'admin');
    assert.deepEqual(await rolesIn(one), [[u, 'admin']]);
    await patch(`/Groups/${other}`, { op: 'remove', path: `members[value eq "${u}"]` });
    assert.deepEqual(await rolesIn(one), [[u, 'member']]);
    await patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: v }] });
    assert.equal((await rolesIn(one)).length, 2);
    await patch(`/Users/${v}`, { op: 'replace', path: 'active', value: false });
    assert.deepEqual(await rolesIn(one), [[u, 'member']]);
    const removed = await manage(gateway, 'POST', `/workspaces/one/members/remove`, { user_ids: [u] });
    assert.equal(removed.status, 400, removed.text);
    await manage(gateway, 'POST', '/workspaces/two/members/add', { user_ids: [u] });
    const third = await map(group, two, 'admin');
    assert.deepEqual(await rolesIn(two), [[u, 'admin']]);
    const paths = [first, second, third].map((reply) => `/scim/group-mappings/${textAt(dataOf(reply), 'id')}`);
    assert.equal((await manage(gateway, 'DELETE', paths[2] ?? '')).status, 400);
    assert.equal((await manage(gateway, 'DELETE', `${paths[2]}?keep_members=false`)).status, 200);
    assert.deepEqual(await rolesIn(two), [[u, 'member']]);
    assert.equal((await manage(gateway, 'PATCH', paths[0] ?? '', { role: 'admin' })).status, 200);
    assert.equal((await manage(gateway, 'DELETE', `${paths[0]}?keep_members=true`)).status, 200);
    assert.deepEqual(await rolesIn(one), [[u, 'admin']]);
    assert.equal((await manage(gateway, 'GET', '/scim/groups')).status, 200);
  });

  // @spec scim-9
  test('makes the members of the group of admins admins, and never takes the last one', async (t) => {
    const own = await startGateway({ yaml: YAML });
    t.after(() => own.close());
    const secret = textAt((await manage(own, 'POST', '/scim/tokens', { name: 'x' })).body, 'token');
    const call = async (method: string, path: string, body: unknown) =>
      (
        await fetch(`${own.url}/scim/v2${path}`, {
          method,
          headers: { authorization: `Bearer ${secret}` },
          body: JSON.stringify(body),
        })
      ).json() as Promise<JsonObject>;
    const ids = [];
    for (const name of ['a1', 'a2'])
      ids.push(textAt(await call('POST', '/Users', { userName: `${name}@acme.example` }), 'id'));
    const group = textAt(
      await call('POST', '/Groups', { displayName: 'platform', members: ids.map((value) => ({ value })) }),
      'id',
    );
    const roles = async () => {
      const { body } = await manage(own, 'GET', '/organization/members');
      return (body['data'] as { role: string }[]).map(({ role }) => role).toSorted();
    };
    assert.deepEqual(await roles(), ['org:admin', 'org:admin']);
    const operations = [{ op: 'replace', path: 'members', value: [] }];
    await fetch(`${own.url}/scim/v2/Groups/${group}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify({ Operations: operations }),
    });
    assert.deepEqual(await roles(), ['org:admin', 'org:member']);
  });

  // @spec scim-1
  test('is off without the configuration, and says what turns it on', async (t) => {
    const own = await startGateway({ yaml: 'scim: { enabled: true }' });
    t.after(() => own.close());
    assert.equal((await fetch(`${own.url}/scim/v2/Users`)).status, 404);
    const { status, text } = await manage(own, 'GET', '/scim/groups');
    assert.equal(status, 404);
    assert.match(text, /scim: \{ enabled: true \}/);
  });
});
