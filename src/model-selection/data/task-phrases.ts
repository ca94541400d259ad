import type { TaskTag } from '../classify/task-tags.ts';
import phrases from './task-phrases.json' with { type: 'json' };

/** Scripts without spaces, or with too much inflection to be cut into words: searched as substrings. */
export const TASK_PHRASES: Readonly<Partial<Record<TaskTag, readonly string[]>>> = phrases;
