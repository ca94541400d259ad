import type { ModelRequest } from '../canonical/operation.ts';
import type { Cancellation } from '../lib/async/cancellation.ts';
import type { RequestOwner } from '../telemetry/request-log.ts';
import type { RequestEnd, RequestFacts } from './request.ts';

/** A request under way, as the list of them sees it. */
export interface RunningRequest {
  readonly facts: RequestFacts<ModelRequest>;
  readonly cancellation: Pick<Cancellation<RequestEnd>, 'abort'>;
}

/** What there is of the response is owed, and no upstream failed. */
export function isCutShort(reason: RequestEnd | undefined): boolean {
  return reason === 'gone' || reason === 'stopped';
}

/** One of them, for lists. */
export interface RunningGeneration {
  readonly id: string;
  /** Of the caller's request, which may run several. */
  readonly requestId: string;
  readonly keyHash: string;
  readonly keyName: string | null;
  readonly workspaceId: string;
  /** `completions`, or the kind of another operation: `api_type` of its record. */
  readonly kind: string;
  readonly requested: string;
  /** Null: no endpoint responds yet. */
  readonly model: string | null;
  readonly providerName: string | null;
  readonly isStreamed: boolean;
  readonly ageMs: number;
  /** Null: nothing came yet. */
  readonly firstTokenMs: number | null;
  /** Estimated by the bytes that came. */
  readonly tokens: number;
  /** That failed. */
  readonly failedAttempts: number;
}

/** Whose requests a caller sees: of one key, or of a user with those of the workspaces that it administers. `{}`: all. */
export interface RunningSight {
  readonly onlyKey?: string | undefined;
  readonly onlyOf?: { readonly memberId: string; readonly workspaceIds: readonly string[] } | undefined;
}

/** Requests under way in one process. */
export interface RunningHere {
  /** The newest ones. */
  list(sight: RunningSight, limit: number): { readonly total: number; readonly rows: readonly RunningGeneration[] };
  /** Ends it with an error for its caller. @returns whether it ran here */
  stop(id: string, sight: RunningSight): boolean;
}

const BYTES_PER_TOKEN = 4;

export function createRunningHere(requests: Iterable<RunningRequest>, monotonicMs: () => number): RunningHere {
  return {
    list(sight, limit) {
      const all = [...requests]
        .filter(({ facts: { log } }) => isSeen(log.principal, sight))
        .toSorted((one, other) => other.facts.report.arrivedMs - one.facts.report.arrivedMs);
      return {
        total: all.length,
        rows: all.slice(0, limit).map((request) => describe(request, monotonicMs())),
      };
    },
    stop(id, sight) {
      for (const { facts, cancellation } of requests) {
        const { log } = facts;
        if (log.id !== id || !isSeen(log.principal, sight)) continue;
        cancellation.abort('stopped');
        return true;
      }
      return false;
    },
  };
}

function isSeen({ keyHash, memberId, workspaceId }: RequestOwner, { onlyKey, onlyOf }: RunningSight): boolean {
  if (onlyKey !== undefined && keyHash !== onlyKey) return false;
  return onlyOf === undefined || memberId === onlyOf.memberId || onlyOf.workspaceIds.includes(workspaceId);
}

function describe({ facts: { log, report, meter } }: RunningRequest, nowMs: number): RunningGeneration {
  const { endpoint, firstTokenMs } = meter;
  const bytes = meter.earlierParts.reduce((sum, part) => sum + part.bytes, meter.bytes);
  return {
    id: log.id,
    requestId: log.requestId,
    keyHash: log.principal.keyHash,
    keyName: log.principal.name ?? null,
    workspaceId: log.principal.workspaceId,
    kind: 'kind' in log.request ? log.request.kind : 'completions',
    requested: report.requested,
    model: endpoint?.model ?? null,
    providerName: endpoint?.providerName ?? null,
    isStreamed: 'delivery' in log.request && log.request.delivery === 'stream',
    ageMs: Math.max(0, Math.round(nowMs - report.arrivedMs)),
    firstTokenMs: firstTokenMs === undefined ? null : Math.max(0, Math.round(firstTokenMs - report.arrivedMs)),
    tokens: Math.round(bytes / BYTES_PER_TOKEN),
    failedAttempts: log.attempts.filter(({ status }) => status === null || status >= 400).length,
  };
}
