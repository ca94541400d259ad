import type { JournalStore } from '../../journal/store.ts';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';
import { GENERATION_COLUMNS } from './record.ts';

/** The part of the database that journals are applied to. @throws DatabaseError */
export async function openJournalStore(database: Database): Promise<JournalStore> {
  const { kysely } = database;
  return {
    databaseId: await readDatabaseId(database),
    columns: GENERATION_COLUMNS,
    apply: (batch) => database.applyBatch(batch),
    async readCheckpoints(streams) {
      const rows = await kysely.selectFrom('journal_checkpoints').selectAll().where('stream', 'in', streams).execute();
      return new Map(rows.map(({ stream, position }) => [stream, numberOf(position)]));
    },
    async dropCheckpoint(stream) {
      await kysely.deleteFrom('journal_checkpoints').where('stream', '=', stream).execute();
    },
  };
}

async function readDatabaseId({ kysely }: Pick<Database, 'kysely'>): Promise<string> {
  const { id } = await kysely.selectFrom('database_identity').select('id').executeTakeFirstOrThrow();
  return id;
}
