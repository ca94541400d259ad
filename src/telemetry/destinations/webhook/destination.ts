import { z } from 'zod';
import { headersMember, urlMember } from '../config-members.ts';
import type { DestinationType, OutboundPost } from '../contract.ts';
import { serializeTraces } from '../otlp.ts';
import { signatureHeaders } from './sign.ts';

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
