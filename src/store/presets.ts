import { isJsonObject, parseJson, type JsonObject } from '../lib/json.ts';
import { createChanges } from './changes.ts';
import type { Database } from './database.ts';
import type { News } from './shared/contract.ts';
import type { Page, PageWindow } from './page.ts';
import { numberOf } from './portable.ts';
import type { PresetsTable, PresetVersionsTable } from './tables.ts';

export type PresetStatus = PresetsTable['status'];

/** A named set of request members. */
export interface PresetRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: PresetStatus;
  readonly statusUpdatedAtMs: number | null;
  readonly creatorUserId: string | null;
  /** The version in use. */
  readonly designatedVersionId: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** What a preset held at one time. */
export interface PresetVersionRow {
  readonly id: string;
  readonly presetId: string;
  /** From 1. */
  readonly version: number;
  readonly creatorId: string;
  readonly systemPrompt: string | null;
  /** Members of a request. */
  readonly config: JsonObject;
  readonly createdAtMs: number;
}

export interface PresetWithVersion {
  readonly preset: PresetRow;
  readonly designated: PresetVersionRow | null;
}

export type PresetChanges = Partial<
  Pick<PresetRow, 'name' | 'description' | 'status' | 'statusUpdatedAtMs' | 'designatedVersionId'>
> & { readonly updatedAtMs: number };

export interface PresetStore {
  find(workspaceId: string, slug: string): Promise<PresetWithVersion | undefined>;
  /** Newest change first. */
  list(workspaceId: string, window: PageWindow): Promise<Page<PresetRow>>;
  count(workspaceId: string): Promise<number>;
  /** Oldest first. */
  listVersions(presetId: string, window: PageWindow): Promise<Page<PresetVersionRow>>;
  findVersion(presetId: string, version: number): Promise<PresetVersionRow | undefined>;
  /**
   * Makes the preset where there is none, and the version in any case, which is then the one in use.
   * @param preset as it would be made
   * @returns `undefined` when another wrote the same version meanwhile
   */
  write(
    preset: PresetRow,
    draft: Omit<PresetVersionRow, 'presetId' | 'version'>,
  ): Promise<PresetWithVersion | undefined>;
  /** The preset after the change; `undefined` when there is none. */
  update(id: string, changes: PresetChanges): Promise<PresetRow | undefined>;
  /** Told after a preset was changed, here or, as news has it, by another process. */
  subscribe(listener: () => void, onGap?: () => void): void;
}

export function createPresetStore({
  database,
  news,
}: {
  readonly database: Database;
  readonly news?: News;
}): PresetStore {
  const { kysely } = database;
  const changed = createChanges('presets', news);
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
        .set(changedColumns(changes))
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst();
      changed.announce();
      return columns && presetOf(columns);
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
      return { preset: presetOf(columns), designated: version === undefined ? null : versionOf(version) };
    },
    async list(workspaceId, { offset, limit }) {
      const rows = await kysely
        .selectFrom('presets')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .orderBy('updated_at_ms', 'desc')
        .orderBy('id')
        .limit(limit)
        .offset(offset)
        .execute();
      return { rows: rows.map(presetOf), totalCount: await count(workspaceId) };
    },
    async listVersions(presetId, { offset, limit }) {
      const of = kysely.selectFrom('preset_versions').where('preset_id', '=', presetId);
      const [rows, total] = await Promise.all([
        of.selectAll().orderBy('version').limit(limit).offset(offset).execute(),
        of.select(({ fn }) => fn.countAll().as('rows')).executeTakeFirstOrThrow(),
      ]);
      return { rows: rows.map(versionOf), totalCount: numberOf(total.rows) };
    },
    async findVersion(presetId, version) {
      const columns = await kysely
        .selectFrom('preset_versions')
        .selectAll()
        .where('preset_id', '=', presetId)
        .where('version', '=', version)
        .executeTakeFirst();
      return columns && versionOf(columns);
    },
  };
}

/** All or nothing: a preset never names a version that is not there. */
async function write(
  { kysely }: Database,
  wanted: PresetRow,
  draft: Omit<PresetVersionRow, 'presetId' | 'version'>,
): Promise<PresetWithVersion | undefined> {
  return kysely.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('presets')
      .values(columnsOf(wanted))
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
      .values(versionColumnsOf(version))
      .onConflict((conflict) => conflict.columns(['preset_id', 'version']).doNothing())
      .executeTakeFirst();
    if (inserted === 0n) return undefined;
    // Written again, an archived one is back: whoever writes it wants to use it.
    const columns = await transaction
      .updateTable('presets')
      .set({ designated_version_id: version.id, updated_at_ms: wanted.updatedAtMs })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const preset = columns.status === 'archived' ? await revive(transaction, id, wanted.updatedAtMs) : columns;
    return { preset: presetOf(preset), designated: version };
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

function changedColumns(changes: PresetChanges): Partial<PresetsTable> {
  const { name, description, status, statusUpdatedAtMs, designatedVersionId, updatedAtMs } = changes;
  return {
    updated_at_ms: updatedAtMs,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(status !== undefined && { status }),
    ...(statusUpdatedAtMs !== undefined && { status_updated_at_ms: statusUpdatedAtMs }),
    ...(designatedVersionId !== undefined && { designated_version_id: designatedVersionId }),
  };
}

function columnsOf(row: PresetRow): PresetsTable {
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    slug: row.slug,
    name: row.name,
    description: row.description,
    status: row.status,
    status_updated_at_ms: row.statusUpdatedAtMs,
    creator_user_id: row.creatorUserId,
    designated_version_id: row.designatedVersionId,
    created_at_ms: row.createdAtMs,
    updated_at_ms: row.updatedAtMs,
  };
}

function presetOf(columns: PresetsTable): PresetRow {
  const { status_updated_at_ms: statusAtMs } = columns;
  return {
    id: columns.id,
    workspaceId: columns.workspace_id,
    slug: columns.slug,
    name: columns.name,
    description: columns.description,
    status: columns.status,
    statusUpdatedAtMs: statusAtMs === null ? null : numberOf(statusAtMs),
    creatorUserId: columns.creator_user_id,
    designatedVersionId: columns.designated_version_id,
    createdAtMs: numberOf(columns.created_at_ms),
    updatedAtMs: numberOf(columns.updated_at_ms),
  };
}

function versionColumnsOf(row: PresetVersionRow): PresetVersionsTable {
  return {
    id: row.id,
    preset_id: row.presetId,
    version: row.version,
    creator_id: row.creatorId,
    system_prompt: row.systemPrompt,
    config: JSON.stringify(row.config),
    created_at_ms: row.createdAtMs,
  };
}

function versionOf(columns: PresetVersionsTable): PresetVersionRow {
  const config = parseJson(columns.config);
  return {
    id: columns.id,
    presetId: columns.preset_id,
    version: numberOf(columns.version),
    creatorId: columns.creator_id,
    systemPrompt: columns.system_prompt,
    config: isJsonObject(config) ? config : {},
    createdAtMs: numberOf(columns.created_at_ms),
  };
}
