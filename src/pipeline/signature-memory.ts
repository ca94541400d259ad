import type { EventBatch } from '../canonical/events.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Clock } from '../lib/clock.ts';
import { ExpiringMap } from '../lib/expiring-map.ts';
import type { UpstreamFormat } from '../wire/format.ts';

const SIGNATURES_MAX = 20_000;
const BYTES_MAX = 32 * 1_024 * 1_024;
/** A conversation that rests for longer goes on with the stopgap of its format. */
const LIFETIME_MS = 6 * 3_600_000;

/**
 * Signatures that an upstream demands back with the calls that it made: many clients keep nothing of a call but its id,
 * name and arguments, so they are kept here by its id. Each account has its own: ids are made elsewhere, and whoever
 * guesses one must not be told what another account's model thought. @source pains.md 19
 */
export interface SignatureMemory {
  /** The request with the signatures that its caller lost; the same where nothing is known or the format needs none. */
  restore(request: GenerationRequest, format: UpstreamFormat, accountId: string): GenerationRequest;
  /** Keeps what the events of an answer show; `undefined` for a format without such signatures. */
  listen(format: UpstreamFormat, accountId: string): ((batch: EventBatch) => void) | undefined;
}

export function createSignatureMemory({ clock }: { readonly clock: Clock }): SignatureMemory {
  const limits = { entriesMax: SIGNATURES_MAX, bytesMax: BYTES_MAX, lifetimeMs: LIFETIME_MS };
  const signatures = new ExpiringMap<string>(limits, () => clock.monotonicMs());
  return {
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
          signatures.set(keyOf(accountId, callId), signature, signature.length);
        }
      };
    },
  };
}

function keyOf(accountId: string, callId: string): string {
  return `${accountId}\0${callId}`;
}
