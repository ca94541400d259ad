import { z } from 'zod';
import { parseJson } from '../../lib/json.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Database } from '../engine/database.ts';
import { internPurpose } from './texts.ts';

/** What an agent remembers, after one change. */
export interface MemoryVersion {
  readonly version: number;
  readonly text: string;
  /** The step of a run, or the key, that wrote it. */
  readonly by: string;
  readonly atMs: number;
}

export interface MemoryStore {
  /** The newest first. */
  last(internId: string, limit: number): Promise<readonly MemoryVersion[]>;
  /** Adds a version, and deletes the oldest beyond `VERSIONS_MAX`. @returns whether there was none of this number */
  add(internId: string, memory: MemoryVersion): Promise<boolean>;
}

/** Of one agent. */
export const VERSIONS_MAX = 50;
const VERSION_DIGITS = 12;

const storedSchema = z.object({ text: z.string(), by: z.string(), atMs: z.number() });

/** Memory is sealed like the texts of runs, beside them, and belongs to none. */
export function createMemoryStore({
  database: { kysely },
  box: openBox,
}: {
  readonly database: Pick<Database, 'kysely'>;
  readonly box: () => Promise<SecretBox>;
}): MemoryStore {
  const idOf = (internId: string, version: number): string =>
    `${internId} memory ${String(version).padStart(VERSION_DIGITS, '0')}`;
  return {
    async last(internId, limit) {
      const rows = await kysely
        .selectFrom('intern_texts')
        .select(['id', 'sealed'])
        .where('intern_id', '=', internId)
        .where('run_id', 'is', null)
        .where('id', '>=', idOf(internId, 0))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      const box = await openBox();
      return rows.map(({ id, sealed }) => ({
        version: Number(id.slice(-VERSION_DIGITS)),
        ...storedSchema.parse(parseJson(box.open(sealed, internPurpose(internId, id)))),
      }));
    },
    async add(internId, { version, ...stored }) {
      const box = await openBox();
      const id = idOf(internId, version);
      const sealed = box.seal(JSON.stringify(stored), internPurpose(internId, id));
      const { numInsertedOrUpdatedRows } = await kysely
        .insertInto('intern_texts')
        .values({ id, intern_id: internId, run_id: null, sealed, secret_id: box.currentId })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n) return false;
      await kysely
        .deleteFrom('intern_texts')
        .where('intern_id', '=', internId)
        .where('run_id', 'is', null)
        .where('id', '>=', idOf(internId, 0))
        .where('id', '<=', idOf(internId, Math.max(0, version - VERSIONS_MAX)))
        .execute();
      return true;
    },
  };
}
