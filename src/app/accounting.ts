import { GatewayError } from '../canonical/gateway-error.ts';
import type { Journal } from '../journal/journal.ts';
import type { SettleDeps } from '../pipeline/billing/settle.ts';
import type { GenerateDeps } from '../pipeline/generate.ts';
import { encodeGeneration } from '../store/journal/record.ts';
import { rowOf } from '../telemetry/generation-row.ts';
import type { Observability } from './observability.ts';
import type { Spending } from './spending.ts';

/** What keeps the account of a request: its limits, its hold, and its record with the charge. */
export interface Accounting extends Pick<GenerateDeps, 'ledger' | 'rateLimiter'> {
  /** Takes the room for the record of a request. @throws GatewayError 503 where there is none */
  readonly takeRoom: () => void;
  readonly returnRoom: () => void;
  readonly store: SettleDeps['store'];
}

const RETRY_AFTER_MS = 5_000;

export function createAccounting(
  { ledger, rateLimiter }: Spending,
  journal: Pick<Journal, 'append' | 'takeRoom' | 'returnRoom'>,
  region: string,
  exports: Observability['exports'],
): Accounting {
  return {
    ledger,
    rateLimiter,
    takeRoom() {
      if (!journal.takeRoom()) throw cannotRecord('The gateway has no room for a record of the request.');
    },
    returnRoom: () => journal.returnRoom(),
    store: (record) =>
      journal
        .append(
          encodeGeneration(
            rowOf(record, region),
            record.principal.accountId,
            exports.isOn ? exports.factsOf(record) : undefined,
          ),
        )
        .catch(isLate),
  };
}

/** The record itself is written as soon as the disk takes it. */
function isLate(cause: unknown): never {
  throw cannotRecord('The gateway cannot record the response at the moment.', cause);
}

function cannotRecord(message: string, cause?: unknown): GatewayError {
  return new GatewayError('provider_overloaded', `${message} Try again later.`, {
    retryAfterMs: RETRY_AFTER_MS,
    cause,
  });
}
