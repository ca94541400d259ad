import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { VaultError } from '../canonical/vault-reference.ts';
import { createSecretBox, secretFrom } from '../lib/secret-box.ts';
import type { VaultSecretRow } from '../store/vault/columns.ts';
import type { VaultScope } from '../canonical/vault-reference.ts';
import type { Release } from './release-log.ts';
import { ValueStoreError, type ValueStore } from './back-ends/contract.ts';
import { vaultPurpose } from './find-secret.ts';
import { createVaultValues, type VaultValues } from './values.ts';
import { OPERATOR_SCOPE } from './vault.ts';

const box = createSecretBox([secretFrom('a secret of the test')]);
const WORKSPACE: VaultScope = { kind: 'workspace', id: 'w1' };

interface Bench {
  readonly values: VaultValues;
  readonly releases: Release[];
  readonly rows: Map<string, VaultSecretRow>;
  put(scope: VaultScope, name: string, value: string, hosts: readonly string[] | null): void;
  isAway: boolean;
  nowMs: number;
}

function open(allowPrivateHosts = false, outside?: ValueStore): Bench {
  const rows = new Map<string, VaultSecretRow>();
  const listeners: (() => void)[] = [];
  const releases: Release[] = [];
  const bench: Bench = {
    rows,
    releases,
    isAway: false,
    nowMs: 0,
    put(scope, name, value, hosts) {
      const row = { id: '1', scopeKind: scope.kind, scopeId: scope.id, name, hosts, secretId: box.currentId };
      const sealed = box.seal(value, vaultPurpose(scope, name));
      rows.set(vaultPurpose(scope, name), { ...row, sealed, external: null, createdAtMs: 0, updatedAtMs: 0 });
      for (const listener of listeners) listener();
    },
    values: createVaultValues({
      store: {
        find: (scope, name) =>
          bench.isAway ? Promise.reject(new Error('away')) : Promise.resolve(rows.get(vaultPurpose(scope, name))),
        subscribe: (listener) => void listeners.push(listener),
      },
      box: () => Promise.resolve(box),
      clock: { nowMs: () => 0, monotonicMs: () => bench.nowMs },
      releases: { add: (release) => void releases.push(release) },
      allowPrivateHosts,
      outside,
    }),
  };
  return bench;
}

const to = (url: string) => ({ url, caller: 'provider:alpha' });

function refusal(code: VaultError['code']) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof VaultError, String(error));
    assert.doesNotMatch(error.message, /s3cret/);
    assert.equal(error.code, code);
    return true;
  };
}

suite('secrets that configured values name', () => {
  // @spec vault-8, vault-9
  test('fill whole values and placeholders, and leave plain values as they are', async () => {
    const bench = open();
    bench.put(OPERATOR_SCOPE, 'alpha', 's3cret-a', ['api.alpha.example']);
    const fill = bench.values.fillIn(OPERATOR_SCOPE);
    const texts = { key: 'vault:alpha', header: 'Bearer ${vault:alpha}', plain: '$HOME is ${HOME}' };
    assert.deepEqual(await fill(texts, to('https://api.alpha.example/v1')), {
      texts: { key: 's3cret-a', header: 'Bearer s3cret-a', plain: '$HOME is ${HOME}' },
      values: ['s3cret-a'],
    });
    bench.put(OPERATOR_SCOPE, 'alpha', 's3cret-b', ['api.alpha.example']);
    const changed = await fill(texts, to('https://api.alpha.example/v1'));
    assert.equal(changed.texts['key'], 's3cret-b', 'a change counts at once');
  });

  // @spec vault-10
  test('are sent to their hosts alone, over TLS and at its port', async () => {
    const bench = open();
    bench.put(OPERATOR_SCOPE, 'alpha', 's3cret-a', ['api.alpha.example']);
    bench.put(OPERATOR_SCOPE, 'unbound', 's3cret-c', null);
    const fill = bench.values.fillIn(OPERATOR_SCOPE);
    for (const url of [
      'https://api.alpha.example.evil.example/',
      'https://alpha.example/',
      'https://api.alpha.example@evil.example/',
      'http://api.alpha.example/',
      'https://api.alpha.example:8443/',
      'https://127.0.0.1/',
      'no address',
    ])
      await assert.rejects(fill({ key: 'vault:alpha' }, to(url)), refusal('vault_host_mismatch'), url);
    await assert.rejects(
      fill({ key: 'vault:unbound' }, to('https://api.alpha.example')),
      refusal('vault_host_mismatch'),
    );
    assert.ok(bench.releases.every(({ verdict }) => verdict === 'refused'));
    assert.equal((await fill({ key: 'vault:alpha' }, to('https://API.alpha.example.:443/x'))).values.length, 1);
  });

  // @spec vault-10
  test('are released all or not at all', async () => {
    const bench = open();
    bench.put(OPERATOR_SCOPE, 'alpha', 's3cret-a', ['api.alpha.example']);
    const fill = bench.values.fillIn(OPERATOR_SCOPE);
    const texts = { one: 'vault:alpha', other: 'vault:missing' };
    await assert.rejects(fill(texts, to('https://api.alpha.example')), refusal('credential_missing'));
    assert.deepEqual(
      bench.releases.map(({ name, verdict }) => `${name} ${verdict}`),
      ['missing refused'],
    );
  });

  // @spec vault-1
  test('of one scope are not those of another, even where their rows are moved', async () => {
    const bench = open();
    bench.put(WORKSPACE, 'alpha', 's3cret-w', ['api.alpha.example']);
    const fill = bench.values.fillIn(OPERATOR_SCOPE);
    const asked = () => fill({ key: 'vault:alpha' }, to('https://api.alpha.example'));
    await assert.rejects(asked(), refusal('credential_missing'));
    const [row] = bench.rows.values();
    assert.ok(row);
    const moved = open();
    moved.rows.set(vaultPurpose(OPERATOR_SCOPE, 'alpha'), row);
    const fillMoved = moved.values.fillIn(OPERATOR_SCOPE);
    await assert.rejects(
      fillMoved({ key: 'vault:alpha' }, to('https://api.alpha.example')),
      refusal('vault_unavailable'),
    );
  });

  // @spec vault-10
  test('go to private hosts without TLS where the operator allows it, to none but theirs', async () => {
    const bench = open(true);
    bench.put(OPERATOR_SCOPE, 'alpha', 's3cret-a', ['localhost']);
    const fill = bench.values.fillIn(OPERATOR_SCOPE);
    assert.equal((await fill({ key: 'vault:alpha' }, to('http://localhost:9101/v1'))).texts['key'], 's3cret-a');
    await assert.rejects(fill({ key: 'vault:alpha' }, to('http://127.0.0.1:9101/v1')), refusal('vault_host_mismatch'));
  });

  // @spec vault-8
  test('are unavailable, and not missing, while the store is away', async () => {
    const bench = open();
    bench.isAway = true;
    const fill = bench.values.fillIn(OPERATOR_SCOPE);
    await assert.rejects(fill({ key: 'vault:alpha' }, to('https://a.example')), refusal('vault_unavailable'));
  });

  // @spec vault-9
  test('are named by names that a secret can have, and by few at once', async () => {
    const fill = open().values.fillIn(OPERATOR_SCOPE);
    for (const text of [
      'vault:',
      'vault:Alpha',
      'vault:a__b',
      'x ${vault:}',
      'x ${vault:a-b}',
      '${vault:a}'.repeat(6),
      '${vault:a',
    ])
      await assert.rejects(fill({ key: text }, to('https://a.example')), refusal('credential_missing'), text);
  });
});

suite('values outside of the database', () => {
  // @spec vault-22
  test('are read again after a minute, serve for five while the back end is away, and then fail', async () => {
    let value = 's3cret-a';
    let isAway = false;
    const bench = open(false, {
      kind: 'file',
      faultOf: () => undefined,
      get: () => (isAway ? Promise.reject(new ValueStoreError('cannot be read')) : Promise.resolve(value)),
    });
    bench.put(OPERATOR_SCOPE, 'alpha', '', ['a.example']);
    for (const [key, row] of bench.rows) bench.rows.set(key, { ...row, sealed: null, external: 'file:alpha' });
    const fill = bench.values.fillIn(OPERATOR_SCOPE);
    const ask = async (atMs: number) => {
      bench.nowMs = atMs;
      return (await fill({ key: 'vault:alpha' }, to('https://a.example'))).texts['key'];
    };
    assert.equal(await ask(0), 's3cret-a');
    value = 's3cret-b';
    assert.equal(await ask(20_000), 's3cret-a');
    assert.equal(await ask(61_000), 's3cret-b');
    isAway = true;
    assert.equal(await ask(300_000), 's3cret-b');
    await assert.rejects(ask(500_000), (error) => {
      assert.match(String(error), /the back end cannot be read/);
      return refusal('vault_unavailable')(error);
    });
    isAway = false;
    assert.equal(await ask(500_001), 's3cret-b');
  });

  // @spec vault-22
  test('are unavailable where the configuration names another back end', async () => {
    const bench = open();
    bench.put(OPERATOR_SCOPE, 'alpha', '', ['a.example']);
    for (const [key, row] of bench.rows) bench.rows.set(key, { ...row, sealed: null, external: 'hashicorp:alpha#key' });
    const asked = bench.values.fillIn(OPERATOR_SCOPE)({ key: 'vault:alpha' }, to('https://a.example'));
    await assert.rejects(asked, refusal('vault_unavailable'));
  });
});
