import {
  presetResource,
  presetVersionResource,
  type PresetPatch,
  type PresetRow,
  type PresetVersionRow,
} from '../../resources/presets.ts';
import { createChanges } from '../engine/changes.ts';
import type { Database } from '../engine/database.ts';
import type { InvalidationBus } from '../../state/contract.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';
import { numberOf } from '../portable.ts';
import type { PresetsTable } from '../tables.ts';

const { toColumns, toRow, toChanges } = presetResource.rows;
const { toColumns: toVersionColumns, toRow: toVersion } = presetVersionResource.rows;

export interface PresetWithVersion {
  readonly preset: PresetRow;
  readonly designated: PresetVersionRow | null;
}

export type PresetChanges = PresetPatch &
  Partial<Pick<PresetRow, 'statusUpdatedAtMs' | 'designatedVersionId'>> &
  Pick<PresetRow, 'updatedAtMs'>;

export interface PresetStore {
  find(workspaceId: string, slug: string): Promise<PresetWithVersion | undefined>;
  /** Lists the newest change first. */
  list(workspaceId: string, window: PageWindow): Promise<Page<PresetRow>>;
  count(workspaceId: string): Promise<number>;
  /** Lists the oldest first. */
  listVersions(presetId: string, window: PageWindow): Promise<Page<PresetVersionRow>>;
  findVersion(presetId: string, version: number): Promise<PresetVersionRow | undefined>;
  /**
   * Creates the preset where there is none; creates the version in any case and makes it the one in use.
   * @param preset the preset as it would be created
   * @returns `undefined` when another request wrote the same version meanwhile
   */
  write(
    preset: PresetRow,
    draft: Omit<PresetVersionRow, 'presetId' | 'version'>,
  ): Promise<PresetWithVersion | undefined>;
  /** Returns the preset after the change; `undefined` when there is none. */
  update(id: string, changes: PresetChanges): Promise<PresetRow | undefined>;
  /** Calls the listener after a preset was changed here or, as the invalidation bus reports, by another process. */
  subscribe(listener: () => void, onGap?: () => void): void;
}

export function createPresetStore({
  database,
  invalidations,
}: {
  readonly database: Database;
  readonly invalidations?: InvalidationBus;
}): PresetStore {
  const { kysely } = database;
  const changed = createChanges('presets', invalidations);
  return {
    ...readers(database),
    async write(preset, draft) {
      const written = await write(database, preset, draft);
      changed.announce();
      return written;
    },
    async update(id, changes) {
      const columns = await kysely
        .updateTable('presets')
        .set(toChanges(changes))
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst();
      changed.announce();
      return columns && toRow(columns);
    },
    subscribe: (listener, onGap) => changed.subscribe(listener, onGap),
  };
}

type Readers = 'find' | 'list' | 'count' | 'listVersions' | 'findVersion';

function readers({ kysely }: Database): Pick<PresetStore, Readers> {
  const count = async (workspaceId: string): Promise<number> => {
    const { rows } = await kysely
      .selectFrom('presets')
      .select(({ fn }) => fn.countAll().as('rows'))
      .where('workspace_id', '=', workspaceId)
      .executeTakeFirstOrThrow();
    return numberOf(rows);
  };
  return {
    count,
    async find(workspaceId, slug) {
      const columns = await kysely
        .selectFrom('presets')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('slug', '=', slug)
        .executeTakeFirst();
      if (columns === undefined) return undefined;
      const { designated_version_id: id } = columns;
      const version =
        id === null
          ? undefined
          : await kysely.selectFrom('preset_versions').selectAll().where('id', '=', id).executeTakeFirst();
      return { preset: toRow(columns), designated: version === undefined ? null : toVersion(version) };
    },
    list: (workspaceId, window) =>
      fetchPage(
        kysely.selectFrom('presets').where('workspace_id', '=', workspaceId),
        window,
        (found) => found.selectAll().orderBy('updated_at_ms', 'desc').orderBy('id'),
        toRow,
      ),
    listVersions: (presetId, window) =>
      fetchPage(
        kysely.selectFrom('preset_versions').where('preset_id', '=', presetId),
        window,
        (found) => found.selectAll().orderBy('version'),
        toVersion,
      ),
    async findVersion(presetId, version) {
      const columns = await kysely
        .selectFrom('preset_versions')
        .selectAll()
        .where('preset_id', '=', presetId)
        .where('version', '=', version)
        .executeTakeFirst();
      return columns && toVersion(columns);
    },
  };
}

/** Writes both rows or none: a preset never names a missing version. */
async function write(
  { kysely }: Database,
  wanted: PresetRow,
  draft: Omit<PresetVersionRow, 'presetId' | 'version'>,
): Promise<PresetWithVersion | undefined> {
  return kysely.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('presets')
      .values(toColumns(wanted))
      .onConflict((conflict) => conflict.columns(['workspace_id', 'slug']).doNothing())
      .execute();
    const { id } = await transaction
      .selectFrom('presets')
      .select('id')
      .where('workspace_id', '=', wanted.workspaceId)
      .where('slug', '=', wanted.slug)
      .executeTakeFirstOrThrow();
    const { newest } = await transaction
      .selectFrom('preset_versions')
      .select(({ fn }) => fn.max('version').as('newest'))
      .where('preset_id', '=', id)
      .executeTakeFirstOrThrow();
    const version: PresetVersionRow = { ...draft, presetId: id, version: numberOf(newest) + 1 };
    const { numInsertedOrUpdatedRows: inserted } = await transaction
      .insertInto('preset_versions')
      .values(toVersionColumns(version))
      .onConflict((conflict) => conflict.columns(['preset_id', 'version']).doNothing())
      .executeTakeFirst();
    if (inserted === 0n) return undefined;
    // A write activates an archived preset again: its author wants to use it.
    const columns = await transaction
      .updateTable('presets')
      .set({ designated_version_id: version.id, updated_at_ms: wanted.updatedAtMs })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const preset = columns.status === 'archived' ? await revive(transaction, id, wanted.updatedAtMs) : columns;
    return { preset: toRow(preset), designated: version };
  });
}

async function revive(
  kysely: Pick<Database['kysely'], 'updateTable'>,
  id: string,
  atMs: number,
): Promise<PresetsTable> {
  return kysely
    .updateTable('presets')
    .set({ status: 'active', status_updated_at_ms: atMs })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}
