import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { Clock } from '../lib/clock.ts';
import { createReadThroughCache, type ReadThroughCache } from '../lib/cache/read-through-cache.ts';
import { isSampled } from './is-sampled.ts';
import { isJsonObject, parseJson, type JsonObject } from '../lib/json.ts';
import { SecretBoxError, type SecretBox } from '../lib/secret-box.ts';
import { createAppendQueue } from './append-queue.ts';
import type { ContentRow } from '../store/accounts/columns.ts';
import type { ContentStore } from '../store/generations/generation-content.ts';
import { ResponseCapture } from './response-capture.ts';
import { serializeContent, type GenerationContent } from './serialize-content.ts';
import type { GenerationRecord } from './record.ts';
import type { RequestOwner } from './request-log.ts';

/** What a workspace says of its content and records. */
export interface LogSwitches {
  readonly isIoLoggingEnabled: boolean;
  /** Of a million generations. */
  readonly ioLoggingSamplingPpm: number;
  readonly ioLoggingApiKeyIds: readonly number[] | null;
  readonly ioLoggingApiKeyHashes: readonly string[] | null;
  /** Whether records are sent to destinations. */
  readonly isBroadcastEnabled: boolean;
}

/** What was said in generations, kept where their workspace turned that on. Off the request's path. */
export interface ContentLog {
  /** Begins to capture a response; `undefined` when the workspace is known not to store content. */
  open(record: Pick<GenerationRecord, 'id' | 'principal' | 'request'>): ResponseCapture | undefined;
  /** The content; `undefined` if it is not to be stored. Called after the generation ended. */
  take(record: GenerationRecord): Promise<GenerationContent | undefined>;
  /** Stores it, or reports that it was lost. Never rejects. */
  keep(record: Pick<GenerationRecord, 'id' | 'principal' | 'createdMs'>, content: GenerationContent): Promise<void>;
  /** @throws GatewayError 404 when the secret that encrypted it is gone */
  find(generationId: string): Promise<JsonObject | undefined>;
  /** The same; `undefined` where the secret is gone, too. */
  read(generationId: string): Promise<GenerationContent | undefined>;
  /** Deletes what is older than it may be; bounded work. `true`: there is more. */
  purge(): Promise<boolean>;
  close(): Promise<void>;
}

export interface ContentLogDeps {
  readonly store: ContentStore;
  readonly switches: Pick<ReadThroughCache<LogSwitches>, 'get'>;
  readonly box: () => Promise<SecretBox>;
  readonly clock: Clock;
  readonly retentionMs: number;
  readonly onLost: (generationId: string, error: unknown) => void;
}

/** Beside the 512 Ki characters of request and response each, a text waits in memory compressed and encrypted. */
const WAITING_MAX = 64;
const RETRY_DELAYS_MS = [500, 2_000, 8_000];
const PURGE_ROWS = 200;
const BOX_FRESH_MS = 60_000;
const BOX_READ_MS_MAX = 5_000;
/** What a decompressed text may be: twice a million characters of four bytes at the most, and its JSON. */
const BYTES_MAX = 16 * 1_024 * 1_024;

const compress = promisify<string, Buffer>(deflateRaw);

export function createContentLog(deps: ContentLogDeps): ContentLog {
  const { store, switches, clock } = deps;
  const boxes = createReadThroughCache<SecretBox>({
    read: deps.box,
    nowMs: clock.monotonicMs,
    freshMs: BOX_FRESH_MS,
    staleMsMax: BOX_FRESH_MS,
    readMsMax: BOX_READ_MS_MAX,
    entriesMax: 1,
  });
  const queue = createAppendQueue<ContentRow>({
    appendBatch: (rows) => store.insert(rows),
    onLost: ({ generationId }, error) => deps.onLost(generationId, error),
    itemsMax: WAITING_MAX,
    retryDelaysMs: RETRY_DELAYS_MS,
  });
  const find: ContentLog['find'] = async (generationId) => {
    const row = await store.find(generationId);
    if (row === undefined || row.createdAtMs < clock.nowMs() - deps.retentionMs) return undefined;
    const box = await deps.box();
    const bytes = await inflate(Buffer.from(openSealed(box, row), 'base64'));
    const content = parseJson(bytes.toString('utf8'));
    return isJsonObject(content) ? content : undefined;
  };
  return {
    open(record) {
      const known = switches.get(record.principal.workspaceId);
      // Where it must be looked up first the answer is kept meanwhile, and dropped at its end.
      if (known instanceof Promise) {
        known.catch(() => undefined);
        return new ResponseCapture();
      }
      return isWanted(known, record) ? new ResponseCapture() : undefined;
    },
    async take(record) {
      if (record.capture?.isStored !== true) return undefined;
      if (!isWanted(await switches.get(record.principal.workspaceId), record)) return undefined;
      return serializeContent(record, record.capture.answer());
    },
    async keep({ id, principal, createdMs }, content) {
      try {
        const box = await boxes.get('');
        const compressed = await compress(JSON.stringify(content));
        await queue.append({
          generationId: id,
          createdAtMs: createdMs,
          workspaceId: principal.workspaceId,
          sealed: box.seal(compressed.toString('base64'), purposeOf(id)),
          secretId: box.currentId,
        });
      } catch (error) {
        deps.onLost(id, error);
      }
    },
    find,
    async read(generationId) {
      const found = await find(generationId).catch((error: unknown) => {
        if (error instanceof GatewayError) return undefined;
        throw error;
      });
      return found !== undefined && isContent(found) ? found : undefined;
    },
    async purge() {
      return (await store.removeBefore(clock.nowMs() - deps.retentionMs, PURGE_ROWS)) === PURGE_ROWS;
    },
    close: () => queue.close(),
  };
}

/** What `keep` stored. */
function isContent(value: object): value is GenerationContent {
  return 'input' in value && 'output' in value;
}

function openSealed(box: SecretBox, { sealed, generationId }: ContentRow): string {
  try {
    return box.open(sealed, purposeOf(generationId));
  } catch (cause) {
    if (!(cause instanceof SecretBoxError)) throw cause;
    throw new GatewayError('not_found', 'The content cannot be decrypted: the secret that encrypted it is gone.', {
      cause,
    });
  }
}

function inflate(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    inflateRaw(bytes, { maxOutputLength: BYTES_MAX }, (error, result) =>
      error === null ? resolve(result) : reject(error),
    );
  });
}

/** An encrypted text can be decrypted only for its own generation. */
export function purposeOf(generationId: string): string {
  return `generation-content:${generationId}`;
}

/** A session is kept whole or not at all. */
function isWanted(
  switches: LogSwitches,
  {
    id,
    principal,
    request,
  }: { readonly id: string; readonly principal: RequestOwner; readonly request: GenerationRecord['request'] },
): boolean {
  if (!switches.isIoLoggingEnabled || !isOfKey(switches, principal.keyHash)) return false;
  return isSampled(request.directives.sessionId ?? id, switches.ioLoggingSamplingPpm);
}

/** Keys have no numbers here: a list of numbers matches no key. */
function isOfKey({ ioLoggingApiKeyIds, ioLoggingApiKeyHashes }: LogSwitches, keyHash: string): boolean {
  if (ioLoggingApiKeyHashes !== null) return ioLoggingApiKeyHashes.includes(keyHash);
  return ioLoggingApiKeyIds === null;
}
