import { z } from 'zod';
import type { JsonObject } from '../../lib/json.ts';
import { headersMember, urlMember } from './config-members.ts';
import type { DestinationType, ExportedGeneration, IncludedParts } from './contract.ts';

/** One signal of OTLP over HTTP. */
export interface OtlpSignal {
  readonly type: string;
  /** The default path of the signal at a collector. */
  readonly path: `/v1/${string}`;
  readonly serialize: (batch: readonly ExportedGeneration[], included: IncludedParts, nowMs: number) => JsonObject;
  /** An export request that holds nothing, for the test of a connection. */
  readonly empty: JsonObject;
}

/** A destination that takes one signal of OTLP as JSON. @source opentelemetry.io "OTLP/HTTP Request", read 2026-11 */
export function otlpDestination({ type, path, serialize, empty }: OtlpSignal): DestinationType {
  const schema = z.strictObject({
    endpoint: urlMember.describe(`Of a collector: \`${path}\` is added where the address does not end with it.`),
    headers: headersMember.optional(),
  });
  return {
    type,
    schema,
    secrets: ['headers'],
    open(config) {
      const { endpoint, headers = {} } = schema.parse(config);
      const url = withPath(endpoint, path);
      const post = (body: object, further: Readonly<Record<string, string>> = {}) => ({
        url,
        method: 'POST' as const,
        headers: { ...headers, ...further, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return {
        url,
        serialize: (batch, included, nowMs) => post(serialize(batch, included, nowMs)),
        serializeTest: () => post(empty, { 'x-test-connection': 'true' }),
      };
    },
  };
}

function withPath(endpoint: string, path: string): string {
  const url = new URL(endpoint);
  if (!url.pathname.endsWith(path)) url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  return url.href;
}
