import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MANAGEMENT_KEY } from '../../support/gateway.ts';
import { startHashicorpServer } from '../../support/services/hashicorp-server.ts';
import { INTERNS_ON, setUp, type Setting } from './support.ts';

const MANAGER = { authorization: `Bearer ${MANAGEMENT_KEY}` };
const secret = (value: string) => ({ value, hosts: ['api.alpha.example'] });
const entriesOf = (body: Record<string, unknown>): readonly (readonly [unknown, unknown])[] => {
  assert.ok(Array.isArray(body['data']), JSON.stringify(body));
  return body['data'].map(({ name, scope }) => [name, scope] as const);
};
const open = (t: Parameters<typeof setUp>[0]): Promise<Setting> =>
  setUp(t, { yaml: `${INTERNS_ON}vault: { writers: any }\n` });

// @spec vault-26
test('keeps secrets of an intern apart, and never shows a value', async (t) => {
  const { call, intern } = await open(t);
  const id = await intern();
  const path = `/vault/interns/${id}/secrets`;
  const stored = await call('PUT', `${path}/mail_key`, secret('canary-own'));
  assert.equal(stored.status, 200, stored.text);
  const list = await call('GET', path);
  assert.partialDeepStrictEqual(list.body, { total_count: 1, data: [{ name: 'mail_key' }] });
  assert.partialDeepStrictEqual((await call('GET', '/vault/secrets')).body, { total_count: 0 });
  assert.equal((await call('PUT', `${path}/Bad`, secret('x'))).status, 400);
  assert.equal((await call('GET', '/vault/interns/unknown/secrets')).status, 404);
  const audit = await call('GET', '/audit', undefined, MANAGER);
  assert.match(audit.text, /mail_key/);
  for (const { text } of [stored, list, audit]) assert.ok(!text.includes('canary-own'));
  assert.equal((await call('DELETE', `${path}/mail_key`)).status, 204);
  assert.equal((await call('DELETE', `${path}/mail_key`)).status, 404);
});

// @spec vault-26
test('is for the creator of the intern and for admins, whatever vault.writers says', async (t) => {
  const { call, intern } = await open(t);
  const id = await intern();
  const made = await call('POST', '/keys', { name: 'other' }, MANAGER);
  const other = { authorization: `Bearer ${String(made.body['key'])}` };
  const path = `/vault/interns/${id}/secrets`;
  for (const [method, at, body] of [
    ['PUT', `${path}/mail_key`, secret('x')],
    ['DELETE', `${path}/mail_key`, undefined],
    ['POST', `${path}/copy`, { names: ['a'] }],
  ] as const)
    assert.equal((await call(method, at, body, other)).status, 403, method);
  const closed = await setUp(t);
  const theirs = await closed.intern();
  const refused = await closed.call('PUT', `/vault/interns/${theirs}/secrets/mail_key`, secret('x'));
  assert.equal(refused.status, 403, refused.text);
});

// @spec vault-27
test('copies all secrets of the workspace that are named, or none', async (t) => {
  const { call, intern } = await open(t);
  const id = await intern();
  const path = `/vault/interns/${id}/secrets`;
  await call('PUT', '/vault/secrets/one', secret('1'));
  await call('PUT', '/vault/secrets/two', secret('2'));
  await call('PUT', `${path}/one`, { value: 'old', hosts: ['old.example'] });
  const missing = await call('POST', `${path}/copy`, { names: ['two', 'three'] });
  assert.equal(missing.status, 404, missing.text);
  assert.match(missing.text, /three/);
  assert.partialDeepStrictEqual((await call('GET', path)).body, { total_count: 1 });
  for (const names of [[], ['one', 'one'], Array.from({ length: 101 }, (_, at) => `n${at}`)])
    assert.equal((await call('POST', `${path}/copy`, { names })).status, 400);
  const copied = await call('POST', `${path}/copy`, { names: ['one', 'two'] });
  assert.equal(copied.status, 200, copied.text);
  assert.partialDeepStrictEqual((await call('GET', path)).body, {
    data: [
      { name: 'one', hosts: ['api.alpha.example'] },
      { name: 'two', hosts: ['api.alpha.example'] },
    ],
  });
});

// @spec vault-27
test('copies the values themselves where they are kept outside', async (t) => {
  const server = await startHashicorpServer();
  t.after(() => server.close());
  server.policies.set('hvs.token', { path: 'gateway/', writes: true });
  const hashicorp = `{ address: "${server.url}", token: hvs.token, writes: true }`;
  const yaml = `${INTERNS_ON}vault: { writers: any, backend: hashicorp, hashicorp: ${hashicorp} }\n`;
  const { call, intern } = await setUp(t, { yaml });
  const id = await intern();
  const path = `/vault/interns/${id}/secrets`;
  const place = `gateway/interns/${id}`;
  server.data.set('gateway/team/two', { key: 'of others' });
  const external = { external: 'team/two#key', hosts: ['api.alpha.example'] };
  await call('PUT', '/vault/secrets/one', secret('1'));
  await call('PUT', '/vault/secrets/two', external, MANAGER);
  await call('PUT', `${path}/two`, secret('own'));
  assert.deepEqual(server.data.get(`${place}/two`), { value: 'own' });

  const copied = await call('POST', `${path}/copy`, { names: ['one', 'two'] });
  assert.equal(copied.status, 200, copied.text);
  assert.deepEqual(server.data.get(`${place}/one`), { value: '1' });
  assert.equal(server.data.has(`${place}/two`), false, 'a value that nothing names any more is removed');
  assert.match(copied.text, /"external":"team\/two#key"/);

  await call('PUT', '/vault/secrets/one', secret('changed'));
  assert.deepEqual(server.data.get(`${place}/one`), { value: '1' }, 'a copy does not change with its source');
  assert.equal((await call('DELETE', '/vault/secrets/one')).status, 204);
  assert.deepEqual(server.data.get(`${place}/one`), { value: '1' });
  await call('PUT', '/vault/secrets/three', secret('3'));
  server.isSealed = true;
  const away = await call('POST', `${path}/copy`, { names: ['three'] });
  assert.equal(away.status, 502, away.text);
  server.isSealed = false;
  assert.equal((await call('DELETE', `/interns/${id}`)).status, 202);
  assert.equal(server.data.has(`${place}/one`), false);
  assert.deepEqual(server.data.get('gateway/team/two'), { key: 'of others' });
});

// @spec vault-28
test('shows what holds for an intern: its own, then those of an attached vault, then those of the workspace', async (t) => {
  const { call, intern } = await open(t);
  const lender = await intern();
  const id = await intern({ vault_id: lender });
  assert.match(
    (await call('GET', `/interns/${id}`)).text,
    new RegExp(`"vault_id":"${id}".*"attached_vault_id":"${lender}"`),
  );
  await call('PUT', '/vault/secrets/c', secret('c'));
  await call('PUT', '/vault/secrets/b', secret('b'));
  await call('PUT', '/vault/secrets/a', secret('a'));
  await call('PUT', `/vault/interns/${lender}/secrets/b`, secret('b2'));
  await call('PUT', `/vault/interns/${lender}/secrets/a`, secret('a2'));
  await call('PUT', `/vault/interns/${id}/secrets/a`, secret('a3'));
  const { body } = await call('GET', `/vault/interns/${id}/effective`);
  assert.deepEqual(entriesOf(body), [
    ['a', 'intern'],
    ['b', 'attached'],
    ['c', 'workspace'],
  ]);
  for (const wrong of [id, '00000000-0000-4000-8000-00000000dead', 'x'])
    assert.equal((await call('PATCH', `/interns/${id}`, { vault_id: wrong })).status, 400, wrong);
  assert.equal((await call('DELETE', `/interns/${lender}`)).status, 202);
  const gone = await call('GET', `/vault/interns/${id}/effective`);
  assert.equal(gone.status, 404, gone.text);
  assert.ok(!gone.text.includes('"name"'));
  assert.match((await call('POST', `/interns/${id}/provision`)).text, /"status":"failed"/);
  assert.equal((await call('PATCH', `/interns/${id}`, { vault_id: null })).status, 200);
  assert.deepEqual(entriesOf((await call('GET', `/vault/interns/${id}/effective`)).body)[1], ['b', 'workspace']);
  assert.equal((await call('DELETE', `/interns/${id}`)).status, 202);
  assert.equal((await call('GET', `/vault/interns/${id}/secrets`)).status, 404);
});

// @spec vault-26
test('is 404 where interns are off, with how to turn them on', async (t) => {
  const { call } = await setUp(t, { yaml: '' });
  const { status, text } = await call('GET', '/vault/interns/x/secrets');
  assert.equal(status, 404);
  assert.match(text, /interns: \{ enabled: true \}/);
});
