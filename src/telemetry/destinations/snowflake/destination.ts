import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseJsonObject } from '../../../lib/json.ts';
import { headersMember, secretMember } from '../config-members.ts';
import type { CallAnswer, DestinationType, OutboundCall, Verdict } from '../contract.ts';
import { judgeStatus, messageOf } from '../delivery/judge.ts';
import { spansOf } from '../otlp/generation-spans.ts';
import { faultOfTest, otlpMembers } from '../otlp/otlp-destination.ts';
import { renameRow, toSpanRow } from '../span-rows.ts';

const MB = 1_024 * 1_024;
const RECORDS_MAX = 1_000;
/** Each statement wakes a warehouse, which costs money. */
const GATHER_MS = 60_000;
const CALL_MS_MAX = 60_000;
const STATEMENT_S = 60;
const POLL_MS = 2_000;
const ACCOUNT = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,250}[A-Za-z0-9])?$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_$]{0,254}$/;
const nameMember = (usual: string) =>
  z.string().regex(NAME, 'must be a plain identifier').optional().meta({ default: usual });

const schema = z.strictObject({
  account: z.string().regex(ACCOUNT, 'must be an account identifier, such as `myorg-myaccount`'),
  token: secretMember.describe('A programmatic access token that may insert and select here, of no administrator.'),
  database: nameMember('SNOWFLAKE_LEARNING_DB'),
  schema: nameMember('PUBLIC'),
  table: nameMember('SERVICE_TRACES'),
  warehouse: nameMember('COMPUTE_WH'),
  headers: headersMember.optional(),
  spans: otlpMembers.spans,
});

/** @source docs.snowflake.com/en/developer-guide/sql-api, requests, bindings, responses; "Programmatic access tokens", read 2026-11 */
export const snowflake: DestinationType = {
  type: 'snowflake',
  label: 'Snowflake',
  schema,
  secrets: ['token', 'headers'],
  isUncompressed: true,
  open(config) {
    const { account, token, headers: further = {}, spans: shape = 'tree', ...names } = schema.parse(config);
    const {
      database = 'SNOWFLAKE_LEARNING_DB',
      schema: schemaName = 'PUBLIC',
      table = 'SERVICE_TRACES',
      warehouse = 'COMPUTE_WH',
    } = names;
    // Names of hosts have no underscores.
    const host = `https://${account.replaceAll('_', '-')}.snowflakecomputing.com`;
    const place = `"${database}"."${schemaName}"."${table}"`;
    const headers = {
      ...further,
      authorization: `Bearer ${token}`,
      'x-snowflake-authorization-token-type': 'PROGRAMMATIC_ACCESS_TOKEN',
      accept: 'application/json',
      'content-type': 'application/json',
    };
    const call = (statement: string, ids: readonly string[], value?: string, once = ''): OutboundCall => ({
      url: `${host}/api/v2/statements?requestId=${uuidOf([statement, once, value ?? '', ...ids])}&retry=true`,
      method: 'POST',
      headers,
      body: JSON.stringify({
        statement,
        timeout: STATEMENT_S,
        database,
        schema: schemaName,
        warehouse,
        ...(value !== undefined && { bindings: { 1: { type: 'TEXT', value } } }),
      }),
      ids,
    });
    return {
      url: host,
      limits: { records: RECORDS_MAX, bytes: 8 * MB, gatherMs: GATHER_MS, callMs: CALL_MS_MAX },
      calls: (batch) => [
        call(
          mergeInto(place),
          batch.map(({ id }) => id),
          JSON.stringify(
            batch.flatMap((generation) =>
              spansOf(generation, shape).map((span) => renameRow(toSpanRow(span, generation), (member) => member)),
            ),
          ),
        ),
      ],
      judge: (sent, answer) => judge(host, sent, answer),
      test: (nowMs) => [
        {
          // Under an id of its own: what became of an earlier test is no answer.
          call: call(`SELECT 1 FROM ${place} LIMIT 0`, [], undefined, String(nowMs)),
          judge: (answer) =>
            answer.status === 422
              ? `config.database, config.schema, config.table, config.warehouse: ${messageOf(answer)}`
              : faultOfTest(answer, 'config.account, config.token'),
        },
      ],
    };
  },
};

/** Columns with the members of rows that fill them, and their types. */
const COLUMNS: readonly (readonly [column: string, member: string, type: string])[] = [
  ['TIMESTAMP', 'timestamp', 'TIMESTAMP_NTZ'],
  ['TRACE_ID', 'traceId', 'STRING'],
  ['SPAN_ID', 'spanId', 'STRING'],
  ['PARENT_SPAN_ID', 'parentSpanId', 'STRING'],
  ['SPAN_NAME', 'name', 'STRING'],
  ['SPAN_KIND', 'kind', 'STRING'],
  ['DURATION_NS', 'durationNs', 'NUMBER'],
  ['STATUS_CODE', 'statusCode', 'STRING'],
  ['STATUS_MESSAGE', 'statusMessage', 'STRING'],
  ['GENERATION_ID', 'generationId', 'STRING'],
  ['SESSION_ID', 'sessionId', 'STRING'],
  ['USER_ID', 'userId', 'STRING'],
  ['MODEL', 'model', 'STRING'],
  ['REQUEST_MODEL', 'requestModel', 'STRING'],
  ['PROVIDER', 'provider', 'STRING'],
  ['OPERATION', 'operation', 'STRING'],
  ['INPUT_TOKENS', 'inputTokens', 'NUMBER'],
  ['OUTPUT_TOKENS', 'outputTokens', 'NUMBER'],
  ['CACHE_READ_TOKENS', 'cacheReadTokens', 'NUMBER'],
  ['CACHE_WRITE_TOKENS', 'cacheWriteTokens', 'NUMBER'],
  ['REASONING_TOKENS', 'reasoningTokens', 'NUMBER'],
  ['COST', 'cost', 'NUMBER(18, 9)'],
  ['TIME_TO_FIRST_TOKEN_MS', 'timeToFirstTokenMs', 'NUMBER'],
  ['FINISH_REASON', 'finishReason', 'STRING'],
  ['TRACE_METADATA', 'traceMetadata', 'VARIANT'],
  ['ATTRIBUTES', 'attributes', 'VARIANT'],
];

/** Rows that are there already stay as they are. Messages are JSON inside JSON. */
function mergeInto(place: string): string {
  const values = COLUMNS.map(([, member, type]) => `s.v:${member}::${type}`);
  return [
    `MERGE INTO ${place} t`,
    'USING (SELECT value v FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?)))) s',
    'ON t.SPAN_ID = s.v:spanId::STRING',
    `WHEN NOT MATCHED THEN INSERT (${COLUMNS.map(([column]) => column).join(', ')}, INPUT, OUTPUT)`,
    `VALUES (${values.join(', ')}, TRY_PARSE_JSON(s.v:input::STRING), TRY_PARSE_JSON(s.v:output::STRING))`,
  ].join(' ');
}

/** The same statement with the same rows runs once. */
function uuidOf(texts: readonly string[]): string {
  const hex = createHash('sha256').update(texts.join('\n')).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const RUNNING = 202;
const HANDLE = /^[0-9a-f-]{1,64}$/;
/** SQL compilation errors: the object does not exist, or may not be used. */
const MISSING: ReadonlySet<string> = new Set(['002003', '003001']);

function judge(host: string, { headers, ids }: OutboundCall, answer: CallAnswer): Verdict {
  const body = parseJsonObject(answer.text);
  if (answer.status === RUNNING) {
    const handle = body?.['statementHandle'];
    if (typeof handle !== 'string' || !HANDLE.test(handle)) return { kind: 'retry', message: messageOf(answer) };
    const poll: OutboundCall = { url: `${host}/api/v2/statements/${handle}`, method: 'GET', headers, ids };
    return { kind: 'next', call: poll, afterMs: POLL_MS };
  }
  const code = body?.['code'];
  if (answer.status === 422 && typeof code === 'string' && MISSING.has(code))
    return { kind: 'fault', message: messageOf(answer) };
  return judgeStatus(answer);
}
