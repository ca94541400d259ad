import { sql, type ExpressionBuilder } from 'kysely';
import type { Clock } from '../../lib/clock.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { ResponseLink, ResponseReader, ResponseRow, ResponseRows } from '../../state/contract.ts';
import type { Database } from '../engine/database.ts';
import { numberOf, storableText } from '../portable.ts';
import type { Tables } from '../tables.ts';
import { createBackgroundTasks, type BackgroundTasks } from './background-tasks.ts';
import { createClearing, readOwners } from './clear-rows.ts';
import { storedResponseRows, type StoredResponsesTable } from './columns.ts';
import { listRows } from './list-rows.ts';
import { createMediaStore, type MediaStore } from './media.ts';
import { createResponseEvents, type ResponseEvents } from './response-events.ts';
import { createSealing, type Sealing } from './sealing.ts';

export interface StoredRowsDeps {
  readonly database: Database;
  readonly box: () => Promise<SecretBox>;
  readonly clock: Clock;
  /** Since a row was made; 0: until it is deleted. */
  readonly retentionMs: number;
  /** Of one key. */
  readonly bytesMaxPerKey: number;
  /** Of the events of a background response, since its end. */
  readonly eventsMs: number;
}

/** Responses in the database, which clears away after itself. */
export interface StoredRows extends ResponseRows {
  /** Which process runs which of them in the background. */
  readonly tasks: BackgroundTasks;
  readonly events: ResponseEvents;
  /** Deletes what has expired, what is over the quota of a key, and what is left of deleted rows. `true`: there is more. */
  clearAway(): Promise<boolean>;
}

const IN_ONE_QUERY_MAX = 200;
/** No single row may take more of the quota than this part. */
const ROW_PARTS_MIN = 10;

interface Context {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealing: Sealing;
  readonly media: MediaStore;
}

export function createStoredRows(deps: StoredRowsDeps): StoredRows {
  const { database, clock, retentionMs, bytesMaxPerKey, eventsMs } = deps;
  const { kysely } = database;
  const sealing = createSealing({ box: deps.box, monotonicMs: () => clock.monotonicMs() });
  const media = createMediaStore({ database, sealing, clock });
  const context = { database, clock, sealing, media };
  const clearing = createClearing({ database, clock, media, bytesMaxPerKey, eventsMs });
  return {
    tasks: createBackgroundTasks({ database, sealing, clock }),
    events: createResponseEvents({ database, sealing, clock }),
    put: (row) => put(context, row, { retentionMs, bytesMax: bytesMaxPerKey / ROW_PARTS_MIN }),
    async find(id, reader) {
      const columns = await kysely
        .selectFrom('stored_responses')
        .selectAll()
        .where('id', '=', storableText(id))
        .where((is) => isVisible(is, reader, clock.nowMs()))
        .executeTakeFirst();
      return columns && rowOf(context, columns);
    },
    async findChain(id, reader, bounds) {
      const ids = await findChainIds(context, id, reader, bounds);
      return readLinks(context, ids);
    },
    async findByItems(itemIds, reader, charsMax) {
      return readLinks(context, await findIdsByItems(context, itemIds, reader, charsMax));
    },
    async delete(id, reader) {
      const { numDeletedRows } = await kysely
        .deleteFrom('stored_responses')
        .where('id', '=', storableText(id))
        .where((is) => isVisible(is, reader, clock.nowMs()))
        .executeTakeFirstOrThrow();
      if (numDeletedRows > 0n) await clearing.remove([id]);
      return numDeletedRows > 0n;
    },
    list: (listing) => listRows(database, listing, clock.nowMs()),
    owners: async () => (await readOwners(database)).map(({ owner }) => owner),
    deleteOf: (owner) => clearing.removeOf(owner),
    clearAway: () => clearing.clearAway(),
  };
}

function isVisible(
  is: ExpressionBuilder<Tables, 'stored_responses'>,
  { accountId, workspaceId, keyHash }: ResponseReader,
  nowMs: number,
) {
  return is.and([
    is('stored_responses.account_id', '=', accountId),
    is('stored_responses.workspace_id', '=', workspaceId),
    ...(keyHash === undefined ? [] : [is('stored_responses.key_hash', '=', keyHash)]),
    is.or([is('stored_responses.expires_at_ms', 'is', null), is('stored_responses.expires_at_ms', '>', nowMs)]),
  ]);
}

async function put(
  { database: { kysely }, clock, sealing, media }: Context,
  { items, object, itemIds, owner, ...row }: ResponseRow,
  { retentionMs, bytesMax }: { readonly retentionMs: number; readonly bytesMax: number },
): Promise<boolean> {
  const itemsBytes = Buffer.byteLength(items);
  const sizeBytes = itemsBytes + Buffer.byteLength(object);
  if (sizeBytes > bytesMax) return false;
  const named = await media.takeOut(row.id, items, owner);
  const columns = storedResponseRows.toColumns({
    ...row,
    ...owner,
    expiresAtMs: retentionMs === 0 ? null : row.createdAtMs + retentionMs,
    itemsBytes,
    sizeBytes,
    ...(await sealing.seal(JSON.stringify([itemIds, named, object]), owner)),
  });
  const { id, ...others } = columns;
  // All in one commit where the database gathers statements; what is left of a broken write belongs to no row.
  await Promise.all([
    insertItems(kysely, id, itemIds, clock.nowMs()),
    kysely
      .insertInto('stored_responses')
      .values(columns)
      .onConflict((conflict) => conflict.column('id').doUpdateSet(others))
      .execute(),
  ]);
  return true;
}

async function insertItems(
  kysely: Database['kysely'],
  responseId: string,
  itemIds: readonly string[],
  writtenAtMs: number,
): Promise<void> {
  await kysely
    .deleteFrom('stored_items')
    .where('response_id', '=', responseId)
    .$if(itemIds.length > 0 && itemIds.length <= IN_ONE_QUERY_MAX, (query) =>
      query.where('item_id', 'not in', itemIds.map(storableText)),
    )
    .execute();
  for (let at = 0; at < itemIds.length; at += IN_ONE_QUERY_MAX)
    await kysely
      .insertInto('stored_items')
      .values(
        itemIds
          .slice(at, at + IN_ONE_QUERY_MAX)
          .map((itemId) => ({ item_id: storableText(itemId), response_id: responseId, written_at_ms: writtenAtMs })),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute();
}

/** The newest first, by sizes alone: nothing is opened that goes beyond the bounds. */
async function findChainIds(
  { database: { kysely }, clock }: Context,
  id: string,
  reader: ResponseReader,
  { linksMax, charsMax }: { readonly linksMax: number; readonly charsMax: number },
): Promise<readonly string[]> {
  const nowMs = clock.nowMs();
  const links = await kysely
    .withRecursive('chain', (chain) =>
      chain
        .selectFrom('stored_responses')
        .select(['id', 'parent_id', 'items_bytes as bytes', sql<number>`cast(0 as bigint)`.as('place')])
        .where('id', '=', storableText(id))
        .where((is) => isVisible(is, reader, nowMs))
        .unionAll(
          chain
            .selectFrom('chain')
            .innerJoin('stored_responses', 'stored_responses.id', 'chain.parent_id')
            .select([
              'stored_responses.id',
              'stored_responses.parent_id',
              sql<number>`chain.bytes + stored_responses.items_bytes`.as('bytes'),
              sql<number>`chain.place + 1`.as('place'),
            ])
            .where(sql<boolean>`chain.place < ${linksMax} and chain.bytes <= ${charsMax}`)
            .where((is) => isVisible(is, reader, nowMs)),
        ),
    )
    .selectFrom('chain')
    .select('chain.id')
    .orderBy('chain.place')
    .execute();
  return links.map((link) => link.id);
}

async function findIdsByItems(
  { database: { kysely }, clock }: Context,
  itemIds: readonly string[],
  reader: ResponseReader,
  charsMax: number,
): Promise<readonly string[]> {
  const ids = new Set<string>();
  let chars = 0;
  for (let at = 0; at < itemIds.length && chars <= charsMax; at += IN_ONE_QUERY_MAX) {
    const named = itemIds.slice(at, at + IN_ONE_QUERY_MAX).map(storableText);
    const rows = await kysely
      .selectFrom('stored_items')
      .innerJoin('stored_responses', 'stored_responses.id', 'stored_items.response_id')
      .select(['stored_items.item_id', 'stored_responses.id', 'stored_responses.items_bytes'])
      .where('stored_items.item_id', 'in', named)
      .where((is) => isVisible(is, reader, clock.nowMs()))
      .orderBy('stored_responses.created_at_ms', 'desc')
      .execute();
    const newest = new Map(rows.toReversed().map((row) => [row.item_id, row]));
    for (const { id, items_bytes: bytes } of newest.values()) {
      if (ids.has(id) || chars > charsMax) continue;
      ids.add(id);
      chars += numberOf(bytes);
    }
  }
  return [...ids];
}

/** In the order of the ids. A row that was deleted meanwhile is missing. */
async function readLinks(context: Context, ids: readonly string[]): Promise<readonly ResponseLink[]> {
  const found = new Map<string, ResponseLink>();
  for (let at = 0; at < ids.length; at += IN_ONE_QUERY_MAX) {
    const rows = await context.database.kysely
      .selectFrom('stored_responses')
      .selectAll()
      .where('id', 'in', ids.slice(at, at + IN_ONE_QUERY_MAX))
      .execute();
    for (const columns of rows) found.set(columns.id, await rowOf(context, columns));
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}

async function rowOf({ sealing, media }: Context, columns: StoredResponsesTable): Promise<ResponseRow> {
  const { id, accountId, workspaceId, keyHash, parentId, status, createdAtMs, sealed } =
    storedResponseRows.toRow(columns);
  const owner = { accountId, workspaceId, keyHash };
  const content: unknown = JSON.parse(await sealing.open(sealed, owner));
  const [itemIds, items, object]: readonly unknown[] = Array.isArray(content) ? content : [];
  if (!Array.isArray(itemIds) || typeof items !== 'string' || typeof object !== 'string')
    throw new Error('A stored response has ids, items and an object.');
  return {
    id,
    owner,
    status,
    parentId,
    createdAtMs: numberOf(createdAtMs),
    itemIds: itemIds.map(String),
    items: await media.putBack(items, owner),
    object,
  };
}
