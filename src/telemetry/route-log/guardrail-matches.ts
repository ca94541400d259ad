import type { Clock } from '../../lib/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { RouteStore } from '../../store/generations/generation-routes.ts';
import { DAY_MS } from '../../store/usage/hours.ts';
import { unpackDecision } from './packed-decision.ts';

/** What a guardrail found on one day, in UTC. */
export interface GuardrailMatch {
  /** `2026-11-27`. */
  readonly date: string;
  /** The name of what matched, as stages of requests have it. Null: a filter was not searched for in time. */
  readonly pattern: string | null;
  /** The strictest action of the guardrail on the request or the response that matched. */
  readonly action: string;
  readonly matches: number;
}

export interface GuardrailMatches {
  /** The newest day first. */
  readonly rows: readonly GuardrailMatch[];
  /** From here on matches were counted. Later than requested: older decisions were deleted, or the look ended at its bound. */
  readonly sinceMs: number;
  readonly lookedAt: number;
}

/** Counts what a guardrail has found lately, on so many days in UTC, with today. */
export type CountMatches = (guardrailId: string, days: number) => Promise<GuardrailMatches>;

export interface CountMatchesDeps {
  readonly store: Pick<RouteStore, 'findOfGuardrail' | 'readAll'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly retentionMs: number;
}

const LOOKED_AT_MAX = 200_000;
const COUNTED_MAX = 20_000;
const READ_ROWS = 250;

/** Decisions of all requests with a stage are kept, so what a guardrail did is in them. */
export function createMatchCounter({ store, clock, retentionMs }: CountMatchesDeps): CountMatches {
  return async (guardrailId, days) => {
    const nowMs = clock.nowMs();
    const firstDayMs = (Math.floor(nowMs / DAY_MS) - days + 1) * DAY_MS;
    const fromMs = Math.max(firstDayMs, nowMs - retentionMs);
    const found = await store.findOfGuardrail(guardrailId, {
      fromMs,
      lookedAtMax: LOOKED_AT_MAX,
      limit: COUNTED_MAX,
    });
    const counts: Counts = new Map();
    for (let at = 0; at < found.ids.length; at += READ_ROWS)
      for (const { createdAtMs, body } of await store.readAll(found.ids.slice(at, at + READ_ROWS)))
        count(counts, { date: dateOf(createdAtMs), stages: (await unpackDecision(body))?.['stages'], guardrailId });
    return { rows: rowsOf(counts), sinceMs: found.endedAtMs ?? fromMs, lookedAt: found.lookedAt };
  };
}

type Counts = Map<string, { readonly found: Omit<GuardrailMatch, 'matches'>; matches: number }>;

function count(
  counts: Counts,
  {
    date,
    stages,
    guardrailId,
  }: { readonly date: string; readonly stages: Json | undefined; readonly guardrailId: string },
): void {
  if (!Array.isArray(stages)) return;
  for (const stage of stages) {
    if (!isJsonObject(stage) || stage['guardrail_id'] !== guardrailId || !isJsonObject(stage['data'])) continue;
    const action = textOf(stage['data'], 'action');
    for (const pattern of patternsOf(stage['data'])) {
      const key = JSON.stringify([date, pattern, action]);
      const counted = counts.get(key) ?? { found: { date, pattern, action }, matches: 0 };
      counted.matches++;
      counts.set(key, counted);
    }
  }
}

/** Each once: a text in which a filter matched twice is one match. */
function patternsOf(data: JsonObject): readonly (string | null)[] {
  if (data['detected'] !== true) return [null];
  const patterns = Array.isArray(data['patterns']) ? data['patterns'] : [];
  return [...new Set(patterns.filter((pattern) => typeof pattern === 'string'))];
}

function rowsOf(counts: Counts): readonly GuardrailMatch[] {
  const rows = [...counts.values()].map(({ found, matches }) => ({ ...found, matches }));
  return rows.toSorted(
    (one, other) =>
      other.date.localeCompare(one.date) ||
      other.matches - one.matches ||
      (one.pattern ?? '').localeCompare(other.pattern ?? ''),
  );
}

function textOf(data: JsonObject, member: string): string {
  const value = data[member];
  return typeof value === 'string' ? value : 'flagged';
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
