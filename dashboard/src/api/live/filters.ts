import type { LiveFilters, LiveRow } from './messages.ts';

type Test = (row: LiveRow, value: string) => boolean;

/** Filters of lists that a row can be judged by, by their names in the API. */
const TESTS: Readonly<Record<string, Test>> = {
  model: (row, value) => isText(row.model, value),
  provider: (row, value) => row.provider === value,
  requested: (row, value) => isText(row.requested_model, value),
  key: (row, value) => row.api_key_hash === value,
  workspace: (row, value) => row.workspace_id === value,
  session: (row, value) => row.session_id === value,
  request_id: (row, value) => row.request_id === value,
  user: (row, value) => row.external_user === value,
  app: (row, value) => row.app_title === value || row.origin === value,
  preset: (row, value) => row.preset_id === value,
  router: (row, value) => row.router === value,
  task: (row, value) => row.task_type === value,
  request_origin: (row, value) => row.request_origin === value,
  finish: (row, value) => row.finish_reason === value,
  status: (row, value) => isStatus(row, value),
  cached: (row, value) => String(row.is_cached) === value,
  byok: (row, value) => String(row.is_byok) === value,
  rescued: (row, value) => String(row.is_rescued) === value,
  warned: (row, value) => String(row.warnings > 0) === value,
  min_cost: (row, value) => (row.total_cost ?? -1) >= Number(value),
  min_ms: (row, value) => (row.latency ?? -1) >= Number(value),
  min_ttft: (row, value) => (row.time_to_first_token ?? -1) >= Number(value),
};

/** Whether a row can be judged by all of them. */
export function canFilterLive(filters: LiveFilters): boolean {
  return Object.keys(filters).every((name) => Object.hasOwn(TESTS, name));
}

export function fitsFilters(row: LiveRow, filters: LiveFilters): boolean {
  return Object.entries(filters).every(([name, value]) => TESTS[name]?.(row, value) === true);
}

/**
 * What the one stream of all pages asks the gateway for: their filters where all of them have the same, and otherwise everything,
 * of which each page gets what fits. Pages that look at counts alone filter nothing, and ask for no rows.
 */
export function filtersOfStream(pages: readonly LiveFilters[]): string {
  const wanted = new Set(pages.filter(wantsRows).map(queryOf));
  const [only, another] = wanted;
  if (another !== undefined) return '';
  return only ?? queryOf(COUNTS_ALONE);
}

/** No request ends with this status. */
export const COUNTS_ALONE: LiveFilters = { status: '100' };

function wantsRows(filters: LiveFilters): boolean {
  return filters['status'] !== COUNTS_ALONE['status'];
}

/** In one order, so that the same filters are the same text. */
function queryOf(filters: LiveFilters): string {
  const query = new URLSearchParams(Object.entries(filters).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return query.size === 0 ? '' : `?${query.toString()}`;
}

function isText(text: string, wanted: string): boolean {
  return wanted.endsWith('*') ? text.startsWith(wanted.slice(0, -1)) : text === wanted;
}

function isStatus({ status, cancelled }: LiveRow, wanted: string): boolean {
  if (wanted === 'error') return status >= 400;
  if (wanted === 'cancelled') return cancelled;
  return /^\dxx$/.test(wanted) ? Math.floor(status / 100) === Number(wanted[0]) : status === Number(wanted);
}
