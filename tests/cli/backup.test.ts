import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { createCursors } from '../../src/store/exports/cursors.ts';
import { createExportRows } from '../../src/store/exports/export-rows.ts';
import { encodeGeneration, framesOf, GENERATION_COLUMNS } from '../../src/store/journal/record.ts';
import { POSTGRES_ENGINES } from '../support/store/engines.ts';
import { captureCli } from '../support/cli/capture-cli.ts';
import { makeFolder, runCli, startGateway } from '../support/cli/spawn-cli.ts';
import { sampleGeneration } from '../support/store/generations.ts';
import { mustAgree, storedIds, writeAndVanish } from '../support/store/journal.ts';
import { upload } from '../support/files/upload.ts';

const GATEWAY_ENV = { GATEWAY_API_KEY: 'test-key' };

function ask(url: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer test-key' },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }),
  });
}

suite('backup and restore of the embedded database', () => {
  const run = (dataDir: string, ...args: readonly string[]) => captureCli([...args, '--data-dir', dataDir]);

  test('contains every response that had ended under load, and can be restored elsewhere', async (t) => {
    const [dataDir, elsewhere] = [makeFolder(t), makeFolder(t)];
    const gateway = await startGateway(t, { dataDir, env: GATEWAY_ENV });
    const ended: string[] = [];
    const over = new AbortController();
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!over.signal.aborted) {
          const answer = await ask(gateway.url);
          await answer.text();
          ended.push(answer.headers.get('x-generation-id') ?? '');
        }
      }),
    );
    while (ended.length < 20) await new Promise((resolve) => setTimeout(resolve, 10));
    const before = [...ended];
    const file = join(elsewhere, 'copy.db');
    const made = await run(dataDir, 'backup', file);
    over.abort();
    await load;
    assert.deepEqual([made.code, made.stdout], [0, `Wrote ${file}.\n`], made.stderr);
    assert.equal(statSync(file).mode & 0o777, 0o600);

    const restored = await run(elsewhere, 'restore', file);
    assert.deepEqual([restored.code, restored.stdout], [0, `Restored ${file}.\n`], restored.stderr);
    const database = await openDatabase({ path: join(elsewhere, 'gateway.db'), clock });
    const rows = await database.kysely.selectFrom('generations').select('id').execute();
    await database.close();
    const stored = new Set(rows.map(({ id }) => id));
    assert.deepEqual(
      before.filter((id) => !stored.has(id)),
      [],
    );
  });

  test('contains what a killed gateway has left in its journal, which a restore stores once', async (t) => {
    const [dataDir, elsewhere] = [makeFolder(t), makeFolder(t)];
    const database = await openDatabase({ path: join(dataDir, 'gateway.db'), clock });
    const rows = ['gen-1', 'gen-2'].map((id) => sampleGeneration({ id }));
    await writeAndVanish(t, database, join(dataDir, 'journal'), rows);
    await database.close();
    const file = join(elsewhere, 'copy.db');
    const made = await run(dataDir, 'backup', file);
    assert.equal(made.code, 0);
    assert.match(
      made.stderr,
      /has 2 records that are not in the database[^]*are in .*copy\.db\.journal: keep it beside/,
    );
    const restored = await run(elsewhere, 'restore', file);
    const stored = `Restored ${file}.\nStored 2 records from ${file}.journal.\n`;
    assert.deepEqual([restored.code, restored.stdout], [0, stored], restored.stderr);
    const copy = await openDatabase({ path: join(elsewhere, 'gateway.db'), clock });
    assert.deepEqual(await storedIds(copy), ['gen-1', 'gen-2']);
    await mustAgree(copy);
    await copy.close();
    assert.deepEqual((await run(dataDir, 'backup', file)).stderr, `There is a file ${file} already.\n`);
  });

  test('warns that contents of stored files are not in the backup', async (t) => {
    const dataDir = makeFolder(t);
    const gateway = await startGateway(t, { dataDir, env: GATEWAY_ENV });
    const first = await run(dataDir, 'backup', join(dataDir, 'first.db'));
    assert.doesNotMatch(first.stderr, /stored files/);
    await upload({ baseUrl: `${gateway.url}/v1` }, 'Hello.', { key: 'test-key' });
    const second = await run(dataDir, 'backup', join(dataDir, 'second.db'));
    assert.match(second.stderr, /contents of stored files are not in it: copy .*\/files now/);
  });

  test('refuses to restore under a running gateway, and keeps the previous database', async (t) => {
    const dataDir = makeFolder(t);
    const file = join(makeFolder(t), 'copy.db');
    const gateway = await startGateway(t, { dataDir, env: GATEWAY_ENV });
    assert.equal((await run(dataDir, 'backup', file)).code, 0);
    await (await ask(gateway.url)).text();
    const refused = await run(dataDir, 'restore', file);
    assert.deepEqual([refused.code, refused.stderr], [1, 'A gateway works on this database: stop it first.\n']);
    assert.equal((await ask(gateway.url)).status, 200);
    gateway.child.kill('SIGTERM');
    await gateway.exited;
    const restored = await run(dataDir, 'restore', file);
    const [, kept = ''] = /^What was there before is in (\S+)\.$/m.exec(restored.stdout) ?? [];
    const countIn = async (path: string) => {
      const database = await openDatabase({ path, clock });
      const rows = await database.kysely.selectFrom('generations').select('id').execute();
      await database.close();
      return rows.length;
    };
    assert.deepEqual([await countIn(kept), await countIn(join(dataDir, 'gateway.db'))], [2, 0]);
  });

  test('replaces a damaged database by a backup, and keeps nothing of it', async (t) => {
    const dataDir = makeFolder(t);
    const path = join(dataDir, 'gateway.db');
    const file = join(makeFolder(t), 'copy.db');
    await (await openDatabase({ path, clock })).close();
    assert.equal((await run(dataDir, 'backup', file)).code, 0);
    writeFileSync(path, 'this is not a database, '.repeat(400));
    writeFileSync(`${path}-wal`, 'nor is this its log');
    const { code, stdout, stderr } = await run(dataDir, 'restore', file);
    assert.equal(code, 0, stderr);
    const [, kept = ''] = /^What was there before is in (\S+)\.$/m.exec(stdout) ?? [];
    assert.match(readFileSync(kept, 'utf8'), /^this is not a database/);
    assert.equal(existsSync(`${path}-wal`), false);
    await (await openDatabase({ path, clock })).close();
  });

  test('refuses a damaged, foreign, missing or existing file, and leaves nothing behind', async (t) => {
    const [dataDir, place] = [makeFolder(t), makeFolder(t)];
    await (await openDatabase({ path: join(dataDir, 'gateway.db'), clock })).close();
    const file = join(place, 'copy.db');
    assert.equal((await run(dataDir, 'backup', file)).code, 0);
    assert.equal((await run(dataDir, 'backup', file)).stderr, `There is a file ${file} already.\n`);
    const strange = join(place, 'strange.db');
    writeFileSync(strange, 'this is not a database, '.repeat(400));
    const damaged = join(place, 'damaged.db');
    writeFileSync(damaged, readFileSync(file).fill(0xff, 4_096, 12_288));
    for (const [wrong, message] of [
      [damaged, /damaged|malformed/],
      [strange, /file is not a database/],
      [join(place, 'none.db'), /There is no file/],
    ] as const) {
      const refused = await run(dataDir, 'restore', wrong);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, message);
    }
    assert.deepEqual(readdirSync(place).toSorted(), ['copy.db', 'damaged.db', 'strange.db']);
    assert.deepEqual(
      readdirSync(dataDir).filter((name) => /restor|partial/.test(name)),
      [],
    );
  });

  test('refuses a backup of a newer version before it changes anything', async (t) => {
    const [dataDir, newer] = [makeFolder(t), makeFolder(t)];
    const database = await openDatabase({ path: join(newer, 'gateway.db'), clock });
    await database.kysely.insertInto('schema_migrations').values({ name: '9999-later', applied_at_ms: 1 }).execute();
    await database.close();
    const file = join(newer, 'copy.db');
    const refused = await run(dataDir, 'restore', join(newer, 'gateway.db'));
    assert.match(refused.stderr, /newer version of the gateway/);
    assert.match((await run(newer, 'backup', file)).stderr, /newer version of the gateway/);
    assert.deepEqual(readdirSync(dataDir), []);
  });
});

for (const { makePlace } of POSTGRES_ENGINES)
  test('restores a backup of PostgreSQL only into an empty database', async (t) => {
    const [from, to] = [await makePlace(), await makePlace()];
    t.after(() => Promise.all([from.remove(), to.remove()]));
    const database = await openDatabase({ ...from, clock });
    await database.kysely
      .insertInto('spend')
      .values({ subject: 'key:a', day_start_ms: 0, is_byok: 0, nano_usd: 5, requests: 1 })
      .execute();
    await database.close();
    const file = join(makeFolder(t), 'copy.dump');
    const run = (place: typeof from, ...args: readonly string[]) =>
      runCli(t, args, { env: { DATABASE_URL: place.url ?? '' } });
    const made = await run(from, 'backup', file);
    assert.deepEqual([made.code, made.stdout], [0, `Wrote ${file}.\n`], made.stderr);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const restored = await run(to, 'restore', file);
    assert.equal(restored.code, 0, restored.stderr);
    const again = await openDatabase({ ...to, clock });
    assert.deepEqual(await again.kysely.selectFrom('spend').select('nano_usd').execute(), [{ nano_usd: 5 }]);
    await again.close();
    assert.equal(
      (await run(to, 'restore', file)).stderr,
      'There are tables in this database already: restore into an empty one.\n',
    );
  });

for (const { makePlace } of POSTGRES_ENGINES)
  // @spec destination-20
  test('restores what waits for destinations so that it is sent in another cluster, too', async (t) => {
    const [from, to] = [await makePlace(), await makePlace()];
    t.after(() => Promise.all([from.remove(), to.remove()]));
    const database = await openDatabase({ ...from, clock });
    const payloads = ['gen-1', 'gen-2'].map((id) => encodeGeneration(sampleGeneration({ id }), 'default', '{}'));
    await database.applyBatch({
      source: { frames: framesOf(payloads) },
      columns: GENERATION_COLUMNS,
      lateBeforeMs: 0,
    });
    // A cluster that was in use for longer.
    const ahead = 5_000_000_000;
    await database.kysely.updateTable('export_rows').set({ xid: ahead }).execute();
    const [first] = await database.kysely.selectFrom('export_rows').select('seq').orderBy('seq').execute();
    await createCursors(database).open('d', { xid: ahead, seq: first?.seq ?? 0 });
    await database.close();
    const file = join(makeFolder(t), 'copy.dump');
    const run = (place: typeof from, ...args: readonly string[]) =>
      runCli(t, args, { env: { DATABASE_URL: place.url ?? '' } });
    assert.equal((await run(from, 'backup', file)).code, 0);
    const restored = await run(to, 'restore', file);
    assert.equal(restored.code, 0, restored.stderr);
    const copy = await openDatabase({ ...to, clock });
    t.after(() => copy.close());
    const cursor = (await createCursors(copy).find(['d'])).get('d');
    assert.deepEqual([cursor?.xid, cursor?.seq], [0, first?.seq]);
    const left = await createExportRows(copy).read('workspace-1', cursor ?? { xid: 0, seq: 0 }, 10);
    assert.deepEqual(
      left.map(({ generation }) => generation.id),
      ['gen-2'],
    );
  });
