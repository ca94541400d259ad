import { AGENT_FEATURES } from './agent-features.ts';
import { CODE_FEATURES } from './code-features.ts';
import type { TaskFeature } from '../classify/task-feature.ts';
import { TEXT_FEATURES } from './text-features.ts';
import { TOPIC_FEATURES } from './topic-features.ts';

/** Written for this project. After adding one, run `npm run eval:router`; describe how people write, never one item there. */
export const TASK_FEATURES: readonly TaskFeature[] = [
  ...CODE_FEATURES,
  ...AGENT_FEATURES,
  ...TEXT_FEATURES,
  ...TOPIC_FEATURES,
];
