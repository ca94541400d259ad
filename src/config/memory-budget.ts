/**
 * The one budget of memory. Each part of the gateway that keeps what strangers send has a share of it and refuses what goes
 * beyond; together the shares fit into the limit of the process.
 */
export interface MemoryBudget {
  /** What the process may use as a whole. */
  readonly limitBytes: number;
  /** Bodies of requests under way: as they came, inflated, parsed, and as they are sent on. */
  readonly bodyBytes: number;
  /** Files that requests name, as long as they are under way. */
  readonly fileBytes: number;
  /** Threads that make text of PDFs and pages, all together. */
  readonly documentBytes: number;
  /** Windows and buffers of what inflates answers of upstreams that encode them. */
  readonly inflateBytes: number;
  /** Size of the response cache. */
  readonly responseCacheBytes: number;
  /** Responses that later requests may continue, where they are kept in memory. */
  readonly keptResponseBytes: number;
  /** Large answers that come as a whole, until they are handed over. */
  readonly answerBytes: number;
  /** What is recalled of earlier answers and conversations, as a part of what it takes at most: from 0 to 1. */
  readonly recallPart: number;
  /** Answers that wait for callers that read slowly. */
  readonly unreadBytes: number;
  /** Open connections of callers. */
  readonly connections: number;
}

const MB = 1_048_576;
/** The runtime, the code, the catalog and the threads of a gateway without load. */
export const IDLE_BYTES = 160 * MB;
const FILE_MB_MAX = 256;
const DOCUMENT_MB_MAX = 1_536;
const RESPONSE_CACHE_MB_MAX = 64;
const KEPT_RESPONSES_MB_MAX = 64;
/** Parsed bodies are on V8's heap, which ends at 4 GB however much memory there is. */
const BODY_MB_MAX = 2_048;
const ANSWER_MB_MAX = 1_024;
const UNREAD_MB_MAX = 1_024;
const INFLATE_MB_MAX = 512;
/** Signatures, origins and the writing of reasoning (pipeline/replay/replay-memory.ts), and what routers chose (app/routers.ts). */
export const RECALL_MB_MAX = 120;
/** A connection with its unread headers and buffers. */
export const CONNECTION_BYTES = 48 * 1_024;
const CONNECTIONS_MAX = 16_384;
/** What is left of a limit below which nothing sensible can be done. */
const FREE_BYTES_MIN = 64 * MB;

/** @param limitBytes what the process may use */
export function budgetMemory(limitBytes: number): MemoryBudget {
  const free = Math.max(limitBytes - IDLE_BYTES, FREE_BYTES_MIN);
  const share = (part: number, mbMax: number): number => Math.min(Math.floor(free * part), mbMax * MB);
  return {
    limitBytes,
    bodyBytes: share(7 / 32, BODY_MB_MAX),
    answerBytes: share(4 / 32, ANSWER_MB_MAX),
    fileBytes: share(4 / 32, FILE_MB_MAX),
    documentBytes: share(7 / 32, DOCUMENT_MB_MAX),
    recallPart: share(1 / 32, RECALL_MB_MAX) / (RECALL_MB_MAX * MB),
    inflateBytes: share(2 / 32, INFLATE_MB_MAX),
    responseCacheBytes: share(1 / 64, RESPONSE_CACHE_MB_MAX),
    keptResponseBytes: share(1 / 64, KEPT_RESPONSES_MB_MAX),
    unreadBytes: share(2 / 32, UNREAD_MB_MAX),
    connections: Math.min(Math.floor((free * (4 / 32)) / CONNECTION_BYTES), CONNECTIONS_MAX),
  };
}
