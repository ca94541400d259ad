import type { Block, ReasoningBlock } from '../../../../src/canonical/blocks.ts';
import type { EventBatch, GenerationEvent } from '../../../../src/canonical/events.ts';
import type { FormatId } from '../../../../src/canonical/extra.ts';

/** Test support: events of responses, as upstreams of any format give them. */
export function begin(format: FormatId = 'chat'): GenerationEvent {
  return { type: 'start', format };
}

export const STOP: GenerationEvent = { type: 'end', finish: 'stop' };
export const CALLED: GenerationEvent = { type: 'end', finish: 'tool_calls' };
export const CUT: GenerationEvent = { type: 'end', finish: 'length' };
export const BROKE_OFF: GenerationEvent = {
  type: 'failed',
  failure: {
    kind: 'reset',
    errorType: 'provider_unavailable',
    status: 502,
    message: 'The provider broke off the answer.',
    mayTry: 'nothing',
  },
};

export function delta(index: number, more: string): GenerationEvent {
  return { type: 'block-delta', index, text: more };
}

export function block(index: number, opening: Block, ...deltas: readonly string[]): EventBatch {
  return [
    { type: 'block-start', index, block: opening },
    ...deltas.map((more) => delta(index, more)),
    { type: 'block-end', index },
  ];
}

export function text(index: number, ...deltas: readonly string[]): EventBatch {
  return block(index, { type: 'text', text: '' }, ...deltas);
}

export function thought(index: number, family: ReasoningBlock['family'], ...deltas: readonly string[]): EventBatch {
  return block(
    index,
    { type: 'reasoning', form: 'text', text: '', ...(family !== undefined && { family }) },
    ...deltas,
  );
}

export function call(index: number, id: string, name: string, ...deltas: readonly string[]): EventBatch {
  return block(index, { type: 'tool-call', id, name, input: '', runBy: 'caller' }, ...deltas);
}

/** A tool that the gateway runs, as a caller of the format is shown its call. */
export function serverCall(index: number, id: string, type: string, input: string): EventBatch {
  return block(index, { type: 'tool-call', id, name: type, input: '', runBy: 'gateway' }, input);
}
