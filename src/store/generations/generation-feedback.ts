import { randomUUID } from 'node:crypto';
import type { Database } from '../engine/database.ts';
import { encodeFeedback } from '../journal/record.ts';
import { numberOf } from '../portable.ts';

export interface Feedback {
  readonly generationId: string;
  readonly atMs: number;
  readonly authorKeyHash: string;
  readonly category: string;
  readonly comment: string | null;
}

/** Feedback of people on generations. */
export interface FeedbackStore {
  /** `false`: the generation has as much feedback as is kept. */
  insert(feedback: Feedback): Promise<boolean>;
  /** Lists the oldest first. */
  list(generationId: string): Promise<readonly Feedback[]>;
}

/** Limits the feedback on one generation. */
const FEEDBACK_MAX = 100;

export interface FeedbackStoreDeps {
  readonly database: Pick<Database, 'kysely'>;
  /** Settles when the record is durable. */
  readonly append: (payload: string) => Promise<void>;
}

export function createFeedbackStore({ database: { kysely }, append }: FeedbackStoreDeps): FeedbackStore {
  const of = (generationId: string) =>
    kysely.selectFrom('generation_feedback').where('generation_id', '=', generationId);
  return {
    async insert({ generationId, atMs, authorKeyHash, category, comment }) {
      const { rows } = await of(generationId)
        .select(({ fn }) => fn.countAll().as('rows'))
        .executeTakeFirstOrThrow();
      if (numberOf(rows) >= FEEDBACK_MAX) return false;
      const row = {
        id: randomUUID(),
        generation_id: generationId,
        at_ms: atMs,
        author_key_hash: authorKeyHash,
        category,
        comment,
      };
      await append(encodeFeedback(row));
      return true;
    },
    async list(generationId) {
      const rows = await of(generationId).selectAll().orderBy('at_ms').orderBy('id').limit(FEEDBACK_MAX).execute();
      return rows.map((row) => ({
        generationId: row.generation_id,
        atMs: numberOf(row.at_ms),
        authorKeyHash: row.author_key_hash,
        category: row.category,
        comment: row.comment,
      }));
    },
  };
}
