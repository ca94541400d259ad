import { hash } from 'node:crypto';
import type { Principal } from '../accounts/principal.ts';
import { invalid } from '../canonical/gateway-error.ts';
import type { InternCallRow } from '../store/interns/columns.ts';

/** A call that runs once, however often it is sent. */
export interface KeyedCall {
  /** Names it among all calls. */
  readonly id: string;
  readonly bodyHash: string;
  readonly keepMs: number;
}

const KEY = /^[\x21-\x7e]{1,255}$/;
const KEPT_MS = 86_400_000;
const DERIVED_KEPT_MS = 300_000;

/**
 * @param header `Idempotency-Key`; absent: the body itself is the key for a while
 * @throws GatewayError 400
 */
export function keyedCall(
  { keyHash }: Principal,
  route: string,
  header: string | readonly string[] | undefined,
  body: unknown,
): KeyedCall {
  if (header !== undefined && (typeof header !== 'string' || !KEY.test(header)))
    throw invalid('Idempotency-Key', 'must have 1 to 255 visible ASCII characters');
  const bodyHash = digest(JSON.stringify(body));
  const key = typeof header === 'string' ? `key ${header}` : `body ${bodyHash}`;
  return {
    id: digest(`${keyHash} ${route} ${key}`),
    bodyHash,
    keepMs: header === undefined ? DERIVED_KEPT_MS : KEPT_MS,
  };
}

export function callOf({ id, bodyHash, keepMs }: KeyedCall, subjectId: string, nowMs: number): InternCallRow {
  return { id, bodyHash, subjectId, expiresAtMs: nowMs + keepMs };
}

function digest(text: string): string {
  return hash('sha256', text, 'hex');
}
