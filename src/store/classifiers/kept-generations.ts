import { numberOf } from '../portable.ts';
import type { Database } from '../engine/database.ts';
import { generationRows, type GenerationRow } from '../generations/columns.ts';

/** Whose conversations a backfill reads. */
export interface KeptSearch {
  readonly workspaceId: string;
  /** A half-open range, Unix ms. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Generations that this version of the classifier gave a tag are left out. */
  readonly classifierId: string;
  readonly version: number;
}

export interface KeptPlace {
  readonly createdAtMs: number;
  readonly id: string;
}

/** Successful requests of callers for conversations, of those whose content is kept. */
export interface KeptGenerations {
  count(search: KeptSearch): Promise<number>;
  /** The oldest first, behind a place. */
  page(search: KeptSearch, after: KeptPlace | undefined, limit: number): Promise<readonly GenerationRow[]>;
  /** What the calls of one backfill cost so far, nano-USD. */
  spent(requestId: string): Promise<number>;
}

const CONVERSATIONS = ['chat', 'messages', 'responses'] as const;
const OK = 200;

export function createKeptGenerations({ reports, kysely }: Pick<Database, 'reports' | 'kysely'>): KeptGenerations {
  const found = ({ workspaceId, fromMs, toMs, classifierId, version }: KeptSearch) =>
    reports
      .selectFrom('generation_content as content')
      .innerJoin('generations', 'generations.id', 'content.generation_id')
      .where('content.workspace_id', '=', workspaceId)
      .where('content.created_at_ms', '>=', fromMs)
      .where('content.created_at_ms', '<', toMs)
      .where('generations.origin', 'is', null)
      .where('generations.status', '=', OK)
      .where('generations.api_type', 'in', CONVERSATIONS)
      .whereRef('generations.request_id', '=', 'generations.id')
      .where((is) =>
        is.not(
          is.exists(
            is
              .selectFrom('generation_tags')
              .select('value')
              .where('classifier_id', '=', classifierId)
              .where('version', '=', version)
              .whereRef('generation_id', '=', 'generations.id'),
          ),
        ),
      );
  return {
    async count(search) {
      const { rows } = await found(search)
        .select(({ fn }) => fn.countAll().as('rows'))
        .executeTakeFirstOrThrow();
      return numberOf(rows);
    },
    async page(search, after, limit) {
      const all = found(search);
      const behind =
        after === undefined
          ? all
          : all.where((is) =>
              is.or([
                is('content.created_at_ms', '>', after.createdAtMs),
                is.and([
                  is('content.created_at_ms', '=', after.createdAtMs),
                  is('content.generation_id', '>', after.id),
                ]),
              ]),
            );
      const columns = await behind
        .selectAll('generations')
        .orderBy('content.created_at_ms')
        .orderBy('content.generation_id')
        .limit(limit)
        .execute();
      return columns.map(generationRows.toRow);
    },
    async spent(requestId) {
      const row = await kysely
        .selectFrom('generations')
        .select(({ fn }) => fn.sum<number>('cost_nano_usd').as('sum'))
        .where('request_id', '=', requestId)
        .where('origin', 'is not', null)
        .executeTakeFirst();
      return numberOf(row?.sum);
    },
  };
}
