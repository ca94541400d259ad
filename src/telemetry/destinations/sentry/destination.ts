import { z } from 'zod';
import { headersMember, urlMember } from '../config-members.ts';
import type { CallAnswer, Verdict } from '../contract.ts';
import { judgeOtlp } from '../delivery/judge.ts';
import { otlpDestination, otlpMembers, withPath } from '../otlp/otlp-destination.ts';

const MS_PER_S = 1_000;
const DSN = /^https:\/\/([0-9a-zA-Z]+)@([^/@\s]+)\/(?:[^/\s]+\/)*(\d+)$/;

const schema = z
  .strictObject({
    dsn: z.string().max(2_048).regex(DSN, 'must be a DSN: https://KEY@HOST/PROJECT'),
    otlpEndpoint: urlMember.describe('As Sentry shows it beside the DSN.'),
    headers: headersMember.optional(),
    ...otlpMembers,
  })
  .refine(({ dsn, otlpEndpoint }) => isOfOneProject(dsn, otlpEndpoint), {
    path: ['otlpEndpoint'],
    message: 'is of another project or host than `dsn`',
  });

/** Open beta. @source docs.sentry.io/concepts/otlp/direct/traces, address, header and limitations, read 2026-11 */
export const sentry = otlpDestination({
  type: 'sentry',
  label: 'Sentry',
  schema,
  secrets: ['dsn', 'headers'],
  encoding: 'protobuf',
  shape: 'tree',
  address: ({ dsn, otlpEndpoint, headers = {} }) => ({
    url: withPath(otlpEndpoint, '/v1/traces'),
    headers: { ...headers, 'x-sentry-auth': `sentry sentry_key=${keyOf(dsn)}` },
  }),
  // Events are dropped there.
  rename: (span, { tokens }) => ({
    ...span,
    events: [],
    attributes: {
      ...span.attributes,
      ...(span.role === 'generation' &&
        tokens !== undefined && { 'gen_ai.usage.total_tokens': tokens.prompt + tokens.completion }),
    },
  }),
  judge,
  keyMembers: 'config.dsn',
});

function keyOf(dsn: string): string {
  return DSN.exec(dsn)?.[1] ?? '';
}

function isOfOneProject(dsn: string, endpoint: string): boolean {
  const [, , host = '', project = ''] = DSN.exec(dsn) ?? [];
  const url = URL.parse(endpoint);
  if (url === null) return true;
  const known = /\/api\/(\d+)\//.exec(url.pathname)?.[1];
  return (known === undefined || known === project) && registrable(host) === registrable(url.host);
}

/** The last two labels: `o1.ingest.us.sentry.io` is of `sentry.io`. */
function registrable(host: string): string {
  return host.split('.').slice(-2).join('.');
}

/** The wait stands in a header of its own: `60:error;transaction:organization`. */
function judge(answer: CallAnswer): Verdict {
  const verdict = judgeOtlp(answer);
  const limits = /^(\d+):/.exec(answer.headers['x-sentry-rate-limits'] ?? '');
  if (verdict.kind !== 'retry' || verdict.afterMs !== undefined || limits === null) return verdict;
  return { ...verdict, afterMs: Number(limits[1]) * MS_PER_S };
}
