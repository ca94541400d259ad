import { hash } from 'node:crypto';
import type { EventBatch } from '../../canonical/events.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Clock } from '../../lib/clock.ts';
import { ExpiringCache } from '../../lib/cache/expiring-cache.ts';
import type { UpstreamFormat } from '../../wire/format.ts';
import type { PassedValues } from './shared-values.ts';

const SIGNATURES_MAX = 20_000;
export const BYTES_MAX = 32 * 1_024 * 1_024;
/** A conversation that rests for longer goes on with the stopgap of its format. */
const LIFETIME_MS = 6 * 3_600_000;
/** For other processes: long enough for an agent at work, and no burden for what keeps it. */
const SHARED_LIFETIME_MS = 3_600_000;
/** Calls of one request whose signatures are looked up in other processes. */
const REQUESTED_MAX = 64;

/**
 * Signatures that an upstream demands back with the calls that it made: many clients keep nothing of a call but its id,
 * name and arguments, so they are kept here by its id. Each workspace has its own: ids are made elsewhere, and a caller
 * that guesses one must not get the reasoning of another workspace. @spec reasoning-20
 */
export interface SignatureMemory {
  /** Learns from other processes what is not known here; `undefined`: all of it is known. */
  ask(request: GenerationRequest, format: UpstreamFormat, scope: string): Promise<void> | undefined;
  /** The request with the signatures that its caller lost; the same where nothing is known or the format needs none. */
  restore(request: GenerationRequest, format: UpstreamFormat, scope: string): GenerationRequest;
  /** Keeps what the events of an answer show; `undefined` for a format without such signatures. */
  listen(format: UpstreamFormat, scope: string): ((batch: EventBatch) => void) | undefined;
}

export interface SignatureMemoryDeps {
  readonly clock: Clock;
  /** Through which processes pass them to each other; absent: there is one. */
  readonly values?: PassedValues | undefined;
  /** Of the bytes that it may take at most, from 0 to 1. Absent: all of them. */
  readonly part?: number | undefined;
}

export function createSignatureMemory({ clock, values, part = 1 }: SignatureMemoryDeps): SignatureMemory {
  const limits = { entriesMax: SIGNATURES_MAX, bytesMax: Math.floor(BYTES_MAX * part), lifetimeMs: LIFETIME_MS };
  const signatures = new ExpiringCache<string>(limits, () => clock.monotonicMs());
  const keep = (key: string, signature: string): void => signatures.set(key, signature, signature.length);
  return {
    ask(request, { callSignatures }, scope) {
      if (callSignatures === undefined || values === undefined) return undefined;
      const unknown = new Set<string>();
      callSignatures.restore(request, (callId) => {
        const key = keyOf(scope, callId);
        const known = signatures.get(key);
        if (known === undefined && unknown.size < REQUESTED_MAX) unknown.add(key);
        return known;
      });
      return unknown.size === 0 ? undefined : askAll(values, unknown, keep);
    },
    restore(request, { callSignatures }, scope) {
      if (callSignatures === undefined) return request;
      return callSignatures.restore(request, (callId) => signatures.get(keyOf(scope, callId)));
    },
    listen({ callSignatures }, scope) {
      if (callSignatures === undefined) return undefined;
      return (batch) => {
        for (const event of batch) {
          const known = event.type === 'block-start' ? callSignatures.decode(event.block) : undefined;
          if (known === undefined) continue;
          const { callId, signature } = known;
          const key = keyOf(scope, callId);
          keep(key, signature);
          values?.set(sharedKeyOf(key), signature, SHARED_LIFETIME_MS);
        }
      };
    },
  };
}

async function askAll(
  values: PassedValues,
  keys: ReadonlySet<string>,
  keep: (key: string, signature: string) => void,
): Promise<void> {
  await Promise.all(
    [...keys].map(async (key) => {
      const signature = await values.get(sharedKeyOf(key));
      if (signature !== undefined) keep(key, signature);
    }),
  );
}

/** Ids of calls are made elsewhere, and of any length. */
function sharedKeyOf(key: string): string {
  return `signature:${hash('sha256', key, 'base64')}`;
}

function keyOf(scope: string, callId: string): string {
  return `${scope}\0${callId}`;
}
