import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import { headersMember, urlMember } from '../config-members.ts';
import type { DestinationType, OutboundCall } from '../contract.ts';
import { judgeOtlp, judgeStatus } from '../delivery/judge.ts';
import { encodeSpansAsJson } from '../otlp/encode-json.ts';
import { spansOf } from '../otlp/generation-spans.ts';
import { otlpMembers, resourceOf, scopeOf } from '../otlp/otlp-destination.ts';
import type { Span } from '../otlp/span.ts';

const SECRET_CHARS_MAX = 256;
const SECRET_CHARS_MIN = 24;

const schema = z.strictObject({
  url: urlMember,
  method: z.enum(['POST', 'PUT']).optional(),
  headers: headersMember.optional(),
  spans: otlpMembers.spans,
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
  label: 'Webhook',
  schema,
  secrets: ['headers', 'signing_secret'],
  isUncompressed: true,
  open(config, service) {
    const {
      url,
      method = 'POST',
      headers = {},
      signing_secret: secret,
      spans: shape = 'generation',
    } = schema.parse(config);
    const post = (
      spans: readonly Span[],
      ids: readonly string[],
      nowMs: number,
      further: Readonly<Record<string, string>> = {},
    ): OutboundCall => {
      const body = encodeSpansAsJson({ resource: resourceOf(service), scope: scopeOf(service), spans });
      const signed = secret === undefined ? {} : signatureHeaders(secret, body, nowMs);
      const all = { ...headers, ...further, ...signed, 'content-type': 'application/json' };
      return { url, method, headers: all, body, ids };
    };
    return {
      url,
      calls: (batch, nowMs) => [
        post(
          batch.flatMap((generation) => spansOf(generation, shape)),
          batch.map(({ id }) => id),
          nowMs,
        ),
      ],
      judge(_call, answer) {
        if (answer.status === GONE)
          return { kind: 'fault', message: 'The address answered that it is gone for good.', suspends: true };
        return answer.status === FAILED ? judgeStatus(answer) : judgeOtlp(answer);
      },
      test: (nowMs) => [
        {
          call: post([], [], nowMs, { 'x-test-connection': 'true' }),
          judge: ({ status }) =>
            (status >= 200 && status < 300) || status === 400
              ? undefined
              : `the test call was answered with status ${status}`,
        },
      ],
    };
  },
};

const GONE = 410;
/** Of an address that may be any program: it says nothing of the records. */
const FAILED = 500;
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
