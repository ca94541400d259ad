import type { Usage } from '../../canonical/usage.ts';
import type { Endpoint } from '../../catalog/model.ts';

const MS_PER_SECOND = 1_000;

/** The usage as the endpoint charges it: some charge a number of seconds for every sound that is shorter. @spec stt-9 */
export function atLeast(usage: Usage, { transcription }: Pick<Endpoint, 'transcription'>): Usage {
  const leastMs = (transcription?.minSeconds ?? 0) * MS_PER_SECOND;
  const { units } = usage;
  if (units?.audioMs === undefined || units.audioMs >= leastMs) return usage;
  return { ...usage, units: { ...units, audioMs: leastMs } };
}
