import { nextTime, parseCron } from '../lib/cron.ts';
import type { InternSchedule } from '../resources/interns.ts';
import type { InternRow, InternScheduleRow } from '../store/interns/columns.ts';

/** When a schedule is due after a moment; null: never. */
export function nextDueMs({ cron, tz }: Pick<InternSchedule, 'cron' | 'tz'>, afterMs: number): number | null {
  const parsed = parseCron(cron);
  return typeof parsed === 'string' ? null : (nextTime(parsed, tz, afterMs) ?? null);
}

/** Rows of the schedules of an agent, as if each were new. */
export function scheduleRows(
  { id: internId, settings }: Pick<InternRow, 'id' | 'settings'>,
  nowMs: number,
): readonly InternScheduleRow[] {
  return settings.schedules.map((schedule) => {
    const { id, cron, tz, enabled } = schedule;
    const dueAtMs = enabled ? nextDueMs(schedule, nowMs) : null;
    return { internId, id, cron, tz, dueAtMs, sinceMs: nowMs, pausedAtMs: null };
  });
}
