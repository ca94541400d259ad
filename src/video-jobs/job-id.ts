import { randomText } from '../lib/ids.ts';

/** Ids grow with time, so that the order of ids is that of jobs. */
export function newJobId(nowMs: number): string {
  return `vid_${Math.floor(nowMs).toString(36).padStart(9, '0')}${randomText(16)}`;
}
