import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { startHashicorpServer, type HashicorpServer } from '../../../tests/support/services/hashicorp-server.ts';
import { createHttpClient } from '../../lib/net/http-client.ts';
import { ValueStoreError, type ValueStore } from './contract.ts';
import { createHashicorpStore, type HashicorpSettings } from './hashicorp.ts';

const TOKEN = 'hvs.s3cret-token';

interface Bench {
  readonly server: HashicorpServer;
  readonly clock: { nowMs: number };
  store(this: void, settings?: Partial<HashicorpSettings>): ValueStore;
}

async function setUp(t: TestContext, options: Parameters<typeof startHashicorpServer>[0] = {}): Promise<Bench> {
  const server = await startHashicorpServer(options);
  const http = createHttpClient();
  t.after(async () => {
    await http.close();
    await server.close();
  });
  server.policies.set(TOKEN, { path: 'gateway/', writes: true });
  const clock = { nowMs: 0 };
  const usual = { address: `${server.url}/`, mount: 'secret', prefix: 'gateway', writes: true } as const;
  return {
    server,
    clock,
    store: (settings) =>
      createHashicorpStore({ ...usual, token: { kind: 'token', token: TOKEN }, ...settings }, http, () => clock.nowMs),
  };
}

/** @param words of the message, which holds neither token nor value */
const fails = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ValueStoreError, String(error));
  assert.match(error.message, words);
  assert.doesNotMatch(error.message, /s3cret/);
  return true;
};

suite('values in the KV engine of HashiCorp Vault', () => {
  // @spec vault-22
  test('are read by path and field below the prefix, as the last version has them', async (t) => {
    const { server, store } = await setUp(t);
    server.data.set('gateway/team/alpha', { key: 's3cret-a', port: 5432, empty: '' });
    server.data.set('gateway/gone', null);
    const values = store();
    assert.equal(await values.get('team/alpha#key'), 's3cret-a');
    for (const place of ['team/alpha#other', 'team/alpha#empty', 'gone#key', 'never#key', 'team/alpha#constructor'])
      assert.equal(await values.get(place), undefined, place);
    await assert.rejects(values.get('team/alpha#port'), fails(/no text in that field/));
    assert.ok(server.calls.includes('GET /v1/secret/data/gateway/team/alpha'));
  });

  test('are stored, replaced and removed with all their versions, and only where that is configured', async (t) => {
    const { server, store } = await setUp(t);
    const { writer } = store();
    assert.ok(writer !== undefined);
    const place = writer.placeOf({ kind: 'workspace', id: 'w1' }, 'alpha');
    assert.equal(place, 'workspaces/w1/alpha#value');
    await writer.put(place, 's3cret-a');
    await writer.put(place, 's3cret-b');
    assert.deepEqual(server.data.get('gateway/workspaces/w1/alpha'), { value: 's3cret-b' });
    assert.equal(await store().get(place), 's3cret-b');
    await writer.remove(place);
    await writer.remove(place);
    assert.equal(server.calls.at(-1), 'DELETE /v1/secret/metadata/gateway/workspaces/w1/alpha');
    assert.equal(await store().get(place), undefined);
    assert.equal(store({ writes: false }).writer, undefined);
  });

  test('fail with a reason when the server refuses, is sealed, away, or has another engine there', async (t) => {
    const { server, store } = await setUp(t);
    server.data.set('gateway/a', { key: 's3cret-a' });
    await assert.rejects(
      store({ token: { kind: 'token', token: 'hvs.s3cret-other' } }).get('a#key'),
      fails(/refuses the gateway's token/),
    );
    await assert.rejects(store({ prefix: 'others' }).get('a#key'), fails(/its policies allow/));
    server.policies.set(TOKEN, { path: 'gateway/', writes: false });
    await assert.rejects(store().writer?.put('a#key', 's3cret-b') ?? Promise.resolve(), fails(/403/));
    assert.equal(await store({ mount: 'elsewhere' }).get('a#key'), undefined, 'a mount that is not there has nothing');
    server.isSealed = true;
    await assert.rejects(store().get('a#key'), fails(/sealed/));
    await assert.rejects(store({ address: 'http://127.0.0.1:1' }).get('a#key'), fails(/could not be reached/));
  });

  test('name no place outside of the prefix, and no part of another URL', async (t) => {
    const { store } = await setUp(t);
    const values = store();
    assert.equal(values.faultOf('team/alpha.v2#api_key'), undefined);
    for (const place of [
      'a',
      '#a',
      'a#',
      'a#b#c',
      '../a#b',
      'a/../b#c',
      'a/..#c',
      './a#b',
      '/a#b',
      'a//b#c',
      'a?b#c',
      'a%2e#c',
      `${'a'.repeat(512)}#b`,
    ])
      assert.ok(values.faultOf(place) !== undefined, place);
  });

  test('are read within a namespace', async (t) => {
    const { server, store } = await setUp(t, { namespace: 'team' });
    server.data.set('gateway/a', { key: 's3cret-a' });
    assert.equal(await store({ namespace: 'team' }).get('a#key'), 's3cret-a');
    assert.equal(await store().get('a#key'), undefined);
  });
});

suite('the sign-in at HashiCorp Vault', () => {
  test('takes a token of a file again when it was renewed there', async (t) => {
    const { server, store } = await setUp(t);
    const folder = await mkdtemp(join(tmpdir(), 'token-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, 'token');
    await writeFile(path, `${TOKEN}\n`);
    server.data.set('gateway/a', { key: 's3cret-a' });
    const values = store({ token: { kind: 'file', path } });
    assert.equal(await values.get('a#key'), 's3cret-a');
    server.policies.delete(TOKEN);
    server.policies.set('hvs.next', { path: 'gateway/', writes: false });
    await assert.rejects(values.get('a#key'), fails(/refuses the gateway's token/));
    await writeFile(path, 'hvs.next');
    assert.equal(await values.get('a#key'), 's3cret-a');
    await rm(path);
    await assert.rejects(values.get('a#key'), fails(/file of the gateway's token cannot be read/));
  });

  test('uses the service account of a pod once for its lease, and again when the token was revoked', async (t) => {
    const tokens = ['hvs.one', 'hvs.two', 'hvs.three'];
    const pod = { role: 'gateway', jwt: 'a.s3cret.jwt', tokens, leaseS: 3_600 };
    const { server, store, clock } = await setUp(t, { pod });
    for (const token of tokens) server.policies.set(token, { path: 'gateway/', writes: false });
    server.data.set('gateway/a', { key: 's3cret-a' });
    const folder = await mkdtemp(join(tmpdir(), 'token-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const jwtPath = join(folder, 'jwt');
    await writeFile(jwtPath, pod.jwt);
    const token = { kind: 'kubernetes', role: 'gateway', mount: 'kubernetes', jwtPath } as const;
    const values = store({ token });
    await Promise.all(Array.from({ length: 5 }, () => values.get('a#key')));
    const signIns = () => server.calls.filter((call) => call.includes('/login')).length;
    assert.equal(signIns(), 1);
    clock.nowMs = 3_000_000;
    assert.equal(await values.get('a#key'), 's3cret-a');
    assert.equal(signIns(), 2, 'before the lease ends');
    server.policies.delete('hvs.two');
    assert.equal(await values.get('a#key'), 's3cret-a');
    assert.equal(signIns(), 3);
    await assert.rejects(store({ token: { ...token, role: 'other' } }).get('a#key'), fails(/service account/));
    await writeFile(jwtPath, 'a.s3cret.forgery');
    await assert.rejects(store({ token }).get('a#key'), fails(/service account of the gateway \(403\)/));
  });
});
