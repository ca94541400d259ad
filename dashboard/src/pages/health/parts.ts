import type { Schemas } from '../../api/client.ts';
import { formatBytes, formatCount } from '../../parts/money.ts';
import { formatMs, formatSpan } from '../../parts/time.ts';

export type HealthDetails = Schemas['HealthDetails'];
type Process = HealthDetails['processes'][number];
type Figures = NonNullable<Process['figures']>;

/** One part of the gateway, with its figure and, where it is not well, what to do. */
export interface HealthPart {
  readonly of: string;
  readonly name: string;
  readonly figure: string;
  /** Absent: it is well. */
  readonly advice?: string;
}

const SLOW_PING_MS = 100;
const SLOW_LOOP_MS = 100;
const BEHIND_MS_MAX = 10_000;
const GATEWAY = 'gateway';

export function partsOf({ database, redis, catalog, processes }: HealthDetails): readonly HealthPart[] {
  const size = database.bytes === null ? '' : `, ${formatBytes(database.bytes)}`;
  return [
    pingPart(database.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL', database.ping_ms, size),
    ...(redis === null ? [] : [pingPart('Redis', redis.ping_ms, '')]),
    part(
      GATEWAY,
      'Catalog',
      `${formatCount(catalog.models)} models, ${formatCount(catalog.endpoints)} endpoints`,
      catalog.models === 0,
      'No provider is on: add the key of one.',
    ),
    ...processes.flatMap((process) => processParts(process, processes.length > 1)),
  ];
}

function part(of: string, name: string, figure: string, isBad: boolean, advice: string): HealthPart {
  return { of, name, figure, ...(isBad && { advice }) };
}

function pingPart(name: string, pingMs: number | null, size: string): HealthPart {
  if (pingMs === null)
    return part(GATEWAY, name, 'does not respond', true, 'Look at its log, and whether the network reaches it.');
  const isSlow = pingMs > SLOW_PING_MS;
  return part(GATEWAY, name, `${formatMs(pingMs)}${size}`, isSlow, 'It responds slowly: look at its load.');
}

function processParts({ name, figures }: Process, isOneOfMany: boolean): readonly HealthPart[] {
  const of = isOneOfMany ? name : 'process';
  if (figures === null) return [part(of, 'Process', 'does not respond', true, 'Restart it, if it does not come back.')];
  const { event_loop_delay_ms: loop, journal } = figures;
  return [
    part(of, 'Up', `${formatSpan(figures.uptime_ms)}, pid ${figures.pid}`, false, ''),
    part(of, 'Memory', `${formatBytes(figures.memory_bytes)}, heap ${formatBytes(figures.heap_bytes)}`, false, ''),
    part(
      of,
      'Event loop',
      `p50 ${formatMs(loop.p50)}, p99 ${formatMs(loop.p99)}, longest ${formatMs(loop.max)}`,
      loop.p99 > SLOW_LOOP_MS,
      'The process has too much to do: start more workers.',
    ),
    part(
      of,
      'Open',
      `${formatCount(figures.requests_in_flight)} requests, ${formatCount(figures.open_streams)} streams`,
      false,
      '',
    ),
    ...lossParts(of, figures),
    part(
      of,
      'Journal',
      `${formatBytes(journal.bytes)}, ${formatCount(journal.unwritten_records)} records wait, ${formatMs(journal.behind_ms)} behind`,
      journal.behind_ms > BEHIND_MS_MAX,
      'Records wait for the database, and are in the journal until then.',
    ),
  ];
}

function lossParts(of: string, figures: Figures): readonly HealthPart[] {
  return [
    part(
      of,
      'Records lost',
      formatCount(figures.records_lost),
      figures.records_lost > 0,
      'Spend of these requests is missing. The log has the reason.',
    ),
    part(
      of,
      'Content lost',
      formatCount(figures.content_lost),
      figures.content_lost > 0,
      'Content that was to be kept is missing. The log has the reason.',
    ),
    part(
      of,
      'Policy reports',
      formatCount(figures.policy_reports),
      figures.policy_reports > 0,
      'A browser refused something on a page of the dashboard: hostile content, an extension, or a defect of a page.',
    ),
  ];
}
