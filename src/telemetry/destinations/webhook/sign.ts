import { createHash, createHmac } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const ID_DIGITS = 32;
const MS_PER_S = 1_000;

/**
 * Headers by which a receiver verifies the sender and the time of a body. A retry of the same body keeps its id.
 * @source standardwebhooks.com, "Standard Webhooks" 1.0, "Verifying webhook authenticity", read 2026-11
 */
export function signatureHeaders(secret: string, body: string, nowMs: number): Readonly<Record<string, string>> {
  const id = `msg_${createHash('sha256').update(body).digest('hex').slice(0, ID_DIGITS)}`;
  const timestamp = String(Math.floor(nowMs / MS_PER_S));
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

function keyOf(secret: string): Buffer {
  return secret.startsWith(SECRET_PREFIX)
    ? Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    : Buffer.from(secret, 'utf8');
}
