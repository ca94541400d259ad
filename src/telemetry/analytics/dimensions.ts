import { DAY_MS, HOUR_MS } from '../../store/usage/hours.ts';
import type { Dimension } from '../../store/usage/usage-sums.ts';

/** A value by which rows of analytics are grouped. */
export interface AnalyticsDimension {
  readonly name: string;
  readonly label: string;
  readonly column: Dimension;
  /** Where values are ids: what their names are found in. */
  readonly names?: 'keys' | 'workspaces' | 'apps';
  /** Only records have it, for at most a month. */
  readonly isOfRecords?: true;
}

/** @spec analytics-2; `endpoint`, `api_type`, `session`, `external_user`, `status`, `error_type`, `preset`, `router`, `task` and `request_origin` are additions of this gateway. The country comes from a proxy before it. */
export const DIMENSIONS: readonly AnalyticsDimension[] = [
  { name: 'model', label: 'Model', column: 'model' },
  { name: 'provider', label: 'Provider', column: 'provider' },
  { name: 'endpoint', label: "Model's name at the provider", column: 'upstream_model' },
  { name: 'api_key_id', label: 'API key', column: 'key_hash', names: 'keys' },
  { name: 'user', label: 'Member', column: 'member_id' },
  { name: 'workspace', label: 'Workspace', column: 'workspace_id', names: 'workspaces' },
  { name: 'app', label: 'Application', column: 'app_url', names: 'apps' },
  { name: 'origin', label: 'Origin', column: 'app_url' },
  { name: 'api_type', label: 'Kind of request', column: 'api_type', isOfRecords: true },
  { name: 'country', label: 'Country', column: 'country', isOfRecords: true },
  { name: 'session', label: 'Session', column: 'session_id', isOfRecords: true },
  { name: 'external_user', label: 'End user, hashed', column: 'end_user_hash', isOfRecords: true },
  { name: 'status', label: 'Status', column: 'status', isOfRecords: true },
  { name: 'error_type', label: 'Kind of error', column: 'error_type', isOfRecords: true },
  { name: 'preset', label: 'Preset', column: 'preset_slug', isOfRecords: true },
  { name: 'router', label: 'Router', column: 'router', isOfRecords: true },
  { name: 'task', label: 'Task', column: 'task_type', isOfRecords: true },
  { name: 'request_origin', label: 'Made by', column: 'origin', isOfRecords: true },
  { name: 'generation_id', label: 'Generation', column: 'id', isOfRecords: true },
];

const MINUTE_MS = 60_000;

export interface Granularity {
  readonly name: 'minute' | 'hour' | 'day' | 'week' | 'month';
  readonly label: string;
  /** Months are added up from days. */
  readonly bucketMs: number;
}

export const GRANULARITIES: readonly Granularity[] = [
  { name: 'minute', label: 'Minute', bucketMs: MINUTE_MS },
  { name: 'hour', label: 'Hour', bucketMs: HOUR_MS },
  { name: 'day', label: 'Day', bucketMs: DAY_MS },
  { name: 'week', label: 'Week, from Monday', bucketMs: 7 * DAY_MS },
  { name: 'month', label: 'Month', bucketMs: DAY_MS },
];

/** In UTC: a date, or a time where a bucket is shorter than a day. */
export function serializeBucket({ name }: Granularity, startMs: number): string {
  const text = new Date(startMs).toISOString();
  if (name === 'minute' || name === 'hour') return text;
  return name === 'month' ? `${text.slice(0, 'YYYY-MM'.length)}-01` : text.slice(0, 'YYYY-MM-DD'.length);
}

export const OPERATORS = [
  { name: 'eq', valueType: 'scalar' },
  { name: 'neq', valueType: 'scalar' },
  { name: 'in', valueType: 'array' },
  { name: 'not_in', valueType: 'array' },
  { name: 'gt', valueType: 'scalar' },
  { name: 'gte', valueType: 'scalar' },
  { name: 'lt', valueType: 'scalar' },
  { name: 'lte', valueType: 'scalar' },
] as const;
export type Operator = (typeof OPERATORS)[number]['name'];
