import { AGENT_CUES } from './cues-of-agents.ts';
import { CODE_CUES } from './cues-of-code.ts';
import type { TaskCue } from './cue.ts';
import { TEXT_CUES } from './cues-of-texts.ts';
import { TOPIC_CUES } from './cues-of-topics.ts';

/** Written for this project; whoever adds one runs `npm run eval:router`, and speaks of how people ask, never of one item there. */
export const TASK_CUES: readonly TaskCue[] = [...CODE_CUES, ...AGENT_CUES, ...TEXT_CUES, ...TOPIC_CUES];
