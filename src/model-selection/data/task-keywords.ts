import type { TaskTag } from '../classify/task-tags.ts';
import keywords from './task-keywords.json' with { type: 'json' };

/** Words and pairs of words that speak for a tag: those that nearly decide, and those that only hint. */
export interface Keywords {
  readonly strong: readonly string[];
  readonly weak: readonly string[];
}

/**
 * Lower case, in the languages that callers write. Written for this project; after a change `npm run eval:router` measures
 * what it is worth.
 */
export const TASK_KEYWORDS: Readonly<Partial<Record<TaskTag, Keywords>>> = keywords;
