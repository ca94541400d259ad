import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import { headersMember, urlMember } from '../config-members.ts';
import type { DestinationType, OutboundPost } from '../contract.ts';
import { serializeTraces } from '../otlp.ts';

const SECRET_CHARS_MAX = 256;
const SECRET_CHARS_MIN = 24;

const schema = z.strictObject({
  url: urlMember,
  method: z.enum(['POST', 'PUT']).optional(),
  headers: headersMember.optional(),
  signing_secret: z
    .string()
    .min(SECRET_CHARS_MIN)
    .max(SECRET_CHARS_MAX)
    .optional()
    .describe(
      'Calls are signed with it, as the Standard Webhooks specification says; `whsec_` and base64, or any text.',
    ),
});

/** Any address that takes JSON: the body is an OTLP export request. */
export const webhook: DestinationType = {
  type: 'webhook',
  schema,
  secrets: ['headers', 'signing_secret'],
  open(config) {
    const { url, method = 'POST', headers = {}, signing_secret: secret } = schema.parse(config);
    const post = (document: object, nowMs: number, further: Readonly<Record<string, string>> = {}): OutboundPost => {
      const body = JSON.stringify(document);
      const signed = secret === undefined ? {} : signatureHeaders(secret, body, nowMs);
      return { url, method, headers: { ...headers, ...further, ...signed, 'content-type': 'application/json' }, body };
    };
    return {
      url,
      serialize: (batch, reported, nowMs) => post(serializeTraces(batch, reported), nowMs),
      serializeTest: (nowMs) => post({ resourceSpans: [] }, nowMs, { 'x-test-connection': 'true' }),
    };
  },
};

const SECRET_PREFIX = 'whsec_';
const ID_DIGITS = 32;
const MS_PER_S = 1_000;

/**
 * Headers by which a receiver verifies the sender and the time of a body. A retry of the same body keeps its id.
 * @source standardwebhooks.com, "Standard Webhooks" 1.0, "Verifying webhook authenticity", read 2026-11
 */
function signatureHeaders(secret: string, body: string, nowMs: number): Readonly<Record<string, string>> {
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
