import type { Json } from '../../lib/json.ts';
import type { LiveRow } from '../../telemetry/live/live-hub.ts';
import { checkShape } from '../../wire/gateway/validation/check-shape.ts';
import { liveQuerySchema } from './live-events.ts';

export type RowTest = (row: LiveRow) => boolean;

/** Members of rows that are equal to the filter, by its name in `GET /generations`. */
const EQUAL: Readonly<Record<string, readonly string[]>> = {
  provider: ['provider'],
  key: ['api_key_hash'],
  workspace: ['workspace_id'],
  session: ['session_id'],
  request_id: ['request_id'],
  user: ['external_user'],
  app: ['app_title', 'origin'],
  preset: ['preset_id'],
  router: ['router'],
  task: ['task_type'],
  finish: ['finish_reason'],
  request_origin: ['request_origin'],
};
const PREFIXES: Readonly<Record<string, string>> = { model: 'model', requested: 'requested_model' };
const FLAGS: Readonly<Record<string, (row: LiveRow) => boolean>> = {
  cached: (row) => row['is_cached'] === true,
  byok: (row) => row['is_byok'] === true,
  rescued: (row) => row['is_rescued'] === true,
  warned: (row) => numberOf(row['warnings']) > 0,
};
const LEAST: Readonly<Record<string, string>> = {
  min_cost: 'total_cost',
  min_ms: 'latency',
  min_ttft: 'time_to_first_token',
};

/** The query of a live view. @throws GatewayError 400 at the filter that is wrong: a view of it would show nothing, for ever */
export function checkLiveQuery(url: string): URLSearchParams {
  const query = new URLSearchParams(url.split('?', 2)[1] ?? '');
  const values = [...new Set(query.keys())].map((name) => {
    const all = query.getAll(name);
    return [name, all.length > 1 ? all : all[0]] as const;
  });
  checkShape(liveQuerySchema, Object.fromEntries(values), { root: 'query' });
  return query;
}

/** What a live view shows of a query: the filters of `GET /generations`, as far as a row alone can be judged by them. */
export function rowTestOf(query: URLSearchParams): RowTest {
  const tests = [...query].flatMap(([name, value]) => testOf(name, value) ?? []);
  return (row) => tests.every((test) => test(row));
}

function testOf(name: string, value: string): RowTest | undefined {
  if (name === 'status') return (row) => isStatus(row, value);
  if (Object.hasOwn(EQUAL, name)) return (row) => EQUAL[name]?.some((member) => row[member] === value) === true;
  if (Object.hasOwn(PREFIXES, name)) return (row) => isText(row[PREFIXES[name] ?? ''], value);
  if (Object.hasOwn(FLAGS, name)) return (row) => String(FLAGS[name]?.(row)) === value;
  if (Object.hasOwn(LEAST, name)) return (row) => numberOf(row[LEAST[name] ?? '']) >= Number(value);
  return undefined;
}

function isText(value: Json | undefined, wanted: string): boolean {
  if (typeof value !== 'string') return false;
  return wanted.endsWith('*') ? value.startsWith(wanted.slice(0, -1)) : value === wanted;
}

function isStatus(row: LiveRow, wanted: string): boolean {
  const status = numberOf(row['status']);
  if (wanted === 'error') return status >= 400;
  if (wanted === 'cancelled') return row['cancelled'] === true;
  return /^\dxx$/.test(wanted) ? Math.floor(status / 100) === Number(wanted[0]) : status === Number(wanted);
}

/** -1: a row without one fits no least value. */
function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : -1;
}
