import type { Transaction } from 'kysely';
import { serviceFileResource, type FileRow } from '../../resources/files.ts';
import type { Database } from '../engine/database.ts';
import { numberOf, storableText } from '../portable.ts';
import type { Tables } from '../tables.ts';

const { toColumns, toRow } = serviceFileResource.rows;

/** How much the files of a workspace may take together. */
export interface FileRoom {
  readonly bytesMax: number;
  readonly filesMax: number;
}

export interface FileUsage {
  readonly bytes: number;
  readonly files: number;
}

export interface FilesAfter {
  /** Only files with a later id, which are younger. */
  readonly afterId: string | undefined;
  readonly limit: number;
  /** Only names that contain this text, in any case. */
  readonly nameHas?: string;
  readonly purpose?: string;
}

/** The records of stored files. A file is visible once all of its content is on the disk. */
export interface FileStore {
  /** Runs before the first byte is written: a process that dies leaves a row that says what to clean up. */
  begin(row: FileRow): Promise<void>;
  /**
   * Runs when the content is on the disk. `full`: there is no room for it. `gone`: a cleanup took the file for an
   * abandoned one.
   */
  finish(row: FileRow, room: FileRoom): Promise<'stored' | 'full' | 'gone'>;
  /** Gives up a file whose content cannot be received. */
  abandon(id: string): Promise<void>;
  find(workspaceId: string, id: string, nowMs: number): Promise<FileRow | undefined>;
  /** Finds the youngest file of that name. */
  findByName(workspaceId: string, filename: string, nowMs: number): Promise<FileRow | undefined>;
  /** Lists the oldest first. */
  list(workspaceId: string, nowMs: number, window: FilesAfter): Promise<readonly FileRow[]>;
  usage(workspaceId: string): Promise<FileUsage>;
  /** Hides the file; its content still has to be cleaned up. Returns whether the file existed. */
  remove(workspaceId: string, id: string): Promise<boolean>;
  /**
   * Gives up files that expired, that belong to no workspace any more, or that were begun before a time and never
   * finished.
   */
  giveUp(nowMs: number, begunBeforeMs: number, limit: number): Promise<number>;
  /** Lists the ids of files whose content is to be cleaned up. */
  listLeftovers(limit: number): Promise<readonly string[]>;
  /** Deletes the rows once their content is cleaned up. */
  forget(ids: readonly string[]): Promise<void>;
}

export function createFileStore({ database }: { readonly database: Database }): FileStore {
  const { kysely } = database;
  return {
    ...readers(database),
    async begin(row) {
      await kysely
        .insertInto('files')
        .values({ ...toColumns(row), status: 'writing' })
        .execute();
    },
    finish: (row, room) => kysely.transaction().execute((transaction) => finish(transaction, row, room)),
    async abandon(id) {
      await kysely
        .updateTable('files')
        .set({ status: 'deleted' })
        .where('id', '=', id)
        .where('status', '=', 'writing')
        .execute();
    },
    remove: (workspaceId, id) => kysely.transaction().execute((transaction) => remove(transaction, workspaceId, id)),
    giveUp: (nowMs, begunBeforeMs, limit) => giveUp(database, nowMs, begunBeforeMs, limit),
    async forget(ids) {
      if (ids.length === 0) return;
      await kysely.deleteFrom('files').where('id', 'in', ids).where('status', '=', 'deleted').execute();
    },
  };
}

type Readers = 'find' | 'findByName' | 'list' | 'usage' | 'listLeftovers';

function readers({ kysely }: Database): Pick<FileStore, Readers> {
  const visible = (workspaceId: string, nowMs: number) =>
    kysely
      .selectFrom('files')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where('status', '=', 'stored')
      .where((is) => is.or([is('expires_at_ms', 'is', null), is('expires_at_ms', '>', nowMs)]));
  return {
    async find(workspaceId, id, nowMs) {
      const columns = await visible(workspaceId, nowMs).where('id', '=', id).executeTakeFirst();
      return columns && toRow(columns);
    },
    async findByName(workspaceId, filename, nowMs) {
      const named = visible(workspaceId, nowMs).where('filename', '=', storableText(filename));
      const columns = await named.orderBy('id', 'desc').limit(1).executeTakeFirst();
      return columns && toRow(columns);
    },
    async list(workspaceId, nowMs, { afterId, limit, nameHas, purpose }) {
      let query = visible(workspaceId, nowMs);
      if (afterId !== undefined) query = query.where('id', '>', afterId);
      if (nameHas !== undefined && nameHas !== '')
        query = query.where(({ eb, fn }) => eb(fn('lower', ['filename']), 'like', patternOf(nameHas)));
      if (purpose !== undefined) query = query.where('purpose', '=', storableText(purpose));
      const rows = await query.orderBy('id').limit(limit).execute();
      return rows.map(toRow);
    },
    async usage(workspaceId) {
      const columns = await kysely
        .selectFrom('file_usage')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirst();
      return { bytes: numberOf(columns?.size_bytes), files: numberOf(columns?.files) };
    },
    async listLeftovers(limit) {
      const rows = await kysely.selectFrom('files').select('id').where('status', '=', 'deleted').limit(limit).execute();
      return rows.map(({ id }) => id);
    },
  };
}

/** `_` stands for any letter, so a name that contains `_` or `%` is still found, though perhaps with others. */
function patternOf(part: string): string {
  return `%${storableText(part)
    .toLowerCase()
    .replaceAll(/[%_\\]/g, '_')}%`;
}

async function finish(
  transaction: Transaction<Tables>,
  row: FileRow,
  { bytesMax, filesMax }: FileRoom,
): Promise<'stored' | 'full' | 'gone'> {
  await transaction
    .insertInto('file_usage')
    .values({ workspace_id: row.workspaceId, size_bytes: 0, files: 0 })
    .onConflict((conflict) => conflict.column('workspace_id').doNothing())
    .execute();
  const { numUpdatedRows: stored } = await transaction
    .updateTable('files')
    .set({ ...toColumns(row), status: 'stored' })
    .where('id', '=', row.id)
    .where('status', '=', 'writing')
    .executeTakeFirst();
  if (stored === 0n) return 'gone';
  const { numUpdatedRows: counted } = await transaction
    .updateTable('file_usage')
    .set(({ eb }) => ({ size_bytes: eb('size_bytes', '+', row.sizeBytes), files: eb('files', '+', 1) }))
    .where('workspace_id', '=', row.workspaceId)
    .where('size_bytes', '<=', bytesMax - row.sizeBytes)
    .where('files', '<', filesMax)
    .executeTakeFirst();
  if (counted > 0n) return 'stored';
  await transaction.updateTable('files').set({ status: 'deleted' }).where('id', '=', row.id).execute();
  return 'full';
}

async function remove(transaction: Transaction<Tables>, workspaceId: string, id: string): Promise<boolean> {
  const removed = await transaction
    .updateTable('files')
    .set({ status: 'deleted' })
    .where('id', '=', id)
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'stored')
    .returning('size_bytes')
    .executeTakeFirst();
  if (removed === undefined) return false;
  const bytes = numberOf(removed.size_bytes);
  await transaction
    .updateTable('file_usage')
    .set(({ eb }) => ({ size_bytes: eb('size_bytes', '-', bytes), files: eb('files', '-', 1) }))
    .where('workspace_id', '=', workspaceId)
    .execute();
  return true;
}

async function giveUp({ kysely }: Database, nowMs: number, begunBeforeMs: number, limit: number): Promise<number> {
  const { numUpdatedRows } = await kysely
    .updateTable('files')
    .set({ status: 'deleted' })
    .where('status', '=', 'writing')
    .where('created_at_ms', '<', begunBeforeMs)
    .executeTakeFirst();
  const stored = kysely.selectFrom('files').select(['id', 'workspace_id']).where('status', '=', 'stored').limit(limit);
  const expired = await stored.where('expires_at_ms', '<=', nowMs).execute();
  // Reads one row a workspace: the deleted workspaces are found among these rows, without a scan of all files.
  const unowned = await stored
    .where('workspace_id', 'in', (query) =>
      query
        .selectFrom('file_usage')
        .select('file_usage.workspace_id')
        .where('file_usage.files', '>', 0)
        .where((is) =>
          is.not(
            is.exists(
              is.selectFrom('workspaces').select('id').whereRef('workspaces.id', '=', 'file_usage.workspace_id'),
            ),
          ),
        ),
    )
    .execute();
  const over = [...expired, ...unowned];
  for (const { id, workspace_id: workspaceId } of over)
    await kysely.transaction().execute((transaction) => remove(transaction, workspaceId, id));
  return Number(numUpdatedRows) + over.length;
}
