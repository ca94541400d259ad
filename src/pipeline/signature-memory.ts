import { hash } from 'node:crypto';
import type { EventBatch } from '../canonical/events.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Clock } from '../lib/clock.ts';
import { ExpiringMap } from '../lib/expiring-map.ts';
import type { UpstreamFormat } from '../wire/format.ts';
import type { PassedValues } from './passed-values.ts';

const SIGNATURES_MAX = 20_000;
const BYTES_MAX = 32 * 1_024 * 1_024;
/** A conversation that rests for longer goes on with the stopgap of its format. */
const LIFETIME_MS = 6 * 3_600_000;
/** For other processes: long enough for an agent at work, and no burden for what keeps it. */
const SHARED_LIFETIME_MS = 3_600_000;
/** Calls of one request whose signatures other processes are asked for. */
const ASKED_MAX = 64;

/**
 * Signatures that an upstream demands back with the calls that it made: many clients keep nothing of a call but its id,
 * name and arguments, so they are kept here by its id. Each account has its own: ids are made elsewhere, and whoever
 * guesses one must not be told what another account's model thought. @source pains.md 19
 */
export interface SignatureMemory {
  /** Learns from other processes what is not known here; `undefined`: nobody need be asked. */
  ask(request: GenerationRequest, format: UpstreamFormat, accountId: string): Promise<void> | undefined;
  /** The request with the signatures that its caller lost; the same where nothing is known or the format needs none. */
  restore(request: GenerationRequest, format: UpstreamFormat, accountId: string): GenerationRequest;
  /** Keeps what the events of an answer show; `undefined` for a format without such signatures. */
  listen(format: UpstreamFormat, accountId: string): ((batch: EventBatch) => void) | undefined;
}

export interface SignatureMemoryParts {
  readonly clock: Clock;
  /** Through which processes pass them to each other; absent: there is one. */
  readonly values?: PassedValues | undefined;
}

export function createSignatureMemory({ clock, values }: SignatureMemoryParts): SignatureMemory {
  const limits = { entriesMax: SIGNATURES_MAX, bytesMax: BYTES_MAX, lifetimeMs: LIFETIME_MS };
  const signatures = new ExpiringMap<string>(limits, () => clock.monotonicMs());
  const keep = (key: string, signature: string): void => signatures.set(key, signature, signature.length);
  return {
    ask(request, { callSignatures }, accountId) {
      if (callSignatures === undefined || values === undefined) return undefined;
      const unknown = new Set<string>();
      callSignatures.restore(request, (callId) => {
        const key = keyOf(accountId, callId);
        const known = signatures.get(key);
        if (known === undefined && unknown.size < ASKED_MAX) unknown.add(key);
        return known;
      });
      return unknown.size === 0 ? undefined : askAll(values, unknown, keep);
    },
    restore(request, { callSignatures }, accountId) {
      if (callSignatures === undefined) return request;
      return callSignatures.restore(request, (callId) => signatures.get(keyOf(accountId, callId)));
    },
    listen({ callSignatures }, accountId) {
      if (callSignatures === undefined) return undefined;
      return (batch) => {
        for (const event of batch) {
          const known = event.type === 'block-start' ? callSignatures.read(event.block) : undefined;
          if (known === undefined) continue;
          const { callId, signature } = known;
          const key = keyOf(accountId, callId);
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

function keyOf(accountId: string, callId: string): string {
  return `${accountId}\0${callId}`;
}
