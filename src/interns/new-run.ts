import { randomUUID } from 'node:crypto';
import type { InternRow, InternRunRow, InternSessionRow } from '../store/interns/columns.ts';

const MS_PER_MINUTE = 60_000;

/** A run that begins, by the settings that its agent has now. */
export function newRun(
  { id: internId, version, settings }: Pick<InternRow, 'id' | 'version' | 'settings'>,
  facts: Pick<InternRunRow, 'sessionId' | 'runTrigger' | 'approvalMode'> & Partial<Pick<InternRunRow, 'scheduleId'>>,
  nowMs: number,
): InternRunRow {
  return {
    id: randomUUID(),
    internId,
    version,
    scheduleId: null,
    ...facts,
    state: 'queued',
    turn: 1,
    step: 0,
    spentNanoUsd: 0,
    promptTokens: 0,
    completionTokens: 0,
    leftMs: settings.limits.max_minutes * MS_PER_MINUTE,
    worker: null,
    ending: null,
    error: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    finishedAtMs: null,
  };
}

/** The session of a run, where that is its first one. */
export function newSession(run: InternRunRow, keyHash: string): InternSessionRow {
  const { internId, sessionId: id, id: firstRunId, createdAtMs } = run;
  return { internId, id, title: '', firstRunId, keyHash, createdAtMs, lastAtMs: createdAtMs };
}
