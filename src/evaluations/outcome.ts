import { isLengthError, type GatewayError } from '../canonical/gateway-error.ts';
import type { ItemVerdict } from '../resources/evaluations.ts';

/** `payer`: what the key may spend is used up, and no other call would be made either. */
export type Failure = Extract<ItemVerdict, 'refused' | 'length' | 'invalid' | 'upstream_error'> | 'payer';

const REFUSALS: ReadonlySet<GatewayError['type']> = new Set(['content_policy_violation', 'refusal']);
/** Faults of the request itself: the same request would meet them again. */
const FAULTS: ReadonlySet<number> = new Set([400, 413, 422]);

/** What an error says of an item. Whatever may pass, or is the provider's fault, says nothing of the model. */
export function failureOf(error: GatewayError): Failure {
  if (error.lacksFunds) return 'payer';
  if (isLengthError(error.type)) return 'length';
  if (REFUSALS.has(error.type) || error.status === 403) return 'refused';
  return FAULTS.has(error.status) ? 'invalid' : 'upstream_error';
}
