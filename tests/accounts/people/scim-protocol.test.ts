import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { isJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import { manage, textAt } from '../../support/byok.ts';
import { startGateway, type RunningGateway } from '../../support/gateway.ts';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';
const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

interface Reply {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Headers;
}

/** What RFC 7643 and RFC 7644 ask of a server, each row by its section. */
suite('the protocol of SCIM, rule by rule', () => {
  let gateway: RunningGateway;
  let token: string;
  let requests = 0;
  let ann: string;
  let bob: string;
  let team: string;
  before(async () => {
    gateway = await startGateway({ yaml: 'organization: { enabled: true }\nscim: { enabled: true }' });
    await renew();
    ann = await makeUser('ann@x.example', {
      externalId: 'A1',
      title: 'Boss',
      name: { givenName: 'Ann', familyName: 'Zed' },
      emails: [
        { value: 'ann@x.example', type: 'work', primary: true },
        { value: 'ann@home.example', type: 'home' },
      ],
      [ENTERPRISE]: { department: 'Eng', manager: { value: 'm1' } },
    });
    bob = await makeUser('bob@x.example', { externalId: 'b2', active: false });
    team = textAt(
      (await scim('POST', '/Groups', { schemas: [GROUP], displayName: 'Team', members: [{ value: ann }] })).body,
      'id',
    );
  });
  after(() => gateway.close());

  /** Each token has a limit on rates of its own, and five live at once. */
  async function renew(): Promise<void> {
    requests = 0;
    const { body } = await manage(gateway, 'GET', '/scim/tokens');
    for (const { id } of body['data'] as { id: string }[]) await manage(gateway, 'DELETE', `/scim/tokens/${id}`);
    token = textAt((await manage(gateway, 'POST', '/scim/tokens', { name: 'x' })).body, 'token');
  }
  async function scim(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    requests++;
    const response = await fetch(`${gateway.url}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed: unknown = text === '' ? {} : JSON.parse(text);
    assert.ok(isJsonObject(parsed), text);
    assert.ok(response.status < 500 || response.status === 501, `${method} ${path} ${text}`);
    if (response.status >= 400) {
      assert.deepEqual([parsed['schemas'], parsed['status']], [[ERROR], String(response.status)]);
      assert.equal(typeof parsed['detail'], 'string');
    }
    return { status: response.status, body: parsed, headers: response.headers };
  }
  async function makeUser(userName: string, more: object = {}): Promise<string> {
    const made = await scim('POST', '/Users', { schemas: [USER], userName, ...more });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.equal(made.headers.get('location'), (made.body['meta'] as JsonObject)['location']);
    return textAt(made.body, 'id');
  }
  const patch = (path: string, ...operations: object[]) =>
    scim('PATCH', path, { schemas: [PATCH], Operations: operations });
  beforeEach(async () => {
    if (requests > 60) await renew();
  });
  const refusal = ({ status, body }: Reply) => [status, body['scimType']];

  // @spec scim-3
  test('brings a deleted user back that comes with another name and the same address', async () => {
    const id = await makeUser('gone@x.example', { externalId: 'G1' });
    assert.equal((await scim('DELETE', `/Users/${id}`)).status, 204);
    const back = await makeUser('gone2', { externalId: 'G2', emails: [{ value: 'GONE@x.example', type: 'work' }] });
    assert.equal(back, id);
    const { body } = await scim('GET', `/Users/${id}`);
    assert.deepEqual([body['userName'], body['externalId'], body['active']], ['gone2', 'G2', true]);
  });

  // @spec scim-6
  test('refuses a filter on members that is not JSON', async () => {
    const path = String.raw`members[value eq "\q"]`;
    assert.deepEqual(refusal(await patch(`/Groups/${team}`, { op: 'remove', path })), [400, 'invalidFilter']);
  });

  const USERS_FOUND: readonly (readonly [filter: string, found: readonly ('ann' | 'bob')[]])[] = [
    ['USERNAME Eq "ANN@x.example"', ['ann']],
    ['externalId eq "a1"', []],
    ['userName sw "ann" and active eq true', ['ann']],
    ['title pr', ['ann']],
    ['name.givenName pr', ['ann']],
    ['name.middleName pr', []],
    ['emails[type eq "home" and value co "ann"]', ['ann']],
    ['emails[type eq "other"].value pr', []],
    ['emails[type eq "home"].display pr', []],
    [`${ENTERPRISE}:department eq "eng"`, ['ann']],
    [`${ENTERPRISE}:manager.value eq "m1"`, ['ann']],
    [`${ENTERPRISE}:department pr`, ['ann']],
    [`${USER}:name.familyName eq "zed"`, ['ann']],
    ['meta.lastModified gt "2020-01-01T00:00:00Z"', ['ann', 'bob']],
    ['meta.lastModified lt "2020-01-01T00:00:00+14:00"', []],
    ['meta.created ge "2020-01-01T00:00:00.000Z" and meta.created LE "2100-01-01T00:00:00Z"', ['ann', 'bob']],
    ['userName gt "b"', ['bob']],
    ['userName le "ann@x.example"', ['ann']],
    ['title gt 5', []],
  ];
  for (const [filter, found] of USERS_FOUND)
    // @spec scim-4
    test(`finds users: ${filter}`, async () => {
      const { status, body } = await scim('GET', `/Users?filter=${encodeURIComponent(filter)}`);
      assert.equal(status, 200, JSON.stringify(body));
      const names = (body['Resources'] as { id: string }[]).map(({ id }) => id);
      assert.deepEqual(
        names.filter((id) => id === ann || id === bob),
        found.map((name) => (name === 'ann' ? ann : bob)),
      );
    });

  const REFUSED_FILTERS: readonly (readonly [kind: 'Users' | 'Groups', filter: string])[] = [
    ['Users', 'userName'],
    ['Users', 'userName eq'],
    ['Users', 'userName eq ann'],
    ['Users', 'userName eq "a" and'],
    ['Users', 'userName like "a"'],
    ['Users', 'emails[type eq "work"'],
    ['Users', String.raw`userName eq "\q"`],
    ['Users', 'active gt true'],
    ['Users', 'title ge null'],
    // They would be answered without a look at them.
    ['Users', 'groups.value eq "x"'],
    ['Groups', 'members pr'],
    ['Groups', 'members.display eq "x"'],
    ['Groups', 'members ne "x"'],
    ['Groups', 'members[value sw "x"]'],
    ['Groups', 'members[value eq "x" and type eq "User"]'],
  ];
  for (const [kind, filter] of REFUSED_FILTERS)
    // @spec scim-4
    test(`refuses a filter of ${kind}: ${filter}`, async () => {
      const reply = await scim('GET', `/${kind}?filter=${encodeURIComponent(filter)}`);
      assert.deepEqual(refusal(reply), [400, 'invalidFilter'], JSON.stringify(reply.body));
    });

  // @spec scim-4
  test('finds groups by all the members that a filter names', async () => {
    const total = async (filter: string) =>
      (await scim('GET', `/Groups?filter=${encodeURIComponent(filter)}`)).body['totalResults'];
    assert.equal(await total(`members eq "${ann}"`), 1);
    assert.equal(await total(`members eq "${ann}" and members[value eq "${bob}"]`), 0);
    assert.equal(await total(`members.value eq "${ann}" and displayName sw "T"`), 1);
    assert.equal(await total('meta.lastModified gt "2020-01-01T00:00:00Z"'), 1);
  });

  const CORE_MEMBERS = ['id', 'schemas'];
  const PROJECTIONS: readonly (readonly [query: string, has: readonly string[], hasNot: readonly string[]])[] = [
    ['attributes=USERNAME', ['userName'], ['name', 'emails', 'externalId', 'active', 'meta', ENTERPRISE]],
    [`attributes=${USER}:userName, title`, ['userName', 'title'], ['name', 'meta']],
    ['attributes=name.givenName', ['name'], ['userName', 'emails']],
    [`attributes=${ENTERPRISE}:department`, [ENTERPRISE], ['userName']],
    [`attributes=${ENTERPRISE}`, [ENTERPRISE], ['userName']],
    ['attributes=shoeSize', [], ['userName', 'name']],
    ['attributes=', ['userName', 'name', 'emails', 'meta'], []],
    ['excludedAttributes=emails,NAME', ['userName', 'externalId', 'meta'], ['emails', 'name']],
    ['excludedAttributes=id,schemas', ['userName'], []],
    ['excludedAttributes=name.familyName', ['name', 'userName'], []],
    [`excludedAttributes=${ENTERPRISE}:department`, [ENTERPRISE], []],
  ];
  for (const [query, has, hasNot] of PROJECTIONS)
    // @spec scim-17
    test(`shows the attributes that are wanted: ${query}`, async () => {
      const { body } = await scim('GET', `/Users/${ann}?${encodeURI(query)}`);
      for (const name of [...CORE_MEMBERS, ...has]) assert.ok(name in body, `${name} is missing`);
      for (const name of hasNot) assert.ok(!(name in body), `${name} is there`);
      const listed = await scim('GET', `/Users?filter=id eq "${ann}"&${encodeURI(query)}`);
      assert.deepEqual(listed.body['Resources'], [body]);
    });

  // @spec scim-17
  test('shows parts of attributes, of lists too, and in answers to changes', async () => {
    const shown = async (query: string) => (await scim('GET', `/Users/${ann}?${query}`)).body;
    assert.deepEqual((await shown('attributes=name.givenName,emails.value'))['name'], { givenName: 'Ann' });
    assert.deepEqual((await shown('attributes=emails.type'))['emails'], [{ type: 'work' }, { type: 'home' }]);
    assert.deepEqual((await shown('excludedAttributes=name.familyName'))['name'], { givenName: 'Ann' });
    assert.deepEqual((await shown(`excludedAttributes=${ENTERPRISE}:manager.value`))[ENTERPRISE], {
      department: 'Eng',
    });
    const operations = { schemas: [PATCH], Operations: [{ op: 'replace', path: 'title', value: 'Boss' }] };
    const patched = await scim('PATCH', `/Users/${ann}?attributes=title`, operations);
    assert.deepEqual(Object.keys(patched.body).toSorted(), ['id', 'schemas', 'title']);
    assert.match(patched.headers.get('etag') ?? '', /^W\/"\d+"$/);
    const made = await scim('POST', '/Users?attributes=userName', { schemas: [USER], userName: 'cut@x.example' });
    assert.deepEqual(Object.keys(made.body).toSorted(), ['id', 'schemas', 'userName']);
    assert.match(made.headers.get('location') ?? '', /\/scim\/v2\/Users\/[\w-]+$/);
    const group = await scim('GET', `/Groups/${team}?attributes=displayName`);
    assert.deepEqual(Object.keys(group.body).toSorted(), ['displayName', 'id', 'schemas']);
    const { body } = await scim('GET', `/Groups/${team}?attributes=members.value`);
    assert.deepEqual(body['members'], [{ value: ann }]);
  });

  const PAGES: readonly (readonly [query: string, startIndex: number, items: 'none' | 'one' | 'all'])[] = [
    ['startIndex=0', 1, 'all'],
    ['startIndex=-5', 1, 'all'],
    ['startIndex=2&count=1', 2, 'one'],
    ['startIndex=9999', 9999, 'none'],
    ['count=0', 1, 'none'],
    ['count=-1', 1, 'none'],
    ['count=9999', 1, 'all'],
    ['sortBy=userName&sortOrder=descending', 1, 'all'],
  ];
  for (const [query, startIndex, items] of PAGES)
    // @spec scim-4
    test(`counts pages by whole numbers: ${query}`, async () => {
      const { status, body } = await scim('GET', `/Users?${query}`);
      const { schemas, totalResults, itemsPerPage, Resources } = body;
      assert.deepEqual([status, schemas, body['startIndex']], [200, [LIST], startIndex]);
      assert.ok(Number.isInteger(totalResults) && Number(totalResults) >= 2);
      assert.equal(itemsPerPage, items === 'none' ? 0 : items === 'one' ? 1 : totalResults);
      assert.equal((Resources as object[]).length, itemsPerPage);
    });

  // @spec scim-1
  test('says what it can do, each part under its own address, and takes no filter there', async () => {
    const { body: config } = await scim('GET', '/ServiceProviderConfig');
    const supported = (name: string) => (config[name] as JsonObject)['supported'];
    assert.deepEqual(['patch', 'bulk', 'filter', 'changePassword', 'sort', 'etag'].map(supported), [
      true,
      false,
      true,
      false,
      false,
      true,
    ]);
    assert.equal((config['authenticationSchemes'] as JsonObject[])[0]?.['type'], 'oauthbearertoken');
    for (const path of ['/Schemas', '/ResourceTypes']) {
      const { body } = await scim('GET', path);
      const all = body['Resources'] as JsonObject[];
      assert.deepEqual([body['schemas'], body['totalResults']], [[LIST], all.length]);
      for (const each of all) {
        const { location, resourceType } = each['meta'] as { location: string; resourceType: string };
        assert.equal(resourceType, path === '/Schemas' ? 'Schema' : 'ResourceType');
        const own = await scim('GET', location.replace(/^.*\/scim\/v2/, ''));
        assert.deepEqual(own.body, each);
      }
      assert.deepEqual(refusal(await scim('GET', `${path}?filter=id eq "User"`)), [403, undefined]);
    }
    assert.equal((await scim('GET', '/ServiceProviderConfig/x')).status, 404);
  });

  // @spec scim-1
  test('has the attributes that its schemas name, and no value for those that are read only', async () => {
    const { body } = await scim('GET', `/Schemas/${USER}`);
    const id = await makeUser('schema@x.example');
    for (const { name, type, multiValued, mutability } of body['attributes'] as JsonObject[]) {
      const path = typeof name === 'string' ? name : '';
      const plain = type === 'boolean' ? true : path === 'userName' ? 'schema@x.example' : 'text';
      const value = type !== 'complex' ? plain : multiValued ? [{ value: 'v', type: 'work' }] : { formatted: 'x' };
      const reply = await patch(`/Users/${id}`, { op: 'replace', path, value });
      if (mutability === 'readOnly') assert.deepEqual(refusal(reply), [400, 'mutability'], path);
      else assert.deepEqual([reply.status, reply.body[path]], [200, value], path);
    }
  });

  const METHODS: readonly (readonly [method: string, path: string, status: number, allow: string | null])[] = [
    ['DELETE', '/Users', 405, 'GET, POST'],
    ['PUT', '/Groups', 405, 'GET, POST'],
    ['POST', '/Users/1', 405, 'GET, PUT, PATCH, DELETE'],
    ['POST', '/Schemas', 405, 'GET'],
    ['PUT', '/ServiceProviderConfig', 405, 'GET'],
    ['POST', '/Bulk', 501, null],
    ['GET', '/Me', 501, null],
    ['GET', '/nothing', 404, null],
    ['GET', '/Users/1/2', 404, null],
  ];
  for (const [method, path, status, allow] of METHODS)
    // @spec scim-1
    test(`answers ${method} ${path} with ${status}`, async () => {
      const reply = await scim(method, path, method === 'GET' ? undefined : {});
      assert.deepEqual([reply.status, reply.headers.get('allow')], [status, allow]);
    });

  // @spec scim-3
  test('compares versions weakly, in lists and with a star', async () => {
    const { headers } = await scim('GET', `/Users/${bob}`);
    const tag = headers.get('etag') ?? '';
    for (const [known, status] of [
      [tag, 304],
      [`W/"99", ${tag}`, 304],
      [tag.replace('W/', ''), 304],
      ['*', 304],
      ['W/"99"', 200],
    ] as const) {
      const reply = await scim('GET', `/Users/${bob}`, undefined, { 'if-none-match': known });
      assert.deepEqual([reply.status, reply.headers.get('etag')], [status, tag], known);
    }
    const nothing = { schemas: [PATCH], Operations: [] };
    for (const [wanted, status] of [
      [`W/"99", ${tag}`, 200],
      ['*', 200],
      ['W/"99"', 412],
    ] as const)
      assert.equal((await scim('PATCH', `/Users/${bob}`, nothing, { 'if-match': wanted })).status, status, wanted);
  });

  // @spec scim-5, scim-18
  test('knows attributes whatever their case, in bodies and in paths', async () => {
    const id = await makeUser('case@x.example', {
      DISPLAYNAME: 'Cas',
      Name: { GivenName: 'C' },
      [ENTERPRISE.toLowerCase()]: { department: 'Eng' },
    });
    const { body: made } = await scim('GET', `/Users/${id}`);
    assert.deepEqual(
      [made['displayName'], made['name'], made[ENTERPRISE]],
      ['Cas', { givenName: 'C' }, { department: 'Eng' }],
    );
    const { body } = await patch(
      `/Users/${id}`,
      { op: 'replace', path: 'NAME.GIVENNAME', value: 'D' },
      { op: 'add', path: 'EMAILS[Type eq "work"].VALUE', value: 'case@x.example' },
      { op: 'replace', path: 'emails[type eq "work"].Display', value: 'Cas' },
      { op: 'replace', path: `${ENTERPRISE}:DEPARTMENT`, value: 'Ops' },
      { op: 'replace', value: { 'Name.FamilyName': 'E', NickName: 'Cc' } },
    );
    assert.deepEqual(
      [body['name'], body['emails'], body[ENTERPRISE], body['nickName']],
      [
        { givenName: 'D', familyName: 'E' },
        [{ type: 'work', value: 'case@x.example', display: 'Cas' }],
        { department: 'Ops' },
        'Cc',
      ],
    );
  });

  const BAD_BODIES: readonly (readonly [what: string, more: object])[] = [
    ['a list as a number', { emails: 7 }],
    ['a list of texts in a list', { emails: [['x']] }],
    ['a text as an object', { displayName: { a: 1 } }],
    ['an object as a text', { name: 'Ann' }],
    ['an extension as a text', { [ENTERPRISE]: 'x' }],
    ['too many addresses', { emails: Array.from({ length: 11 }, (_, at) => ({ value: `${at}@x.example` })) }],
    ['a long name', { displayName: 'x'.repeat(201) }],
    ['a long part of a name', { name: { givenName: 'x'.repeat(201) } }],
    ['a wrong boolean', { active: 'maybe' }],
    ['a number as external id', { externalId: 7 }],
  ];
  for (const [what, more] of BAD_BODIES)
    // @spec scim-18
    test(`refuses ${what}, in POST, in PUT and in PATCH`, async () => {
      const body = { schemas: [USER], userName: 'bob@x.example', ...more };
      const fresh = { ...body, userName: 'bad@x.example' };
      assert.deepEqual(refusal(await scim('POST', '/Users', fresh)), [400, 'invalidValue']);
      assert.deepEqual(refusal(await scim('PUT', `/Users/${bob}`, body)), [400, 'invalidValue']);
      assert.deepEqual(refusal(await patch(`/Users/${bob}`, { op: 'replace', value: more })), [400, 'invalidValue']);
    });

  const REFUSED_PATHS: readonly (readonly [path: string, scimType: string])[] = [
    ['title[type eq "x"]', 'invalidPath'],
    ['title.sub', 'invalidPath'],
    ['emails[', 'invalidPath'],
    ['emails[type eq].value', 'invalidFilter'],
    ['emails[type eq "none"].value', 'noTarget'],
    ['name[type eq "x"].givenName', 'invalidPath'],
    ['name.givenName.x', 'invalidPath'],
    [`${ENTERPRISE}:`, 'invalidPath'],
    ['__proto__', 'invalidPath'],
    ['meta.version', 'mutability'],
    ['groups[value eq "x"]', 'mutability'],
    ['groups', 'mutability'],
    ['password', 'mutability'],
  ];
  for (const [path, scimType] of REFUSED_PATHS)
    // @spec scim-5
    test(`refuses PATCH of ${path}`, async () => {
      assert.deepEqual(refusal(await patch(`/Users/${bob}`, { op: 'replace', path, value: 'x' })), [400, scimType]);
    });

  // @spec scim-5
  test('counts a change to the same as none', async () => {
    const known = await scim('GET', `/Users/${ann}`);
    const same = await patch(
      `/Users/${ann}`,
      { op: 'replace', path: 'title', value: 'Boss' },
      { op: 'add', path: 'emails', value: [{ value: 'ann@home.example', type: 'home' }] },
      { op: 'remove', path: 'emails[type eq "gone"]' },
      { op: 'remove', path: `${ENTERPRISE}:costCenter` },
      { op: 'remove', path: 'name.middleName' },
    );
    assert.deepEqual(same.body, known.body);
  });
});
