import type { Transaction } from 'kysely';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Database } from '../engine/database.ts';
import type { Tables } from '../tables.ts';

/** What a text of an agent is sealed for. */
export function internPurpose(internId: string, id: string): string {
  return `intern text ${internId} ${id}`;
}

/** A text that is stored with a change, sealed. */
export interface NewText {
  /** What it is within its run: `prompt`, `3 output`. */
  readonly name: string;
  readonly text: string;
}

/** The run that texts belong to. */
export interface TextOwner {
  readonly internId: string;
  readonly runId: string;
}

export interface InternTexts {
  /** All texts of a run by their names. */
  ofRun(owner: TextOwner): Promise<ReadonlyMap<string, string>>;
  /** Texts by their ids, which are those of their runs with their names: `<run> prompt`. */
  named(internId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Seals texts, to be written within a transaction. */
  seal(owner: TextOwner, texts: readonly NewText[]): Promise<WriteTexts>;
}

export type WriteTexts = (transaction: Transaction<Tables>) => Promise<void>;

/** The most that one run's texts are read of at a time. */
const TEXTS_MAX = 2_000;

export function createInternTexts({
  database,
  box: openBox,
}: {
  readonly database: Pick<Database, 'kysely'>;
  readonly box: () => Promise<SecretBox>;
}): InternTexts {
  return {
    async ofRun({ internId, runId }) {
      const rows = await database.kysely
        .selectFrom('intern_texts')
        .select(['id', 'sealed'])
        .where('run_id', '=', runId)
        .where('intern_id', '=', internId)
        .limit(TEXTS_MAX)
        .execute();
      const box = await openBox();
      return new Map(
        rows.map(({ id, sealed }) => [id.slice(runId.length + 1), box.open(sealed, internPurpose(internId, id))]),
      );
    },
    async named(internId, ids) {
      if (ids.length === 0) return new Map();
      const rows = await database.kysely
        .selectFrom('intern_texts')
        .select(['id', 'sealed'])
        .where('intern_id', '=', internId)
        .where('id', 'in', ids)
        .execute();
      const box = await openBox();
      return new Map(rows.map(({ id, sealed }) => [id, box.open(sealed, internPurpose(internId, id))]));
    },
    async seal({ internId, runId }, texts) {
      const box = await openBox();
      const rows = texts.map(({ name, text }) => {
        const id = `${runId} ${name}`;
        const sealed = box.seal(text, internPurpose(internId, id));
        return { id, intern_id: internId, run_id: runId, sealed, secret_id: box.currentId };
      });
      return async (transaction) => {
        if (rows.length === 0) return;
        await transaction
          .insertInto('intern_texts')
          .values(rows)
          .onConflict((conflict) =>
            conflict
              .column('id')
              .doUpdateSet((set) => ({ sealed: set.ref('excluded.sealed'), secret_id: set.ref('excluded.secret_id') })),
          )
          .execute();
      };
    },
  };
}
