import { sql } from 'kysely';
import { classifierResource, type ClassifierRow } from '../../resources/classifiers.ts';
import { createChanges } from '../engine/changes.ts';
import { DatabaseError } from '../engine/database-error.ts';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';
import type { InvalidationBus } from '../../state/contract.ts';
import { DAY_MS, floorTo } from '../usage/hours.ts';
import { dayRows, tagRows, versionRows, type ClassifierDayRow, type GenerationTagRow } from './columns.ts';

const { toColumns, toRow } = classifierResource.rows;

/** What a day adds up. */
export type DayCounts = Partial<Pick<ClassifierDayRow, 'costNanoUsd' | 'classified' | 'failed' | 'dropped'>>;

export interface ClassifierStore {
  find(id: string): Promise<ClassifierRow | undefined>;
  /** The oldest first. */
  list(window: PageWindow, workspaceId?: string): Promise<Page<ClassifierRow>>;
  enabled(): Promise<readonly ClassifierRow[]>;
  /** @returns the other one, where its name is taken in the workspace or another one is enabled there */
  insert(row: ClassifierRow): Promise<ClassifierRow | undefined>;
  /**
   * @returns `true`: it was as it was when it was read, and is changed; `false`: it was not; the other one, where the name is
   * taken or another one is enabled
   */
  update(row: ClassifierRow, before: Pick<ClassifierRow, 'updatedAtMs'>): Promise<boolean | ClassifierRow>;
  /** With its versions, its days and its tags. */
  remove(id: string): Promise<boolean>;
  today(ids: readonly string[], nowMs: number): Promise<ReadonlyMap<string, ClassifierDayRow>>;
  count(id: string, nowMs: number, counts: DayCounts): Promise<void>;
  /** Once for a generation, a dimension and a version. */
  addTags(tags: readonly GenerationTagRow[]): Promise<void>;
  tagsOf(generationIds: readonly string[], classifierId?: string): Promise<readonly GenerationTagRow[]>;
  /** Calls back after a classifier was changed here or in another process. */
  subscribe(listener: () => void): void;
}

export function createClassifierStore({
  database,
  invalidations,
}: {
  readonly database: Database;
  readonly invalidations?: InvalidationBus | undefined;
}): ClassifierStore {
  const { kysely } = database;
  const changed = createChanges('classifiers', invalidations);
  return {
    ...writers(database, () => changed.announce()),
    ...records(database),
    async find(id) {
      const row = await kysely.selectFrom('classifiers').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toRow(row);
    },
    list(window, workspaceId) {
      const all = kysely.selectFrom('classifiers');
      const some = workspaceId === undefined ? all : all.where('workspace_id', '=', workspaceId);
      return fetchPage(some, window, (each) => each.selectAll().orderBy('created_at_ms').orderBy('id'), toRow);
    },
    async enabled() {
      const rows = await kysely.selectFrom('classifiers').selectAll().where('enabled', '=', 1).execute();
      return rows.map(toRow);
    },
    subscribe: (listener) => changed.subscribe(listener),
  };
}

/** Another one of its workspace, with its name or enabled as it is. */
async function otherOf({ kysely }: Pick<Database, 'kysely'>, row: ClassifierRow): Promise<ClassifierRow | undefined> {
  const found = await kysely
    .selectFrom('classifiers')
    .selectAll()
    .where('workspace_id', '=', row.workspaceId)
    .where('id', '<>', row.id)
    .where((is) => is.or([is('name', '=', row.name), ...(row.enabled ? [is('enabled', '=', 1)] : [])]))
    .limit(1)
    .executeTakeFirst();
  return found && toRow(found);
}

function writers(
  { kysely, runAlone }: Database,
  announce: () => void,
): Pick<ClassifierStore, 'insert' | 'update' | 'remove'> {
  const versionOf = (row: ClassifierRow) =>
    versionRows.toColumns({
      classifierId: row.id,
      version: row.version,
      model: row.model,
      prompt: row.prompt,
      dimensions: row.dimensions,
      createdAtMs: row.updatedAtMs,
    });
  /** @returns the one that a unique index refused the row for */
  const unlessTaken = async <Result>(row: ClassifierRow, write: () => Promise<Result>) => {
    try {
      return await write();
    } catch (error) {
      const taken = error instanceof DatabaseError && error.duplicate ? await otherOf({ kysely }, row) : undefined;
      if (taken === undefined) throw error;
      return taken;
    }
  };
  return {
    insert: (row) =>
      unlessTaken(row, async () => {
        await runAlone('classifiers', async (transaction) => {
          await transaction.insertInto('classifiers').values(toColumns(row)).execute();
          await transaction.insertInto('classifier_versions').values(versionOf(row)).execute();
        });
        announce();
        return undefined;
      }),
    update: (row, before) =>
      unlessTaken(row, async () => {
        const isChanged = await runAlone('classifiers', async (transaction) => {
          const { numUpdatedRows } = await transaction
            .updateTable('classifiers')
            .set(toColumns(row))
            .where('id', '=', row.id)
            .where('updated_at_ms', '=', before.updatedAtMs)
            .executeTakeFirst();
          if (numUpdatedRows === 0n) return false;
          await transaction
            .insertInto('classifier_versions')
            .values(versionOf(row))
            .onConflict((conflict) => conflict.columns(['classifier_id', 'version']).doNothing())
            .execute();
          return true;
        });
        announce();
        return isChanged;
      }),
    async remove(id) {
      const isRemoved = await runAlone('classifiers', async (transaction) => {
        for (const table of ['classifier_versions', 'classifier_days', 'generation_tags'] as const)
          await transaction.deleteFrom(table).where('classifier_id', '=', id).execute();
        const { numDeletedRows } = await transaction.deleteFrom('classifiers').where('id', '=', id).executeTakeFirst();
        return numDeletedRows > 0n;
      });
      announce();
      return isRemoved;
    },
  };
}

function records({ kysely }: Database): Pick<ClassifierStore, 'today' | 'count' | 'addTags' | 'tagsOf'> {
  return {
    async today(ids, nowMs) {
      if (ids.length === 0) return new Map();
      const rows = await kysely
        .selectFrom('classifier_days')
        .selectAll()
        .where('classifier_id', 'in', ids)
        .where('day_start_ms', '=', floorTo(nowMs, DAY_MS))
        .execute();
      return new Map(rows.map((row) => [row.classifier_id, dayRows.toRow(row)]));
    },
    async count(id, nowMs, { costNanoUsd = 0, classified = 0, failed = 0, dropped = 0 }) {
      const added = { cost_nano_usd: costNanoUsd, classified, failed, dropped };
      await kysely
        .insertInto('classifier_days')
        .values({ classifier_id: id, day_start_ms: floorTo(nowMs, DAY_MS), ...added })
        .onConflict((conflict) =>
          conflict.columns(['classifier_id', 'day_start_ms']).doUpdateSet({
            cost_nano_usd: sql<number>`classifier_days.cost_nano_usd + excluded.cost_nano_usd`,
            classified: sql<number>`classifier_days.classified + excluded.classified`,
            failed: sql<number>`classifier_days.failed + excluded.failed`,
            dropped: sql<number>`classifier_days.dropped + excluded.dropped`,
          }),
        )
        .execute();
    },
    async addTags(tags) {
      if (tags.length === 0) return;
      await kysely
        .insertInto('generation_tags')
        .values(tags.map(tagRows.toColumns))
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
    async tagsOf(generationIds, classifierId) {
      if (generationIds.length === 0) return [];
      const all = kysely.selectFrom('generation_tags').selectAll().where('generation_id', 'in', generationIds);
      const some = classifierId === undefined ? all : all.where('classifier_id', '=', classifierId);
      return (await some.orderBy('version').orderBy('dimension').execute()).map(tagRows.toRow);
    },
  };
}
