import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase } from '../engine/database.ts';
import { createFindGoneOwners } from './gone-owners.ts';
import { ENGINES } from '../../../tests/support/store/engines.ts';
import { insertKey } from '../../../tests/support/store/keys.ts';

/** Every database has it from the start. */
const WORKSPACE = '00000000-0000-4000-8000-000000000001';

for (const { name, makePlace } of ENGINES)
  suite(`owners of kept responses that are gone: ${name}`, () => {
    test('are those of deleted keys, unless the workspace shares them, and of deleted workspaces', async (t) => {
      const place = await makePlace();
      const database = await openDatabase({ ...place, clock });
      t.after(async () => {
        await database.close();
        await place.remove();
      });
      const { kysely } = database;
      for (const hash of ['kept', 'deleted']) await insertKey(database, hash);
      await kysely.updateTable('keys').set({ deleted_at_ms: 1 }).where('hash', '=', 'deleted').execute();
      // A key of the environment has no row.
      const owners = ['kept', 'deleted', 'of the environment'].map((keyHash) => ({
        accountId: 'default',
        workspaceId: WORKSPACE,
        keyHash,
      }));
      const goneOf = async (withKeys: boolean): Promise<readonly string[]> =>
        (await createFindGoneOwners({ database, withKeys })(owners)).map(({ keyHash }) => keyHash);
      assert.deepEqual(await goneOf(true), ['deleted']);
      assert.deepEqual(await goneOf(false), []);
      await kysely.updateTable('workspaces').set({ deleted_at_ms: 1 }).where('id', '=', WORKSPACE).execute();
      assert.deepEqual(await goneOf(false), ['kept', 'deleted', 'of the environment']);
      assert.deepEqual(await createFindGoneOwners({ database, withKeys: true })([]), []);
    });
  });
