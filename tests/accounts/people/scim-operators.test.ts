import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { manage, textAt } from '../../support/byok.ts';
import { join } from '../../support/http/people-client.ts';
import { startGateway, type RunningGateway } from '../../support/gateway.ts';

const YAML =
  'organization: { enabled: true }\nscim: { enabled: true, admin_group: platform }\nserver: { public_url: "https://gateway.example" }';

suite('what operators see of an identity provider', () => {
  let gateway: RunningGateway;
  let token: string;
  before(async () => {
    gateway = await startGateway({ yaml: YAML });
    await join(gateway, 'root@acme.example', { role: 'org:admin' });
    token = textAt((await manage(gateway, 'POST', '/scim/tokens', { name: 'Entra' })).body, 'token');
  });
  after(() => gateway.close());
  const scim = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${gateway.url}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const push = async (name: string): Promise<string> => {
    const made = await scim('POST', '/Users', { userName: `${name}@acme.example`, schemas: [] });
    assert.equal(made.status, 201, await made.clone().text());
    return ((await made.json()) as { id: string }).id;
  };
  const data = async (path: string) => (await manage(gateway, 'GET', path)).body['data'];

  // @spec scim-12
  test('lists requests, with what changed and why not, and neither bodies nor queries', async () => {
    const id = await push('mia');
    await scim('PATCH', `/Users/${id}`, { Operations: [{ op: 'Replace', path: 'active', value: 'False' }] });
    await scim('GET', '/Users?filter=userName%20eq%20%22mia@acme.example%22');
    await scim('POST', '/Users', { userName: 'mia@acme.example', schemas: [] });
    await fetch(`${gateway.url}/scim/v2/Users`, { headers: { authorization: 'Bearer nothing' } });
    const rows = (await data('/scim/requests')) as { method: string; path: string; status: number; outcome: string }[];
    assert.deepEqual(
      rows.map(({ method, path, status }) => `${method} ${path} ${status}`),
      [
        'POST /scim/v2/Users 409',
        'GET /scim/v2/Users 200',
        `PATCH /scim/v2/Users/${id} 200`,
        'POST /scim/v2/Users 201',
      ],
    );
    assert.match(rows[0]?.outcome ?? '', /userName: mia@acme\.example is taken/);
    assert.match(rows[2]?.outcome ?? '', /scimUpdateUser .*active false/);
    const status = (await data('/scim/status')) as Record<string, unknown>;
    assert.deepEqual(
      [status['base_url'], status['users'], status['active_users'], status['groups']],
      ['https://gateway.example/scim/v2', 1, 0, 0],
    );
    assert.deepEqual((status['last_refusal'] as { status: number }).status, 409);
    const [listed] = (await data('/scim/tokens')) as { last_used_from: string }[];
    assert.equal(listed?.last_used_from, '127.0.0.1');
  });

  // @spec scim-16, scim-10
  test('lists pushed users, with the reason of their state, until an admin erases one', async () => {
    const [active, off, barred, gone] = [await push('ua'), await push('ub'), await push('uc'), await push('ud')];
    await scim('PATCH', `/Users/${off}`, { Operations: [{ op: 'Replace', path: 'active', value: false }] });
    await manage(gateway, 'PATCH', `/organization/members/${barred}`, { disabled: true });
    await scim('DELETE', `/Users/${gone}`);
    await scim('POST', '/Groups', { displayName: 'lab', schemas: [], members: [{ value: active }] });
    const listed = async () => {
      const rows = (await data('/scim/users?limit=100')) as Record<string, unknown>[];
      return rows
        .filter(({ id }) => [active, off, barred, gone].includes(String(id)))
        .map(({ user_name: name, state, disabled_by: by, groups, deleted_at: at }) =>
          [name, state, by, groups, at !== null].join(' '),
        );
    };
    assert.deepEqual(await listed(), [
      'ua@acme.example active  1 false',
      'ub@acme.example disabled scim 0 false',
      'uc@acme.example disabled admin 0 false',
      'ud@acme.example deleted scim 0 true',
    ]);
    assert.equal((await manage(gateway, 'DELETE', `/organization/members/${gone}`)).status, 200);
    assert.equal((await listed()).length, 3);
  });

  // @spec scim-7
  test('says of a key that the provider disabled it, until an admin enables it', async () => {
    const id = await push('kim');
    const { body } = await manage(gateway, 'POST', '/keys', { name: 'kim', creator_user_id: id });
    const { hash } = body['data'] as { hash: string };
    const reason = async (): Promise<unknown> =>
      ((await data(`/keys/${hash}`)) as { disabled: boolean; disabled_reason: unknown }).disabled_reason;
    assert.equal(await reason(), null);
    await scim('DELETE', `/Users/${id}`);
    assert.equal(await reason(), 'scim');
    await manage(gateway, 'PATCH', `/keys/${hash}`, { disabled: false });
    assert.equal(await reason(), null);
  });
});
