import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import { manage, textAt } from '../../support/byok.ts';
import { startGateway, type RunningGateway } from '../../support/gateway.ts';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

interface Reply {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Headers;
}

/** What RFC 7643 and RFC 7644 ask of a server, each row by its section. */
suite('the protocol of SCIM, rule by rule', () => {
  let gateway: RunningGateway;
  let token: string;
  let ann: string;
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
    await makeUser('bob@x.example', { externalId: 'b2', active: false });
    team = textAt(
      (await scim('POST', '/Groups', { schemas: [GROUP], displayName: 'Team', members: [{ value: ann }] })).body,
      'id',
    );
  });
  after(() => gateway.close());

  /** Each token has a limit on rates of its own, and five live at once. */
  async function renew(): Promise<void> {
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
});
