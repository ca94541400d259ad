import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { loadAwsSigner } from '../../../lib/aws-signer.ts';
import { baseUrlMember, headersMember, secretMember, textMember } from '../config-members.ts';
import type { CallAnswer, DestinationType, ExportedGeneration, OutboundCall, Service, Verdict } from '../contract.ts';
import { judgeStatus, messageOf } from '../delivery/judge.ts';
import { encodeSpansAsJson } from '../otlp/encode-json.ts';
import { spansOf } from '../otlp/generation-spans.ts';
import { otlpMembers, resourceOf, scopeOf } from '../otlp/otlp-destination.ts';
import { hexOf, type Span } from '../otlp/span.ts';

const MB = 1_024 * 1_024;
const GATHER_MS = 10_000;
const CALL_MS_MAX = 30_000;
const CALLS_AT_ONCE = 4;
const KEY_NAME_CHARS_MAX = 64;
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const REGION = /^[a-z0-9-]{1,32}$/;
const VARIABLE = /\{([^{}]*)\}/g;
const VARIABLES: ReadonlySet<string> = new Set(['prefix', 'date', 'year', 'month', 'day', 'apiKeyName']);

const path = z
  .string()
  .max(512)
  .refine((text) => !/\p{Cc}/u.test(text), 'must have no control characters')
  .refine(
    (text) => text.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
    'must have no empty parts, "." or ".."',
  );

const schema = z.strictObject({
  bucketName: z.string().regex(BUCKET, 'is no name of a bucket'),
  accessKeyId: textMember,
  secretAccessKey: secretMember,
  sessionToken: secretMember.optional(),
  region: z.string().regex(REGION, 'is no region').optional().describe('Default: `us-east-1`; `auto` for R2.'),
  endpoint: baseUrlMember()
    .optional()
    .describe('Of a service other than Amazon: R2, MinIO, B2. The bucket stands in the path.'),
  prefix: path.optional().meta({ default: 'service-traces' }),
  pathTemplate: path
    .refine(
      (text) => [...text.matchAll(VARIABLE)].every(([, name = '']) => VARIABLES.has(name)),
      `may have {${[...VARIABLES].join('}, {')}} and no other variables`,
    )
    .optional()
    .meta({ default: '{prefix}/{date}' }),
  headers: headersMember.optional(),
  spans: otlpMembers.spans,
  compression: z.boolean().optional().describe('`true`: objects are compressed, with names that end with `.json.gz`.'),
});

type S3Config = z.output<typeof schema>;

/**
 * One object a trace and call: OTLP in JSON. Keys are those of the configuration alone, never the machine's.
 * @source docs.aws.amazon.com "PutObject", "Authenticating Requests (AWS Signature Version 4)", "Error responses", read 2026-11
 */
export const s3: DestinationType = {
  type: 's3',
  label: 'Amazon S3 and its like',
  schema,
  secrets: ['secretAccessKey', 'sessionToken', 'headers'],
  isUncompressed: true,
  open(sent, service) {
    const config = schema.parse(sent);
    const { spans: shape = 'tree', prefix = 'service-traces' } = config;
    return {
      url: addressOf(config, ''),
      // Buckets and regions of Amazon.
      ...(config.endpoint === undefined && { origin: 'https://amazonaws.com' }),
      limits: { bytes: 16 * MB, gatherMs: GATHER_MS, callMs: CALL_MS_MAX, callsAtOnce: CALLS_AT_ONCE },
      async calls(batch, nowMs) {
        const byTrace = Map.groupBy(
          batch.flatMap((generation) => spansOf(generation, shape).map((span) => ({ span, generation }))),
          ({ span }) => span.traceId,
        );
        return Promise.all(
          [...byTrace].map(([traceId, members]) => putTrace(config, service, traceId, members, nowMs)),
        );
      },
      judge: (_call, answer) => judge(answer),
      test: async (nowMs) => [
        {
          call: await put(config, `${prefix}/connection-test.json`, Buffer.from('{"ok":true}'), [], nowMs),
          judge: (answer) => faultOfPut(answer),
        },
      ],
    };
  },
};

interface Member {
  readonly span: Span;
  readonly generation: ExportedGeneration;
}

async function putTrace(
  config: S3Config,
  service: Service,
  traceId: string,
  members: readonly Member[],
  nowMs: number,
): Promise<OutboundCall> {
  const [first] = members;
  const startMs = Math.min(...members.map(({ span }) => span.startMs));
  const isCompressed = config.compression === true;
  const json = encodeSpansAsJson({
    resource: resourceOf(service),
    scope: scopeOf(service),
    spans: members.map(({ span }) => span),
  });
  const folder = folderOf(config, startMs, first?.generation.identity?.keyName);
  const ids = [...new Set(members.map(({ generation }) => generation.id))];
  // A call that is made again overwrites its own object, and no other one.
  const name = `${traceId}-${Math.round(startMs)}-${hexOf(ids.toSorted().join('\n'), 16)}.json${isCompressed ? '.gz' : ''}`;
  return put(config, `${folder}/${name}`, isCompressed ? gzipSync(json) : Buffer.from(json), ids, nowMs);
}

function folderOf(
  { prefix = 'service-traces', pathTemplate = '{prefix}/{date}' }: S3Config,
  atMs: number,
  keyName: string | undefined,
): string {
  const date = new Date(atMs).toISOString().slice(0, 10);
  const [year = '', month = '', day = ''] = date.split('-');
  const apiKeyName = keyName
    ?.replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .slice(0, KEY_NAME_CHARS_MAX)
    .replace(/^\.+$/, '_');
  const values = new Map(
    Object.entries({
      prefix,
      date,
      year,
      month,
      day,
      apiKeyName: apiKeyName === undefined || apiKeyName === '' ? 'none' : apiKeyName,
    }),
  );
  return pathTemplate.replaceAll(VARIABLE, (whole, name: string) => values.get(name) ?? whole);
}

async function put(
  config: S3Config,
  key: string,
  body: Buffer,
  ids: readonly string[],
  nowMs: number,
): Promise<OutboundCall> {
  const { accessKeyId, secretAccessKey, sessionToken, region = 'us-east-1', headers: further = {} } = config;
  const signer = await loadAwsSigner({
    service: 's3',
    region,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    uriEscapePath: false,
    applyChecksum: true,
  });
  const url = new URL(addressOf(config, key));
  const headers = {
    ...further,
    host: url.host,
    'content-type': 'application/json',
    ...(key.endsWith('.gz') && { 'content-encoding': 'gzip' }),
  };
  const signed = await signer.sign(
    { method: 'PUT', protocol: url.protocol, hostname: url.hostname, path: url.pathname, query: {}, headers, body },
    { signingDate: new Date(nowMs) },
  );
  const { host: _host, ...sent } = signed.headers;
  return { url: url.href, method: 'PUT', headers: sent, body, ids };
}

/** A bucket with dots is no name that a certificate covers: it stands in the path, as at other services. */
function addressOf({ bucketName, region = 'us-east-1', endpoint }: S3Config, key: string): string {
  const encoded = key.split('/').map(encodePart).join('/');
  if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, '')}/${bucketName}/${encoded}`;
  if (bucketName.includes('.')) return `https://s3.${region}.amazonaws.com/${bucketName}/${encoded}`;
  return `https://${bucketName}.s3.${region}.amazonaws.com/${encoded}`;
}

/** As signatures have it: of what no letter, digit or `-._~` is, each byte. */
function encodePart(part: string): string {
  return encodeURIComponent(part.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

const PASSING: ReadonlySet<string> = new Set([
  'SlowDown',
  'InternalError',
  'RequestTimeout',
  'ServiceUnavailable',
  'OperationAborted',
]);
const FAULTS: ReadonlyMap<string, string> = new Map([
  ['AccessDenied', 'config.accessKeyId: the keys may not write there'],
  ['InvalidAccessKeyId', 'config.accessKeyId: there is no such key'],
  ['SignatureDoesNotMatch', 'config.secretAccessKey: the secret is not the one of the key'],
  ['ExpiredToken', 'config.sessionToken: it has expired'],
  ['InvalidToken', 'config.sessionToken: it is not valid'],
  ['NoSuchBucket', 'config.bucketName: there is no such bucket'],
  ['PermanentRedirect', 'config.region: the bucket is in another region'],
  ['AuthorizationHeaderMalformed', 'config.region: the bucket is in another region'],
  ['RequestTimeTooSkewed', "the gateway's clock is wrong"],
]);

function codeOf({ text }: CallAnswer): string {
  return /<Code>([A-Za-z]+)<\/Code>/.exec(text)?.[1] ?? '';
}

function faultIn(answer: CallAnswer): string | undefined {
  const fault = FAULTS.get(codeOf(answer));
  const region = answer.headers['x-amz-bucket-region'];
  return fault !== undefined && region !== undefined && fault.startsWith('config.region')
    ? `${fault}: ${region}`
    : fault;
}

function judge(answer: CallAnswer): Verdict {
  const fault = faultIn(answer);
  if (fault !== undefined) return { kind: 'fault', message: fault };
  return PASSING.has(codeOf(answer)) ? { kind: 'retry', message: messageOf(answer) } : judgeStatus(answer);
}

function faultOfPut(answer: CallAnswer): string | undefined {
  if (answer.status >= 200 && answer.status < 300) return undefined;
  return faultIn(answer) ?? `the test call was answered with status ${answer.status}. ${messageOf(answer)}`;
}
