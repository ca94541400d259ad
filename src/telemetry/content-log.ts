import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { Clock } from '../lib/clock.ts';
import { createFreshValues, type FreshValues } from '../lib/fresh-values.ts';
import { isSampled } from '../lib/is-sampled.ts';
import { isJsonObject, parseJson, type JsonObject } from '../lib/json.ts';
import { SecretBoxError, type SecretBox } from '../lib/secret-box.ts';
import { createAppendQueue } from '../store/append-queue.ts';
import type { ContentRow, ContentStore } from '../store/generation-content.ts';
import { AnswerCapture } from './answer-capture.ts';
import { drawContent, type GenerationContent } from './draw-content.ts';
import type { Asker, GenerationRecord } from './record.ts';

/** What a workspace says of its content and records. */
export interface LogSwitches {
  readonly logsContent: boolean;
  /** Of a million generations. */
  readonly logsContentPpm: number;
  readonly logsContentOfKeyIds: readonly number[] | null;
  readonly logsContentOfKeyHashes: readonly string[] | null;
  /** Whether records are sent to destinations. */
  readonly broadcasts: boolean;
}

/** What was said in generations, kept where their workspace turned that on. Off the request's path. */
export interface ContentLog {
  /** Begins to keep an answer; `undefined` where it is known that nobody wants it. */
  open(record: Pick<GenerationRecord, 'id' | 'asker' | 'request'>): AnswerCapture | undefined;
  /** What was said; `undefined` where nobody wants it kept. After the generation ended. */
  take(record: GenerationRecord): Promise<GenerationContent | undefined>;
  /** Keeps it, or tells that it was lost. Never rejects. */
  keep(record: Pick<GenerationRecord, 'id' | 'asker' | 'createdMs'>, content: GenerationContent): Promise<void>;
  /** @throws GatewayError 404 when it was sealed with a secret that is gone */
  find(generationId: string): Promise<JsonObject | undefined>;
  /** Deletes what is older than it may be; bounded work. `true`: there is more. */
  purge(): Promise<boolean>;
  close(): Promise<void>;
}

export interface ContentLogParts {
  readonly store: ContentStore;
  readonly switches: Pick<FreshValues<LogSwitches>, 'get'>;
  readonly box: () => Promise<SecretBox>;
  readonly clock: Clock;
  readonly retentionMs: number;
  readonly onLost: (generationId: string, error: unknown) => void;
}

/** Beside the 512 Ki characters of request and answer each, a text waits in memory compressed and sealed. */
const WAITING_MAX = 64;
const RETRY_DELAYS_MS = [500, 2_000, 8_000];
const PURGE_ROWS = 200;
const BOX_FRESH_MS = 60_000;
const BOX_READ_MS_MAX = 5_000;
/** What a decompressed text may be: twice a million characters of four bytes at the most, and its JSON. */
const BYTES_MAX = 16 * 1_024 * 1_024;

const compress = promisify<string, Buffer>(deflateRaw);

export function createContentLog(parts: ContentLogParts): ContentLog {
  const { store, switches, clock } = parts;
  const boxes = createFreshValues<SecretBox>({
    read: parts.box,
    nowMs: () => clock.monotonicMs(),
    freshMs: BOX_FRESH_MS,
    staleMsMax: BOX_FRESH_MS,
    readMsMax: BOX_READ_MS_MAX,
    entriesMax: 1,
  });
  const queue = createAppendQueue<ContentRow>({
    async appendBatch(rows) {
      await store.insert(rows);
      return [];
    },
    isTransient: () => true,
    onLost: ({ generationId }, error) => parts.onLost(generationId, error),
    itemsMax: WAITING_MAX,
    retryDelaysMs: RETRY_DELAYS_MS,
  });
  return {
    open(record) {
      const known = switches.get(record.asker.workspaceId);
      // Where it must be looked up first the answer is kept meanwhile, and dropped at its end.
      if (known instanceof Promise) {
        known.catch(() => undefined);
        return new AnswerCapture();
      }
      return isWanted(known, record) ? new AnswerCapture() : undefined;
    },
    async take(record) {
      if (record.capture === undefined) return undefined;
      if (!isWanted(await switches.get(record.asker.workspaceId), record)) return undefined;
      return drawContent(record, record.capture.answer());
    },
    async keep({ id, asker, createdMs }, content) {
      try {
        const box = await boxes.get('');
        const compressed = await compress(JSON.stringify(content));
        await queue.append({
          generationId: id,
          createdAtMs: createdMs,
          workspaceId: asker.workspaceId,
          sealed: box.seal(compressed.toString('base64'), purposeOf(id)),
          secretId: box.currentId,
        });
      } catch (error) {
        parts.onLost(id, error);
      }
    },
    async find(generationId) {
      const row = await store.find(generationId);
      if (row === undefined || row.createdAtMs < clock.nowMs() - parts.retentionMs) return undefined;
      const box = await parts.box();
      const bytes = await inflate(Buffer.from(openSealed(box, row), 'base64'));
      const content = parseJson(bytes.toString('utf8'));
      return isJsonObject(content) ? content : undefined;
    },
    async purge() {
      return (await store.removeBefore(clock.nowMs() - parts.retentionMs, PURGE_ROWS)) === PURGE_ROWS;
    },
    close: () => queue.close(),
  };
}

function openSealed(box: SecretBox, { sealed, generationId }: ContentRow): string {
  try {
    return box.open(sealed, purposeOf(generationId));
  } catch (cause) {
    if (!(cause instanceof SecretBoxError)) throw cause;
    throw new GatewayError('not_found', 'What was said cannot be opened: the secret that sealed it is gone.', {
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

/** A sealed text opens for its own generation only. */
export function purposeOf(generationId: string): string {
  return `generation-content:${generationId}`;
}

/** A session is kept whole or not at all. */
function isWanted(
  switches: LogSwitches,
  { id, asker, request }: { readonly id: string; readonly asker: Asker; readonly request: GenerationRecord['request'] },
): boolean {
  if (!switches.logsContent || !isOfKey(switches, asker.keyHash)) return false;
  return isSampled(request.directives.sessionId ?? id, switches.logsContentPpm);
}

/** Keys have no numbers here: a list of numbers alone names nobody's key. */
function isOfKey({ logsContentOfKeyIds, logsContentOfKeyHashes }: LogSwitches, keyHash: string): boolean {
  if (logsContentOfKeyHashes !== null) return logsContentOfKeyHashes.includes(keyHash);
  return logsContentOfKeyIds === null;
}
