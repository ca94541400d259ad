import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { sql } from 'kysely';
import { openDatabase, type Database } from '../engine/database.ts';
import { migrate, MIGRATIONS } from '../engine/migrate.ts';
import { openPostgres } from '../engine/postgres/engine.ts';
import { openSqlite } from '../engine/sqlite/engine.ts';
import { ENGINES, type Place } from '../../../tests/support/store/engines.ts';

/*
 * A landed migration must not change: databases exist that ran it, and none of them runs it again. A later change is a
 * migration of its own, at the end; its hash is added here when it lands.
 */
const LANDED: Readonly<Record<string, string>> = {
  '0001-keys-and-generations': 'f0467420707f113bca1f2bf27b7baa39bca8a764f2d726fdffe7d1a4d28f5697',
  '0002-ledger': 'd00d499d9e0a38cff9b8f5078666f073b21eda23416ff717f84168083b6e5ca2',
  '0003-workspaces-guardrails': '17b748d8b2bca9b0be1816a222526fb4e4ea268d324e80742bf611037161778b',
  '0004-presets-byok-oauth': '47a7842a7e35dfa7a9b96ef742ef94c059d1aef70e5740bb04adaa9166115f15',
  '0005-content-analytics-destinations': '24cd436659e9e0bffd6f57c4111bc987ea780e8676953bef160f2f0b0fa0fd72',
  '0006-cached-answers': 'baf186b237785ace62c86596109a8e515e7a9635181299af4556bcc206519454',
  '0007-default-plugins': '42b7749a816ef55a99d5ad8695fdc70cbc4cf260261d140ca6d1e8e5bb973a21',
  '0008-files': '14702d36009019377bb2edd8b132bdab5a6e84cfdc62cef345c98b9d2d783365',
  '0009-task-types': '10882380c061d97a9d589e3aee006d0a4df1289d10db65f614679c86963fbc4f',
  '0010-fewer-indexes': 'b7f3492ac799ad39cf3f5e3de2a7441b23deff4e49113d4a7a2ba88f2856f2f4',
  '0011-tool-costs-and-apps': '6a56dcf8581341e3bcacda60fbc954adb801be3b99aec7e33c68c23908abac8f',
  '0012-key-issuers': 'fc6b66344ec674f70d84df85c480e277dcfb0c838729fe6d231710e829152ab6',
  '0013-mend-edited-migrations': '5c39faa95d1ebdc307b7d0bafbca8341db5188dec7603796a8e4f09ce94c475f',
  '0014-journal': '0f721a8d60c8ae92df8b95221ae0302660423d21d5f9a9a9ccfde8e0e2877951',
  '0015-stored-responses': 'b71b091b9dd85d7c33f96bc3bdea10654263793f8df3c85d5a0fbbce530d24bc',
  '0016-media-units': '88835ff4b48f3b2b0875109dc28952c208d58ea975cedb6cc21bd81366bc8d29',
  '0017-video-jobs': 'c7c9ab293b1942cc537e85d64e0ab283f437ce14988e4158d89fb01e05ef1e77',
  '0018-background-responses': '59a73647d9a3fbc7f7e4678ead544183f718fd612cf0dc04397c816cb9cbe71a',
  '0019-exports': 'f3f34b4194c0a8c9e63bf3645351aae691f2d98e16abd5d73235332894cb7654',
  '0020-response-records': 'cba49f6bd1cffc20519cb7c693b92120b7b98e821e8afcc811f25bb4d5de7807',
  '0021-console-sessions': '28b7b17e3b92522f6d6c24db004780290cb5c8f82b20f32ee4a1985a81fa3a4f',
  '0022-generation-routes': 'f8619fbea0b876f7c42ed667c58145f1be13c2059336a7781cba55a7d9899ba1',
  '0023-jobs': '28855938a065de6d40496d243718abdaf20653db42138860803089bd63306e08',
  '0024-vault': 'faf8daf46de9bcf2811167f7f2d422535941a4d8681f40824f42a9bbd47b6f62',
  '0025-people': 'f73192f34e0985ac2044b23cccf6929bcb474e7179a97c07251f1743f46099a2',
  '0026-notifications': 'e7cf5b5742a0bc35900c3e8bdfb8ee555c7da1a44bfc32b5ffe099f6e4f9168b',
  '0027-scim': '4c888a2bf18df3a0c56f45b12df09c7ee6211fb6b278fe2746c6096031b968b3',
  '0028-interns': '0093a9c7d8e1b4a4b88e9723343ad442a85f217d37a11b8eb88408dd74b10bac',
  '0029-generation-origins': '21dfac8850d75ae94798481c48785cc7cc18b531cb0144d2735c0e21aade0418',
  '0031-evaluations': '9b083cc31508640e1dc009f00de91405993d1551ad22199f1c1c501e1c43ad2c',
  '0033-mcp-connections': '2e19279f22dc97823886a2c2ff80e8d097ac19f3fb0250758589a4464d1f9ed7',
  '0035-intern-workers': 'd0b56ca46b9065bbacddeb5125598cdf56d5e6a27bb0e11e8136fbb882295dce',
  '0036-classifiers': 'ba3dd1df922baf237b244f9ecb6305daa5ebbca948d46acb6d194707282342a2',
  '0037-intern-schedules': '99d9f586179c9b8c4806705a6aab492a80ce119c4a11579e86fdbbf157526780',
  '0038-disabled-by': '466ed903c1d36aa4500b50151ca2203a43cfc66a343252b7a01b288c8b18d3c9',
  '0039-scim-requests': 'f9e1b9db1072f2d6152ff161a5f9ca21c778e2037e5474ccfefa5f3a1c817881',
  '0040-jobs-by-time': '80873554faa970741d2d76ac09539296b159e453b04c5b8800788d8abd1e7877',
};

const clock = { nowMs: () => 1_790_000_000_000, monotonicMs: () => 0 };

test('keeps the text of every landed migration', () => {
  const folder = new URL('.', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const hashes = files.map((name) => {
    const text = readFileSync(new URL(name, folder), 'utf8');
    return [name.replace(/\.ts$/, ''), createHash('sha256').update(text).digest('hex')] as const;
  });
  assert.deepEqual(Object.fromEntries(hashes.toSorted(([one], [other]) => (one < other ? -1 : 1))), LANDED);
  assert.deepEqual(
    MIGRATIONS.map(({ name }) => name),
    Object.keys(LANDED),
  );
});

/** Makes what the first five migrations made before the second and the fourth of them were edited. */
async function makeOldDatabase({ path, url }: Place): Promise<void> {
  const engine = url === undefined ? await openSqlite(path) : await openPostgres(url);
  const { runAlone, kysely } = engine;
  await migrate(runAlone, clock, MIGRATIONS.slice(0, 5));
  for (const kind of ['usage', 'byok_fee', 'refund'])
    await sql.raw(`drop index ledger_entries_${kind}`).execute(kysely);
  await sql`create unique index ledger_entries_charge on ledger_entries (generation_id, kind)
    where kind in ('usage', 'byok_fee')`.execute(kysely);
  await sql`create index ledger_entries_generation on ledger_entries (generation_id) where kind = 'refund'`.execute(
    kysely,
  );
  for (const column of ['issuer_key_hash', 'issuer_label'])
    await sql.raw(`alter table oauth_codes drop column ${column}`).execute(kysely);
  await sql`insert into ledger_entries (id, at_ms, account_id, kind, amount_nano_usd, generation_id)
    values ('gen-1:usage', 1, 'default', 'usage', -5, 'gen-1')`.execute(kysely);
  await engine.close();
}

/** Lists tables with their columns, and indexes with what they cover, in a fixed order. */
async function shapeOf({ kysely }: Database, isPostgres: boolean): Promise<readonly string[]> {
  const { rows } = await (
    isPostgres
      ? sql<{ line: string }>`
        select table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable as line
          from information_schema.columns where table_schema = current_schema()
        union all select indexdef from pg_indexes where schemaname = current_schema()`
      : sql<{ line: string }>`
        select m.name || '.' || c.name || ' ' || c.type || ' ' || c."notnull" as line
          from sqlite_master as m join pragma_table_info(m.name) as c where m.type = 'table' and m.name not like 'sqlite%'
        union all select sql from sqlite_master where type = 'index' and sql is not null`
  ).execute(kysely);
  return rows.map(({ line }) => line.replace(' if not exists', '')).toSorted();
}

for (const { name: engine, isPostgres, makePlace } of ENGINES)
  suite(`an upgrade: ${engine}`, () => {
    test('starts from a database whose migrations were edited later, and ends with the shape of a new one', async (t) => {
      const [old, fresh] = [await makePlace(), await makePlace()];
      t.after(() => Promise.all([old.remove(), fresh.remove()]));
      await makeOldDatabase(old);
      const [upgraded, made] = [await openDatabase({ ...old, clock }), await openDatabase({ ...fresh, clock })];
      t.after(() => Promise.all([upgraded.close(), made.close()]));
      assert.deepEqual(await shapeOf(upgraded, isPostgres), await shapeOf(made, isPostgres));
      const { rows } = await sql<{ id: string }>`select id from ledger_entries`.execute(upgraded.kysely);
      assert.deepEqual(
        rows.map(({ id }) => id),
        ['gen-1:usage'],
      );
    });
  });
