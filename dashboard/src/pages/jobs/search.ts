import type { Search } from '../../parts/search.ts';

export const JOB_STATES = ['queued', 'running', 'waiting', 'done', 'failed', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

export interface JobsSearch {
  /** Empty: every kind. */
  readonly kind: string;
  /** Empty: every state. */
  readonly state: JobState | '';
  readonly subject: string;
  readonly peek: string;
}

export function parseJobsSearch(search: Search): JobsSearch {
  return {
    kind: search['kind'] ?? '',
    state: JOB_STATES.find((state) => state === search['state']) ?? '',
    subject: search['subject'] ?? '',
    peek: search['peek'] ?? '',
  };
}
