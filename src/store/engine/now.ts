import { sql, type RawBuilder } from 'kysely';
import type { Engine } from './engine.ts';

/** The clock of the database, which all processes share, as Unix ms. */
export function databaseNow(engine: Engine['name']): RawBuilder<number> {
  return engine === 'postgres'
    ? sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
}
