import { sql } from 'kysely';
import { generationRouteRows, type GenerationRouteRow } from '../accounts/columns.ts';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';
import { removeOlder } from './remove-older.ts';

/** How generations were routed. */
export interface RouteStore {
  /** Inserts the rows and leaves existing ones as they are. */
  insert(rows: readonly GenerationRouteRow[]): Promise<void>;
  find(generationId: string): Promise<GenerationRouteRow | undefined>;
  /** Finds the newest generations that a guardrail matched. No more than `lookedAtMax` rows are looked at. */
  findOfGuardrail(
    guardrailId: string,
    range: { readonly fromMs: number; readonly lookedAtMax: number; readonly limit: number },
  ): Promise<RoutesFound>;
  readAll(generationIds: readonly string[]): Promise<readonly GenerationRouteRow[]>;
  /** Deletes at most `limit` of the older rows. Returns how many. */
  removeBefore(atMs: number, limit: number): Promise<number>;
}

export interface RoutesFound {
  readonly ids: readonly string[];
  readonly lookedAt: number;
  /** The look ended at this row, at one of its bounds. Absent: the range holds no more. */
  readonly endedAtMs: number | undefined;
}

export function createRouteStore(database: Pick<Database, 'kysely' | 'reports' | 'background'>): RouteStore {
  const { kysely, reports, background } = database;
  return {
    async insert(rows) {
      if (rows.length === 0) return;
      await background
        .insertInto('generation_routes')
        .values(rows.map(generationRouteRows.toColumns))
        .onConflict((conflict) => conflict.column('generation_id').doNothing())
        .execute();
    },
    async find(generationId) {
      const columns = await kysely
        .selectFrom('generation_routes')
        .selectAll()
        .where('generation_id', '=', generationId)
        .executeTakeFirst();
      return columns && generationRouteRows.toRow(columns);
    },
    findOfGuardrail: (guardrailId, range) => findOfGuardrail(database, guardrailId, range),
    async readAll(generationIds) {
      if (generationIds.length === 0) return [];
      const rows = await reports
        .selectFrom('generation_routes')
        .selectAll()
        .where('generation_id', 'in', generationIds)
        .execute();
      return rows.map(generationRouteRows.toRow);
    },
    removeBefore: (atMs, limit) => removeOlder({ background }, 'generation_routes', atMs, limit),
  };
}

/** Warnings of a generation name the guardrails that matched: they are shorter to search than decisions, which are compressed. */
async function findOfGuardrail(
  { reports }: Pick<Database, 'reports'>,
  guardrailId: string,
  { fromMs, lookedAtMax, limit }: Parameters<RouteStore['findOfGuardrail']>[1],
): Promise<RoutesFound> {
  const looked = reports
    .selectFrom('generation_routes')
    .select(['generation_id', 'created_at_ms'])
    .where('created_at_ms', '>=', fromMs)
    .orderBy('created_at_ms', 'desc')
    .limit(lookedAtMax)
    .as('looked');
  const rows = await reports
    .selectFrom(looked)
    .innerJoin('generations', 'generations.id', 'looked.generation_id')
    .select(['looked.generation_id as id', 'looked.created_at_ms as atMs'])
    .where(sql<boolean>`generations.warnings like ${`%(guardrail ${guardrailId})%`}`)
    .orderBy('looked.created_at_ms', 'desc')
    .limit(limit)
    .execute();
  const { lookedAt, oldestMs } = await reports
    .selectFrom(looked)
    .select(({ fn }) => [fn.countAll().as('lookedAt'), fn.min('created_at_ms').as('oldestMs')])
    .executeTakeFirstOrThrow();
  const isFull = rows.length === limit;
  const endedAtMs = isFull ? rows.at(-1)?.atMs : numberOf(lookedAt) === lookedAtMax ? oldestMs : undefined;
  return {
    ids: rows.map(({ id }) => id),
    lookedAt: numberOf(lookedAt),
    endedAtMs: endedAtMs === undefined ? undefined : numberOf(endedAtMs),
  };
}
