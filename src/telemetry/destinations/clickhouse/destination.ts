import { createHash } from 'node:crypto';
import { z } from 'zod';
import { baseUrlMember, headersMember, secretMember, textMember } from '../config-members.ts';
import type { CallAnswer, DestinationType, OutboundCall, TestStep, Verdict } from '../contract.ts';
import { judgeStatus, messageOf } from '../delivery/judge.ts';
import { spansOf } from '../otlp/generation-spans.ts';
import { faultOfTest, otlpMembers } from '../otlp/otlp-destination.ts';
import { renameRow, toSpanRow, type SpanRow } from '../span-rows.ts';

const MB = 1_024 * 1_024;
const RECORDS_MAX = 5_000;
const GATHER_MS = 5_000;
const CALL_MS_MAX = 30_000;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const nameMember = z.string().regex(NAME, 'must be letters, digits and underscores');

const schema = z.strictObject({
  host: baseUrlMember().describe('With its port: 8443 for https, 8123 for http.'),
  database: nameMember,
  table: nameMember.optional().meta({ default: 'SERVICE_TRACES' }),
  username: textMember,
  password: secretMember.or(z.literal('')),
  headers: headersMember.optional(),
  ...otlpMembers,
});

/** @source clickhouse.com/docs/interfaces/http, headers and exceptions; "Deduplicating inserts", read 2026-11 */
export const clickhouse: DestinationType = {
  type: 'clickhouse',
  label: 'ClickHouse',
  schema,
  secrets: ['password', 'headers'],
  open(config) {
    const { host, database, table = 'SERVICE_TRACES', spans: shape = 'tree', ...login } = schema.parse(config);
    const headers = {
      ...login.headers,
      'x-clickhouse-user': login.username,
      'x-clickhouse-key': login.password,
    };
    const call = (query: string, settings: Readonly<Record<string, string>>, body?: string): OutboundCall => ({
      url: addressOf(host, { database, query, ...settings }),
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body: body ?? '',
      ids: [],
    });
    return {
      url: host,
      limits: { records: RECORDS_MAX, bytes: 16 * MB, gatherMs: GATHER_MS, callMs: CALL_MS_MAX },
      calls(batch) {
        const ids = batch.map(({ id }) => id);
        const rows = batch.flatMap((generation) =>
          spansOf(generation, shape).map((span) => JSON.stringify(renameRow(toSpanRow(span, generation), columnOf))),
        );
        const insert = call(
          `INSERT INTO \`${table}\` FORMAT JSONEachRow`,
          {
            async_insert: '0',
            wait_end_of_query: '1',
            date_time_input_format: 'best_effort',
            input_format_skip_unknown_fields: '1',
            // The same rows again are the same block.
            insert_deduplication_token: createHash('sha256').update(ids.join('\n')).digest('hex'),
          },
          `${rows.join('\n')}\n`,
        );
        return [{ ...insert, ids }];
      },
      judge: (_call, answer) => judge(answer),
      test: () => [
        { call: call('SELECT 1', {}), judge: (answer) => faultOf(answer) },
        describeStep(call(`DESCRIBE TABLE \`${table}\` FORMAT TabSeparated`, {})),
      ],
    };
  },
};

function addressOf(host: string, members: Readonly<Record<string, string>>): string {
  const url = new URL(host);
  for (const [name, value] of Object.entries(members)) url.searchParams.set(name, value);
  return url.href;
}

const COLUMNS: Readonly<Partial<Record<keyof SpanRow, string>>> = {
  name: 'SpanName',
  kind: 'SpanKind',
  attributes: 'SpanAttributes',
};

function columnOf(member: string): string {
  return new Map(Object.entries(COLUMNS)).get(member) ?? `${member.charAt(0).toUpperCase()}${member.slice(1)}`;
}

/** The columns without which a row says nothing. */
const NEEDED = ['Timestamp', 'TraceId', 'SpanId', 'SpanName', 'Model', 'InputTokens', 'OutputTokens'];

function describeStep(call: OutboundCall): TestStep {
  return {
    call,
    judge(answer) {
      const fault = faultOf(answer);
      if (fault !== undefined) return fault;
      // In a private network the answer is not shown, and so it is not looked at.
      if (answer.text === '') return undefined;
      const columns = new Set(answer.text.split('\n').map((line) => line.split('\t')[0]));
      const missing = NEEDED.filter((column) => !columns.has(column));
      return missing.length === 0 ? undefined : `config.table: the table lacks the columns ${missing.join(', ')}`;
    },
  };
}

/** @source github.com/ClickHouse/ClickHouse, `src/Common/ErrorCodes.cpp`, read 2026-11 */
const CREDENTIALS: ReadonlySet<number> = new Set([192, 193, 194, 497, 516]);
const MISSING: ReadonlySet<number> = new Set([60, 81]);
const PASSING: ReadonlySet<number> = new Set([159, 202, 209, 210, 241, 242, 252, 319, 439]);

/** A status of 200 may come before the insert has failed. */
function codeOf({ headers, text }: CallAnswer): number | undefined {
  const code = headers['x-clickhouse-exception-code'] ?? /^Code: (\d+)\./.exec(text)?.[1];
  return code === undefined ? undefined : Number(code);
}

function judge(answer: CallAnswer): Verdict {
  const code = codeOf(answer);
  if (code === undefined) return judgeStatus(answer);
  const message = messageOf(answer);
  if (CREDENTIALS.has(code) || MISSING.has(code)) return { kind: 'fault', message };
  return PASSING.has(code) ? { kind: 'retry', message } : { kind: 'rejected', message };
}

function faultOf(answer: CallAnswer): string | undefined {
  const code = codeOf(answer);
  if (code !== undefined && MISSING.has(code))
    return `config.database, config.table: there is no such table. ${messageOf(answer)}`;
  if (code !== undefined && CREDENTIALS.has(code)) return `config.username, config.password: ${messageOf(answer)}`;
  return code === undefined ? faultOfTest(answer, 'config.username, config.password') : messageOf(answer);
}
