import { runInNewContext } from 'node:vm';
import { jsonrepair } from 'jsonrepair';

/** Longer texts are left alone: UTF-16 units. */
const REPAIR_CHARS_MAX = 262_144;
/** Up to here no text takes the library long, whatever is wrong with it. */
const UNGUARDED_CHARS_MAX = 4_096;
/** For all tries at one answer. A text made for it costs the library the square of its length. */
export const REPAIR_MS_MAX = 100;

/** Watches the time that the repair of one answer takes. */
export interface RepairClock {
  leftMs: number;
}

/**
 * What the library makes of a text that is no JSON: brackets, quotes and commas that are missing or too many, comments,
 * Python's words, control characters. Where that fails, or takes too long, `undefined`.
 */
export function repairJson(text: string, clock: RepairClock): string | undefined {
  if (text.length > REPAIR_CHARS_MAX) return undefined;
  try {
    return text.length <= UNGUARDED_CHARS_MAX ? jsonrepair(text) : repairInTime(text, clock);
  } catch {
    // No repair, no time, or nested too deep for the stack: the text stays as it is.
    return undefined;
  }
}

/** @throws Error when the time is over: V8 stops the library wherever it is */
function repairInTime(text: string, clock: RepairClock): string | undefined {
  if (clock.leftMs <= 0) return undefined;
  const startedMs = performance.now();
  try {
    const given: { repaired?: string; repair: () => void } = {
      repair: () => void (given.repaired = jsonrepair(text)),
    };
    runInNewContext('repair()', given, { timeout: Math.ceil(clock.leftMs) });
    return given.repaired;
  } finally {
    clock.leftMs -= performance.now() - startedMs;
  }
}
