import { z } from 'zod';
import type { JsonObject } from '../../../lib/json.ts';
import type {
  BatchLimits,
  CallAnswer,
  DestinationType,
  ExportedGeneration,
  OutboundCall,
  Service,
  TestStep,
  Verdict,
} from '../contract.ts';
import { messageOf, judgeOtlp } from '../delivery/judge.ts';
import { encodeSpansAsJson } from './encode-json.ts';
import { encodeSpansAsProtobuf } from './encode-protobuf.ts';
import { spansOf, type SpanShape } from './generation-spans.ts';
import type { Attributes, Span, SpanExport } from './span.ts';

/** What made the spans, whatever the operator calls the service. */
export function scopeOf({ version }: Pick<Service, 'version'>): SpanExport['scope'] {
  return { name: 'model-gateway', version };
}

/** @source opentelemetry.io "Resource semantic conventions", service and deployment, read 2026-11 @spec destination-26 */
export function resourceOf({ name, version, instanceId, region, environment }: Service): Attributes {
  return {
    'service.name': name,
    'service.version': version,
    'service.instance.id': instanceId,
    'deployment.environment.name': environment,
    'gateway.region': region,
  };
}

/** Where a vendor takes spans, and with which headers. */
export interface OtlpAddress {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A vendor that takes OTLP: its address, its names for attributes, and what proves a connection. */
export interface OtlpVendor<Schema extends z.ZodType<JsonObject>> {
  readonly type: string;
  readonly label: string;
  readonly schema: Schema;
  readonly secrets: readonly string[];
  readonly encoding: 'json' | 'protobuf' | ((config: z.output<Schema>) => 'json' | 'protobuf');
  /** Where the configuration says nothing else. */
  readonly shape: SpanShape;
  readonly address: (config: z.output<Schema>) => OtlpAddress;
  /** All its hosts count as one. */
  readonly origin?: string;
  readonly limits?: Partial<BatchLimits>;
  readonly isForSpending?: true;
  /** Attributes of the resource beside those of the service. */
  readonly resource?: (config: z.output<Schema>) => Attributes;
  /** Renames what a span of the generation says. Absent: the names of the conventions. */
  readonly rename?: (span: Span, generation: ExportedGeneration, config: z.output<Schema>) => Span;
  readonly judge?: (answer: CallAnswer) => Verdict;
  /** Absent: an export request without a span. */
  readonly test?: (config: z.output<Schema>, address: OtlpAddress) => TestStep;
  /** Members to look at when the test fails with 401 or 403. */
  readonly keyMembers: string;
  /** A receiver that is no vendor's may refuse a request without a span. @spec destination-12 */
  readonly takesBadRequest?: true;
}

/** Members that every type of this kind has. */
export const otlpMembers = {
  spans: z
    .enum(['generation', 'tree'])
    .optional()
    .describe('`generation`: one span a record; `tree`: also of the request and of its attempts.'),
  compression: z.boolean().optional().describe('`false`: bodies are sent as they are.'),
};

const CONTENT_TYPES = { json: 'application/json', protobuf: 'application/x-protobuf' } as const;

/** @source opentelemetry.io "OTLP Specification", OTLP/HTTP Request, read 2026-11 */
export function otlpDestination<Schema extends z.ZodType<JsonObject>>(vendor: OtlpVendor<Schema>): DestinationType {
  const { type, label, schema, secrets, limits, isForSpending } = vendor;
  return {
    type,
    label,
    schema,
    secrets,
    isOtlp: true,
    ...(isForSpending !== undefined && { isForSpending }),
    open(sent, service) {
      const config = schema.parse(sent);
      const address = vendor.address(config);
      const encoding = typeof vendor.encoding === 'function' ? vendor.encoding(config) : vendor.encoding;
      const [scope, resource] = [scopeOf(service), resourceOf(service)];
      const shape = shapeOf(config) ?? vendor.shape;
      const call = (spans: readonly Span[], ids: readonly string[], further: object = {}): OutboundCall => ({
        url: address.url,
        method: 'POST',
        headers: { ...address.headers, ...further, 'content-type': CONTENT_TYPES[encoding] },
        body: encode({ resource: { ...resource, ...vendor.resource?.(config) }, scope, spans }, encoding),
        ids,
      });
      return {
        url: address.url,
        ...(vendor.origin !== undefined && { origin: vendor.origin }),
        ...(limits !== undefined && { limits }),
        calls(batch) {
          const spans = batch.flatMap((generation) =>
            spansOf(generation, shape).map((span) => vendor.rename?.(span, generation, config) ?? span),
          );
          return [
            call(
              spans,
              batch.map(({ id }) => id),
            ),
          ];
        },
        judge: (_call, answer) => judgeAnswer(vendor, answer),
        test: () => [
          vendor.test?.(config, address) ?? {
            call: call([], [], { 'x-test-connection': 'true' }),
            judge: (answer) =>
              vendor.takesBadRequest === true && answer.status === 400
                ? undefined
                : faultOfTest(answer, vendor.keyMembers),
          },
        ],
      };
    },
  };
}

function encode(spans: SpanExport, encoding: 'json' | 'protobuf'): string | Uint8Array {
  return encoding === 'json' ? encodeSpansAsJson(spans) : encodeSpansAsProtobuf(spans);
}

function judgeAnswer(
  { judge = judgeOtlp, takesBadRequest }: Pick<OtlpVendor<z.ZodType<JsonObject>>, 'judge' | 'takesBadRequest'>,
  answer: CallAnswer,
): Verdict {
  if (takesBadRequest !== true && isPage(answer)) return { kind: 'fault', message: PAGE };
  return judge(answer);
}

const PAGE = 'The address answered with a page for people: it is not the one that takes records.';

/** A sign-in page, or the page of a proxy, is no receiver of records. */
function isPage({ status, headers }: CallAnswer): boolean {
  return status < 300 && (headers['content-type'] ?? '').startsWith('text/html');
}

/** What is wrong with a connection, and which member may be; `undefined`: nothing. */
export function faultOfTest(answer: CallAnswer, keyMembers: string): string | undefined {
  const { status } = answer;
  if (isPage(answer)) return PAGE;
  if (status >= 200 && status < 300) return undefined;
  if (status === 401 || status === 403)
    return `${keyMembers}: the address refused the credentials. ${messageOf(answer)}`;
  return `the test call was answered with status ${status}. ${messageOf(answer)}`;
}

function shapeOf(config: JsonObject): SpanShape | undefined {
  const shape = config['spans'];
  return shape === 'generation' || shape === 'tree' ? shape : undefined;
}

/**
 * An address with a path that it may have already.
 * @param further what may follow the path in an address that has it
 */
export function withPath(base: string, path: string, further = ''): string {
  const url = new URL(base);
  const bare = url.pathname.replace(/\/+$/, '');
  const has = bare.endsWith(path) || (further !== '' && bare.endsWith(`${path}${further}`));
  url.pathname = has ? bare : `${bare}${path}`;
  return url.href;
}

export function basicAuth(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** Leaves out the attributes whose names begin so. */
export function withoutAttributes(attributes: Attributes, ...prefixes: readonly string[]): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).filter(([key]) => !prefixes.some((prefix) => key.startsWith(prefix))),
  );
}
