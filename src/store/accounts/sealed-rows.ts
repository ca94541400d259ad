import { sql } from 'kysely';
import type { Database } from '../engine/database.ts';

/** A row with a text that `lib/secret-box.ts` sealed. */
export interface SealedRow {
  readonly id: string;
  readonly sealed: string;
  /** What the text is sealed for beside its id: a provider, or an account and its workspace. */
  readonly context: string | null;
}

/** The sealed texts of one table. */
export interface SealedRows {
  /** Lists the ids of the secrets that sealed the stored texts. */
  secretIds(): Promise<readonly string[]>;
  /** Lists rows that another secret sealed, by id, after this id. */
  sealedByOthers(secretId: string, afterId: string, limit: number): Promise<readonly SealedRow[]>;
  /** Replaces a sealed text unless it was changed meanwhile. Returns whether it replaced it. */
  reseal(row: SealedRow, sealed: string, secretId: string): Promise<boolean>;
}

interface Place {
  readonly table: string;
  readonly id: string;
  readonly sealed: string;
  /** An expression in SQL. */
  readonly context?: string;
}

const WORKSPACE = "account_id || ' ' || workspace_id";

const PLACES = {
  credentials: { table: 'byok_keys', id: 'id', sealed: 'sealed', context: 'provider' },
  content: { table: 'generation_content', id: 'generation_id', sealed: 'sealed' },
  destinations: { table: 'destinations', id: 'id', sealed: 'sealed_config' },
  notificationChannels: { table: 'notification_channels', id: 'id', sealed: 'sealed_config' },
  responses: { table: 'stored_responses', id: 'id', sealed: 'sealed', context: WORKSPACE },
  responseMedia: { table: 'stored_media', id: 'id', sealed: 'sealed', context: WORKSPACE },
  backgroundResponses: { table: 'background_responses', id: 'id', sealed: 'sealed', context: WORKSPACE },
  responseEvents: { table: 'response_events', id: 'id', sealed: 'sealed', context: WORKSPACE },
  vaultSecrets: {
    table: 'vault_secrets',
    id: 'id',
    sealed: 'sealed',
    context: "scope_kind || ':' || scope_id || ':' || name",
  },
  videoJobs: { table: 'video_jobs', id: 'id', sealed: 'sealed', context: WORKSPACE },
  internTexts: { table: 'intern_texts', id: 'id', sealed: 'sealed', context: 'intern_id' },
} as const satisfies Readonly<Record<string, Place>>;

/** Every table that holds sealed texts. A change of the secret must visit all of them. */
export type SealedPlace = keyof typeof PLACES;

export function createSealedRows(database: Database): Readonly<Record<SealedPlace, SealedRows>> {
  return {
    credentials: rowsAt(database, PLACES.credentials),
    content: rowsAt(database, PLACES.content),
    destinations: rowsAt(database, PLACES.destinations),
    notificationChannels: rowsAt(database, PLACES.notificationChannels),
    responses: rowsAt(database, PLACES.responses),
    responseMedia: rowsAt(database, PLACES.responseMedia),
    vaultSecrets: rowsAt(database, PLACES.vaultSecrets),
    videoJobs: rowsAt(database, PLACES.videoJobs),
    internTexts: rowsAt(database, PLACES.internTexts),
    backgroundResponses: rowsAt(database, PLACES.backgroundResponses),
    responseEvents: rowsAt(database, PLACES.responseEvents),
  };
}

function rowsAt({ kysely }: Database, place: Place): SealedRows {
  const table = sql.table(place.table);
  const id = sql.ref(place.id);
  const sealedBefore = sql.ref(place.sealed);
  const context = place.context === undefined ? sql`null` : sql.raw(place.context);
  return {
    async secretIds() {
      const { rows } = await sql<{ readonly id: string }>`
        select distinct secret_id as id from ${table} where secret_id is not null
      `.execute(kysely);
      return rows.map((row) => row.id);
    },
    async sealedByOthers(secretId, afterId, limit) {
      const { rows } = await sql<SealedRow>`
        select ${id} as id, ${sealedBefore} as sealed, ${context} as context from ${table}
        where secret_id is not null and secret_id <> ${secretId} and ${id} > ${afterId}
        order by ${id} limit ${limit}
      `.execute(kysely);
      return rows;
    },
    async reseal(row, sealed, secretId) {
      const { numAffectedRows } = await sql`
        update ${table} set ${sealedBefore} = ${sealed}, secret_id = ${secretId}
        where ${id} = ${row.id} and ${sealedBefore} = ${row.sealed}
      `.execute(kysely);
      return numAffectedRows !== 0n;
    },
  };
}
