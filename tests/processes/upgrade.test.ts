import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { openDatabase, type Database } from '../../src/store/engine/database.ts';
import { createLedgerStore } from '../../src/store/usage/ledger.ts';
import { createLog } from '../../src/telemetry/logs.ts';
import { makeFolder } from '../support/cli/spawn-cli.ts';
import { filesIn } from '../support/store/journal.ts';

/*
 * Data directories of gateways of earlier commits, each killed while its database was locked. Six responses had reached the
 * database, and four had not: three to a key with a limit and one to another key. Each response cost 10 prompt tokens at
 * 1 USD a million, and as many completion tokens as its number, from 1 to 10, at 10 USD.
 */
const EARLIER = join(import.meta.dirname, 'earlier-versions');
const ANSWERS = 10;
const CHARGED_NANO_USD = ANSWERS * 10_000 + ((ANSWERS * (ANSWERS + 1)) / 2) * 10_000;

function unpack(t: TestContext, commit: string): string {
  const dataDir = makeFolder(t);
  const from = join(EARLIER, commit);
  for (const name of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.gz')) continue;
    const target = join(dataDir, name.slice(0, -'.gz'.length));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, gunzipSync(readFileSync(join(from, name))));
  }
  return dataDir;
}

async function startAndClose(dataDir: string): Promise<void> {
  const config = loadConfig({ argv: ['--port', '0', '--data-dir', dataDir], env: {}, readFile: () => '' });
  const app = await createApp({ config, env: {}, log: createLog('silent') });
  await app.listen();
  await app.close();
}

async function checkCharges({ kysely }: Database, limitedKey: string): Promise<void> {
  const rows = await kysely.selectFrom('generations').select(['key_hash', 'upstream_id', 'cost_nano_usd']).execute();
  assert.deepEqual(
    new Set(rows.map(({ upstream_id: id }) => id)),
    new Set(Array.from({ length: ANSWERS }, (_, at) => `up-${at + 1}`)),
  );
  assert.equal(rows.length, ANSWERS, 'each once');
  const costOf = (chosen: typeof rows) => chosen.reduce((sum, { cost_nano_usd: cost }) => sum + Number(cost), 0);
  assert.equal(costOf(rows), CHARGED_NANO_USD);
  const spent = await kysely
    .selectFrom('spend')
    .select('nano_usd')
    .where('subject', '=', `key:${limitedKey}`)
    .execute();
  assert.equal(
    spent.reduce((sum, { nano_usd: nanoUsd }) => sum + nanoUsd, 0),
    costOf(rows.filter(({ key_hash: hash }) => hash === limitedKey)),
  );
}

suite('the data directory of an earlier version', () => {
  for (const { commit, limitedKey, kept } of [
    {
      commit: '0f0718d',
      limitedKey: '578e4e84fadb2662341d5c595178a93c1604ead1fb590de2f1fe879a7c10d3d8',
      kept: 'unstored',
    },
    {
      commit: 'a9b6acc',
      limitedKey: '374872abdc5e633a02912b1080a54286b21e9bdd613815054ea3578479685c3b',
      kept: 'journal',
    },
  ])
    // @spec money-26
    test(`has each charge once after two gateways started on it at the same moment: ${commit}, with files in ${kept}`, async (t) => {
      const dataDir = unpack(t, commit);
      assert.ok(readdirSync(join(dataDir, kept)).length > 0);
      await Promise.all([startAndClose(dataDir), startAndClose(dataDir)]);
      const database = await openDatabase({ path: join(dataDir, 'gateway.db'), clock });
      t.after(() => database.close());
      await checkCharges(database, limitedKey);
      assert.deepEqual((await createLedgerStore({ database }).verify('default')).differences, []);
      assert.deepEqual([existsSync(join(dataDir, 'unstored')), await filesIn(join(dataDir, 'journal'))], [false, []]);
    });
});
