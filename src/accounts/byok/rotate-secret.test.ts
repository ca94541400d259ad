import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { newSecretText, type SecretBox } from '../../lib/secret-box.ts';
import type { SealedRow, SealedRows } from '../../store/accounts/sealed-rows.ts';
import { rotateSecret, type SealedTable } from './rotate-secret.ts';
import { createSecrets, type Secrets } from './secrets.ts';

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'secret-'));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

/** Makes a table of sealed texts in memory; it may fail after so many changes. */
function tableOf(box: SecretBox, texts: Readonly<Record<string, string>>) {
  const purposeOf = ({ id }: { readonly id: string }): string => `row:${id}`;
  const rows = new Map(
    Object.entries(texts).map(([id, text]) => [
      id,
      { sealed: box.seal(text, purposeOf({ id })), secretId: box.currentId },
    ]),
  );
  const state = { changesLeft: Infinity };
  const sealed: SealedRows = {
    secretIds: () => Promise.resolve([...new Set([...rows.values()].map(({ secretId }) => secretId))]),
    sealedByOthers: (secretId, afterId, limit) =>
      Promise.resolve(
        [...rows]
          .filter(([id, row]) => id > afterId && row.secretId !== secretId)
          .toSorted(([one], [other]) => (one < other ? -1 : 1))
          .slice(0, limit)
          .map(([id, row]): SealedRow => ({ id, sealed: row.sealed, context: null })),
      ),
    async reseal(row, text, secretId) {
      if (state.changesLeft-- <= 0) throw new Error('cut off');
      await Promise.resolve();
      if (rows.get(row.id)?.sealed !== row.sealed) return false;
      rows.set(row.id, { sealed: text, secretId });
      return true;
    },
  };
  const table: SealedTable = { rows: sealed, purposeOf };
  const readAll = async (secrets: Secrets): Promise<Record<string, string>> => {
    const current = await secrets.box();
    return Object.fromEntries([...rows].map(([id, row]) => [id, current.open(row.sealed, purposeOf({ id }))]));
  };
  return { table, state, rows, readAll };
}

const TEXTS = Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`row-${index}`, `text ${index}`]));

suite('the secret of a data directory', () => {
  test('is made once for all processes that start at once, and only its owner may read it', async (t) => {
    const dataDir = join(await folder(t), 'data');
    const boxes = await Promise.all(Array.from({ length: 8 }, () => createSecrets({ dataDir }).box()));
    assert.equal(new Set(boxes.map(({ currentId }) => currentId)).size, 1);
    assert.equal((await stat(join(dataDir, 'secret'))).mode & 0o777, 0o600);
  });

  test('is made by the next process when the first was killed while writing it', async (t) => {
    const dataDir = await folder(t);
    const { href } = new URL('secrets.ts', import.meta.url);
    const script = `await (await import(${JSON.stringify(href)})).createSecrets({ dataDir: process.argv[1] }).box()`;
    // A process that may write no file ends at the first byte.
    const shell = ['-c', 'ulimit -f 0; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', script, dataDir];
    const { status, stderr } = spawnSync('/bin/sh', shell, { encoding: 'utf8' });
    assert.notEqual(status, 0, stderr);
    const { currentId } = await createSecrets({ dataDir }).box();
    assert.equal((await createSecrets({ dataDir }).box()).currentId, currentId);
  });

  test('is not replaced where its file was emptied: texts that it sealed may still need it', async (t) => {
    const dataDir = await folder(t);
    await writeFile(join(dataDir, 'secret'), '');
    for (const more of [{}, { previousSecret: newSecretText() }])
      await assert.rejects(createSecrets({ dataDir, ...more }).box(), /secret holds no secret/);
  });

  test('yields to the operator’s secret, and still opens what it sealed', async (t) => {
    const dataDir = await folder(t);
    const sealed = (await createSecrets({ dataDir }).box()).seal('text', 'p');
    const box = await createSecrets({ dataDir, secret: newSecretText() }).box();
    assert.equal(box.open(sealed, 'p'), 'text');
    assert.notEqual(box.currentId, sealed.split('.')[1]);
  });

  test('is not made where the operator supplies one, and the previous one only opens', async (t) => {
    const dataDir = await folder(t);
    const [old, next] = [newSecretText(), newSecretText()];
    const sealed = (await createSecrets({ dataDir, secret: old }).box()).seal('text', 'p');
    const box = await createSecrets({ dataDir, secret: next, previousSecret: old }).box();
    assert.equal(box.open(sealed, 'p'), 'text');
    assert.throws(() => box.open('v1.abc.abc', 'p'));
    await assert.rejects(readFile(join(dataDir, 'secret')));
  });
});

suite('a rotation', () => {
  test('reseals everything with a new secret', async (t) => {
    const secrets = createSecrets({ dataDir: await folder(t) });
    const before = await secrets.box();
    const { table, rows, readAll } = tableOf(before, TEXTS);
    const rotation = await rotateSecret(secrets, [table]);
    assert.deepEqual([rotation.began, rotation.resealed, rotation.unreadable], ['renewed', 250, []]);
    assert.notEqual(rotation.secretId, before.currentId);
    assert.ok([...rows.values()].every(({ secretId }) => secretId === rotation.secretId));
    assert.deepEqual(await readAll(secrets), TEXTS);
  });

  test('continues with the same secret after any interruption, and loses nothing meanwhile', async (t) => {
    const secrets = createSecrets({ dataDir: await folder(t) });
    const { table, state, readAll } = tableOf(await secrets.box(), TEXTS);
    state.changesLeft = 120;
    await assert.rejects(rotateSecret(secrets, [table]), /cut off/);
    const { currentId } = await secrets.box();
    assert.deepEqual(await readAll(secrets), TEXTS);
    state.changesLeft = Infinity;
    const rotation = await rotateSecret(secrets, [table]);
    assert.deepEqual([rotation.began, rotation.resealed, rotation.secretId], ['went on', 130, currentId]);
    assert.deepEqual(await readAll(secrets), TEXTS);
  });

  test('keeps the last secret until the next rotation: a running gateway may still have sealed with it', async (t) => {
    const secrets = createSecrets({ dataDir: await folder(t) });
    const first = await secrets.box();
    const { table, rows, readAll } = tableOf(first, { one: 'text' });
    await rotateSecret(secrets, [table]);
    rows.set('late', { sealed: first.seal('late', 'row:late'), secretId: first.currentId });
    assert.deepEqual(await readAll(secrets), { one: 'text', late: 'late' });
    assert.equal((await rotateSecret(secrets, [table])).began, 'went on');
    await rotateSecret(secrets, [table]);
    await rotateSecret(secrets, [table]);
    const box = await secrets.box();
    assert.throws(() => box.open(first.seal('x', 'p'), 'p'), /is not here/);
    assert.deepEqual(await readAll(secrets), { one: 'text', late: 'late' });
  });

  test('takes the previous secret beside an operator’s, and makes none', async (t) => {
    const dataDir = await folder(t);
    const [old, next] = [newSecretText(), newSecretText()];
    const before = createSecrets({ dataDir, secret: old });
    const { table, readAll } = tableOf(await before.box(), { one: 'text' });
    assert.equal((await rotateSecret(before, [table])).began, 'nothing');
    const between = createSecrets({ dataDir, secret: next, previousSecret: old });
    assert.deepEqual(await rotateSecret(between, [table]).then(({ began, resealed }) => [began, resealed]), [
      'went on',
      1,
    ]);
    assert.deepEqual(await readAll(createSecrets({ dataDir, secret: next })), { one: 'text' });
  });

  test('reports what no secret opens, and goes on with the rest', async (t) => {
    const dataDir = await folder(t);
    const before = await createSecrets({ dataDir }).box();
    const { table, rows } = tableOf(before, { one: 'text', two: 'text' });
    rows.set('lost', { sealed: 'v1.000000000000.AAAA', secretId: '000000000000' });
    rows.set('spoilt', { sealed: `v1.${before.currentId}.AAAA`, secretId: before.currentId });
    const used = new Set([before.currentId]);
    for (const _ of [1, 2]) {
      const { began, secretId, resealed, unreadable } = await rotateSecret(createSecrets({ dataDir }), [table]);
      assert.deepEqual([began, resealed, unreadable], ['renewed', 2, ['lost', 'spoilt']]);
      used.add(secretId);
    }
    assert.equal(used.size, 3, 'each time with another secret');
  });

  test('reseals rows behind more lost rows than it reports', async (t) => {
    const secrets = createSecrets({ dataDir: await folder(t) });
    const { table, rows } = tableOf(await secrets.box(), { 'z-last': 'text' });
    for (let index = 0; index < 1_200; index++)
      rows.set(`lost-${index}`, { sealed: 'v1.000000000000.AAAA', secretId: '000000000000' });
    const { resealed, unreadable } = await rotateSecret(secrets, [table]);
    assert.deepEqual([resealed, unreadable.length], [1, 1_000]);
  });
});
