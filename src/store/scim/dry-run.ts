import { sql } from 'kysely';
import type { Database } from '../engine/database.ts';
import { PEOPLE_LOCK } from '../people/people.ts';
import { createScimStore, type ScimStore } from './scim.ts';

/** Undoes everything. */
class Undone extends Error {}

/** Runs a task on a store of which nothing stays. What it fails to write is undone by itself, as in one that stays. */
export async function tryWithScimStore(database: Database, task: (store: ScimStore) => Promise<void>): Promise<void> {
  try {
    await database.runAlone(PEOPLE_LOCK, async (transaction) => {
      const tried: Database = {
        ...database,
        kysely: transaction,
        async runAlone(_lock, change) {
          await sql`savepoint attempt`.execute(transaction);
          try {
            return await change(transaction);
          } catch (error) {
            await sql`rollback to savepoint attempt`.execute(transaction);
            throw error;
          }
        },
      };
      await task(createScimStore({ database: tried }));
      throw new Undone();
    });
  } catch (error) {
    if (!(error instanceof Undone)) throw error;
  }
}
