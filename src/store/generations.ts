import type { Warning } from '../canonical/extra.ts';
import { createHousekeeping } from '../lib/housekeeping.ts';
import { createAppendQueue } from './append-queue.ts';
import { DatabaseError } from './database-error.ts';
import type { Database } from './database.ts';
import { readAttempts, readWarnings, writeAttempts, writeWarnings, type AttemptRecord } from './generation-json.ts';
import { flagOf } from './portable.ts';
import { readSettlements, type Settlement } from './settlement.ts';
import { openSpool } from './spool.ts';
import type { GenerationsTable } from './tables.ts';
import { sumUpAgain } from './usage-rollup.ts';

/** What is kept of one generation: facts and figures, no text of the conversation. */
export interface GenerationRow {
  /** `gen-...`. */
  readonly id: string;
  /** Groups the generations of one HTTP request. */
  readonly requestId: string;
  readonly createdAtMs: number;
  readonly keyHash: string;
  readonly apiType: 'chat' | 'messages';
  /** As the caller spelled it. */
  readonly modelRequested: string;
  /** The slug that served; where none did, the one asked for. */
  readonly model: string;
  /** Slug. Null when no provider was reached. */
  readonly provider: string | null;
  /** Display name. */
  readonly providerName: string | null;
  /** The upstream's own id of the answer. */
  readonly upstreamId: string | null;
  readonly upstreamModel: string | null;
  readonly streamed: boolean;
  /** The caller hung up. */
  readonly cancelled: boolean;
  readonly finishReason: string | null;
  readonly nativeFinishReason: string | null;
  /** The HTTP status that the caller saw. */
  readonly status: number;
  readonly errorType: string | null;
  readonly errorMessage: string | null;
  readonly attempts: readonly AttemptRecord[];
  readonly strategy: string;
  readonly sessionId: string | null;
  readonly endUserHash: string | null;
  /** Token counts as the provider gave them; the prompt's includes cached ones, the completion's reasoning. */
  readonly tokensPrompt: number;
  readonly tokensCompletion: number;
  readonly tokensReasoning: number | null;
  readonly tokensCacheRead: number;
  readonly tokensCacheWrite: number;
  readonly usageSource: 'upstream' | 'estimated' | 'none';
  /** Null: the price is unknown, which is not zero. */
  readonly costNanoUsd: number | null;
  readonly costPromptNanoUsd: number | null;
  readonly costCompletionNanoUsd: number | null;
  readonly isByok: boolean;
  readonly serviceTier: string | null;
  /** From arrival to the end. */
  readonly latencyMs: number;
  readonly timeToFirstTokenMs: number | null;
  /** From the first token to the end. */
  readonly generationTimeMs: number | null;
  readonly warnings: readonly Warning[];
  readonly skippedEvents: number;
  readonly appUrl: string | null;
  readonly appTitle: string | null;
  readonly userAgent: string | null;
  readonly region: string;
  readonly workspaceId: string;
  /** On whose behalf the key was made. */
  readonly memberId: string | null;
  readonly presetSlug: string | null;
  /** The part of `tokensCacheWrite` that lives an hour. */
  readonly tokensCacheWrite1h: number;
  /** On a caller's own credential: what it would have cost on the gateway's. */
  readonly listCostNanoUsd: number | null;
  /** What the upstream says that it charged. */
  readonly upstreamCostNanoUsd: number | null;
  /** Parts of the prompt's and of the completion's tokens; from here on null means that nobody said. */
  readonly tokensAudioPrompt: number | null;
  readonly tokensAudioCompletion: number | null;
  readonly tokensImageCompletion: number | null;
  /** Runs of the upstream's own tools. */
  readonly webSearches: number | null;
  readonly webFetches: number | null;
  /** Pictures, sounds, videos and documents that the caller sent; the sounds among them; what the model made. */
  readonly mediaPrompt: number | null;
  readonly audioPrompt: number | null;
  readonly mediaCompletion: number | null;
  /** At list price; negative where writing to the cache cost more than reading saved. */
  readonly cacheDiscountNanoUsd: number | null;
  /** The generation whose answer was given again. */
  readonly responseCacheSourceId: string | null;
  /** What the request was about. Null: nobody looked. */
  readonly taskType: string | null;
  /** The plugin that chose the model. */
  readonly router: string | null;
  /** The model that a router's choice is compared with, and what was saved against it; negative: spent more. */
  readonly comparedModel: string | null;
  readonly savedNanoUsd: number | null;
  /** Parts of what was charged: for searching and reading the web, and for reading files. Null: nothing. */
  readonly webCostNanoUsd: number | null;
  readonly fileCostNanoUsd: number | null;
  /** Calls of server tools that ran, and those that failed among them. Null: none were offered. */
  readonly toolCalls: number | null;
  readonly toolFailures: number | null;
  /** Two letters, as somebody before the gateway said. */
  readonly country: string | null;
}

/** What follows from a generation for those who pay. */
export type Charges = Pick<Settlement, 'entries' | 'spend'>;

const NO_CHARGES: Charges = { entries: [], spend: [] };

export interface GenerationStore {
  /**
   * Settles when the row is on the disk, or when it was given up and `onLost` has been told; it never rejects. It may
   * wait as long as the database is away, so whoever has a caller waiting sets a limit of their own. Row and charges are
   * stored together; where the row's id is stored already nothing changes.
   */
  append(row: GenerationRow, charges?: Charges): Promise<void>;
  find(id: string): Promise<GenerationRow | undefined>;
  /** Rows that are neither stored nor given up: those in memory, and those that are kept in files. */
  pending(): number;
  /** Begins to store what was kept in files, by this process or one before. */
  start(): void;
  /** Whether the database, though it may answer, lacks rows that it should have taken by now: its sums are too low. */
  isBehind(): boolean;
  /** Stores what is pending, keeps it in files, or gives it up. To be called before the database closes. */
  close(): Promise<void>;
}

export interface GenerationStoreOptions {
  readonly database: Database;
  /** Where rows are kept while the database does not take them. Absent: nowhere. */
  readonly spool?: SpoolPlace;
  /** Called once for each row that could not be stored: the last chance to write it somewhere. Must not throw. */
  readonly onLost: (row: GenerationRow, error: Error) => void;
  /** Called when rows begin to wait for a database that is away, and when it takes them again. Must not throw. */
  readonly onStuck?: (isStuck: boolean, error?: unknown) => void;
  /** Waits between tries of a batch that failed, ms. */
  readonly retryDelaysMs?: readonly number[];
  /** Rows that may wait; one more is given up at once. */
  readonly pendingMax?: number;
}

export interface SpoolPlace {
  readonly folder: string;
  readonly nowMs: () => number;
  /** A file that holds no rows was set aside. Must not throw. */
  readonly onUnreadable: (file: string) => void;
  /** They cannot be stored, and the database is not the reason. Must not throw. */
  readonly onFailed: (error: unknown) => void;
}

/** Between two tries to store what is kept in files. */
const DRAIN_EVERY_MS = 1_000;

/** Drawn up when it is appended, while the batch before is being stored. */
interface PendingRow {
  readonly row: GenerationRow;
  readonly settlement: Settlement;
}

export function createGenerationStore(options: GenerationStoreOptions): GenerationStore {
  const { database, onLost, onStuck, retryDelaysMs, pendingMax } = options;
  const spool = options.spool && openSpool({ ...options.spool, read: readSettlements });
  const { kysely } = database;
  const queue = createAppendQueue<PendingRow>({
    async appendBatch(rows) {
      const refused = await database.appendSettlements(rows.map(({ settlement }) => settlement));
      return refused.map(({ index, fault }) => ({ index, error: new DatabaseError(fault) }));
    },
    isTransient,
    ...(spool !== undefined && { keep: (rows) => spool.keep(rows.map(({ settlement }) => settlement)) }),
    onLost: ({ row }, error) => onLost(row, error),
    ...(onStuck !== undefined && { onStuck }),
    ...(retryDelaysMs !== undefined && { retryDelaysMs }),
    ...(pendingMax !== undefined && { itemsMax: pendingMax }),
  });
  const storeKept = async (kept: readonly Settlement[]): Promise<void> => {
    for (const { index, fault } of await database.appendSettlements(kept)) {
      const settlement = kept[index];
      if (settlement !== undefined) onLost(rowOf(settlement.generation), new DatabaseError(fault));
    }
    await sumUpAgain(database, Math.min(...kept.map(({ generation }) => generation.created_at_ms)));
  };
  const drains = createHousekeeping({
    async work() {
      if (spool !== undefined && spool.count() > 0) await spool.drain(storeKept);
      return false;
    },
    everyMs: DRAIN_EVERY_MS,
    pauseMs: 0,
    onFailed(error) {
      // While the database is away it is tried again, which was told.
      if (!isTransient(error)) options.spool?.onFailed(error);
    },
  });
  return {
    start: () => drains.start(),
    append: (row, charges = NO_CHARGES) =>
      queue.append({ row, settlement: { generation: columnsOf(row), ...charges } }),
    async find(id) {
      const columns = await kysely.selectFrom('generations').selectAll().where('id', '=', id).executeTakeFirst();
      return columns && rowOf(columns);
    },
    pending: () => queue.pending() + (spool?.count() ?? 0),
    isBehind: () => queue.isBehind() || (spool !== undefined && spool.count() > 0),
    async close() {
      await drains.stop();
      await queue.close();
    },
  };
}

function isTransient(error: unknown): boolean {
  return error instanceof DatabaseError && error.transient;
}

function whole(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}

function columnsOf(row: GenerationRow) {
  return {
    id: row.id,
    request_id: row.requestId,
    created_at_ms: row.createdAtMs,
    key_hash: row.keyHash,
    api_type: row.apiType,
    model_requested: row.modelRequested,
    model: row.model,
    provider: row.provider,
    provider_name: row.providerName,
    upstream_id: row.upstreamId,
    upstream_model: row.upstreamModel,
    streamed: flagOf(row.streamed),
    cancelled: flagOf(row.cancelled),
    finish_reason: row.finishReason,
    native_finish_reason: row.nativeFinishReason,
    status: row.status,
    error_type: row.errorType,
    error_message: row.errorMessage,
    attempts: writeAttempts(row.attempts),
    strategy: row.strategy,
    session_id: row.sessionId,
    end_user_hash: row.endUserHash,
    tokens_prompt: row.tokensPrompt,
    tokens_completion: row.tokensCompletion,
    tokens_reasoning: row.tokensReasoning,
    tokens_cache_read: row.tokensCacheRead,
    tokens_cache_write: row.tokensCacheWrite,
    usage_source: row.usageSource,
    cost_nano_usd: row.costNanoUsd,
    cost_prompt_nano_usd: row.costPromptNanoUsd,
    cost_completion_nano_usd: row.costCompletionNanoUsd,
    is_byok: flagOf(row.isByok),
    service_tier: row.serviceTier,
    latency_ms: Math.round(row.latencyMs),
    time_to_first_token_ms: whole(row.timeToFirstTokenMs),
    generation_time_ms: whole(row.generationTimeMs),
    warnings: writeWarnings(row.warnings),
    skipped_events: row.skippedEvents,
    app_url: row.appUrl,
    app_title: row.appTitle,
    user_agent: row.userAgent,
    region: row.region,
    workspace_id: row.workspaceId,
    member_id: row.memberId,
    preset_slug: row.presetSlug,
    tokens_cache_write_1h: row.tokensCacheWrite1h,
    list_cost_nano_usd: row.listCostNanoUsd,
    upstream_cost_nano_usd: row.upstreamCostNanoUsd,
    tokens_audio_prompt: row.tokensAudioPrompt,
    tokens_audio_completion: row.tokensAudioCompletion,
    tokens_image_completion: row.tokensImageCompletion,
    web_searches: row.webSearches,
    web_fetches: row.webFetches,
    media_prompt: row.mediaPrompt,
    audio_prompt: row.audioPrompt,
    media_completion: row.mediaCompletion,
    cache_discount_nano_usd: row.cacheDiscountNanoUsd,
    response_cache_source_id: row.responseCacheSourceId,
    task_type: row.taskType,
    router: row.router,
    compared_model: row.comparedModel,
    saved_nano_usd: row.savedNanoUsd,
    ...toolColumnsOf(row),
  } satisfies GenerationsTable;
}

function toolColumnsOf(row: GenerationRow) {
  return {
    web_cost_nano_usd: row.webCostNanoUsd,
    file_cost_nano_usd: row.fileCostNanoUsd,
    tool_calls: row.toolCalls,
    tool_failures: row.toolFailures,
    country: row.country,
  };
}

export function rowOf(columns: GenerationsTable): GenerationRow {
  return {
    id: columns.id,
    requestId: columns.request_id,
    createdAtMs: columns.created_at_ms,
    keyHash: columns.key_hash,
    apiType: columns.api_type,
    modelRequested: columns.model_requested,
    model: columns.model,
    provider: columns.provider,
    providerName: columns.provider_name,
    upstreamId: columns.upstream_id,
    upstreamModel: columns.upstream_model,
    streamed: columns.streamed === 1,
    cancelled: columns.cancelled === 1,
    finishReason: columns.finish_reason,
    nativeFinishReason: columns.native_finish_reason,
    status: columns.status,
    errorType: columns.error_type,
    errorMessage: columns.error_message,
    attempts: readAttempts(columns.attempts),
    strategy: columns.strategy,
    sessionId: columns.session_id,
    endUserHash: columns.end_user_hash,
    tokensPrompt: columns.tokens_prompt,
    tokensCompletion: columns.tokens_completion,
    tokensReasoning: columns.tokens_reasoning,
    tokensCacheRead: columns.tokens_cache_read,
    tokensCacheWrite: columns.tokens_cache_write,
    usageSource: columns.usage_source,
    costNanoUsd: columns.cost_nano_usd,
    costPromptNanoUsd: columns.cost_prompt_nano_usd,
    costCompletionNanoUsd: columns.cost_completion_nano_usd,
    isByok: columns.is_byok === 1,
    serviceTier: columns.service_tier,
    latencyMs: columns.latency_ms,
    timeToFirstTokenMs: columns.time_to_first_token_ms,
    generationTimeMs: columns.generation_time_ms,
    warnings: readWarnings(columns.warnings),
    skippedEvents: columns.skipped_events,
    appUrl: columns.app_url,
    appTitle: columns.app_title,
    userAgent: columns.user_agent,
    region: columns.region,
    workspaceId: columns.workspace_id,
    memberId: columns.member_id,
    presetSlug: columns.preset_slug,
    tokensCacheWrite1h: columns.tokens_cache_write_1h,
    listCostNanoUsd: columns.list_cost_nano_usd,
    upstreamCostNanoUsd: columns.upstream_cost_nano_usd,
    tokensAudioPrompt: columns.tokens_audio_prompt,
    tokensAudioCompletion: columns.tokens_audio_completion,
    tokensImageCompletion: columns.tokens_image_completion,
    webSearches: columns.web_searches,
    webFetches: columns.web_fetches,
    mediaPrompt: columns.media_prompt,
    audioPrompt: columns.audio_prompt,
    mediaCompletion: columns.media_completion,
    cacheDiscountNanoUsd: columns.cache_discount_nano_usd,
    responseCacheSourceId: columns.response_cache_source_id,
    taskType: columns.task_type,
    router: columns.router,
    comparedModel: columns.compared_model,
    savedNanoUsd: columns.saved_nano_usd,
    ...toolFactsOf(columns),
  };
}

function toolFactsOf(columns: GenerationsTable) {
  return {
    webCostNanoUsd: columns.web_cost_nano_usd,
    fileCostNanoUsd: columns.file_cost_nano_usd,
    toolCalls: columns.tool_calls,
    toolFailures: columns.tool_failures,
    country: columns.country,
  };
}
