import type { CandidateModel, ModelChoice } from '../../../src/canonical/model-choice.ts';
import type { GenerationRequest, Turn } from '../../../src/canonical/request.ts';
import { plainDirectives } from '../plain-directives.ts';

export function candidateModel(slug: string, price: number): CandidateModel {
  return {
    slug,
    name: slug,
    promptPrice: price,
    completionPrice: price,
    isFree: price === 0,
    scores: new Map(),
    throughput: () => undefined,
  };
}

export function requestOf(
  turns: readonly Turn[],
  models: readonly string[] = [],
  sessionId?: string,
): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns,
    tools: [],
    settings: {},
    directives: { ...plainDirectives('service/switchyard', ...models), ...(sessionId !== undefined && { sessionId }) },
    warnings: [],
  };
}

export const user = (text: string): Turn => ({ role: 'user', blocks: [{ type: 'text', text }] });
export const assistant = (text: string): Turn => ({ role: 'assistant', blocks: [{ type: 'text', text }] });

/** A call of a tool and its result, in the chat format. */
export function use(name: string, input: object, result: string): readonly Turn[] {
  const id = `call-${name}-${result.length}`;
  return [
    { role: 'assistant', blocks: [{ type: 'tool-call', id, name, input: JSON.stringify(input), runBy: 'caller' }] },
    { role: 'tool', blocks: [{ type: 'tool-result', callId: id, content: [{ type: 'text', text: result }] }] },
  ];
}

export type Remembering = Pick<ModelChoice, 'isRehearsal' | 'random' | 'remembered' | 'remember'> & {
  readonly memory: Map<string, string>;
};

/** One conversation's memory. */
export function remembering({ random = 0, isRehearsal = false } = {}): Remembering {
  const memory = new Map<string, string>();
  return {
    memory,
    isRehearsal,
    random: () => random,
    remembered: (what) => Promise.resolve(memory.get(what)),
    remember: (what, value) => void memory.set(what, value),
  };
}
