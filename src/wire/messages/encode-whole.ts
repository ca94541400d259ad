import type { Answer } from '../../canonical/answer.ts';
import type { Block } from '../../canonical/blocks.ts';
import { wordsOfFailure } from '../../canonical/failure-words.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { AnswerIdentity, Closing } from '../format.ts';
import { drawEnd, drawMessage, drawWholeBlock } from './draw-answer.ts';
import { errorTypeOf, UPSTREAM_ERROR } from './encode-error.ts';
import { placeSources } from './place-sources.ts';
import { drawWholeUsage } from './usage.ts';
import { addExtra } from './wire-object.ts';
import type { WireObject } from './wire-object.ts';

/**
 * One answer as the body of a response. One that broke off has no `stop_reason`, and an `error` beside what had come.
 * @source seed 2.7, generation.md 7.8, 7.9
 */
export function encodeWhole(answer: Answer, identity: AnswerIdentity, closing: Closing): string {
  const native = answer.format === 'messages';
  const refusal = refusalOf(answer.blocks);
  const calledTools = answer.blocks.some((block) => block.type === 'tool-call' && block.runBy === 'caller');
  const { stop, outer, inner } = drawEnd(answer.end, { native, calledTools, refused: refusal !== '' }, refusal);
  const message: WireObject = {
    ...drawMessage(identity),
    content: drawContent(answer, native),
    ...stop,
    usage: drawWholeUsage(closing),
  };
  const error = drawError(answer);
  if (error !== undefined) Object.assign(message, { stop_reason: null, error });
  // What an upstream put beside its end may bear the name of something that stands here already.
  for (const [member, value] of Object.entries({ ...inner, ...outer }))
    if (!(member in message)) message[member] = value;
  for (const extra of answer.extras) addExtra(message, extra);
  if (closing.serviceMetadata !== undefined) message['service_metadata'] = closing.serviceMetadata;
  return JSON.stringify(message);
}

/** What came too late for a text gets a block without words, if anything was said at all. */
function drawContent(answer: Answer, native: boolean): WireObject[] {
  const { onTexts, late } = placeSources(answer, native);
  const drawn = answer.blocks
    .map((block, index) => drawWholeBlock(block, native, onTexts.get(index) ?? []))
    .filter((block) => block !== undefined);
  if (late.length > 0 && drawn.some(({ type }) => type === 'text'))
    drawn.push({ type: 'text', text: '', citations: [...late] });
  return drawn;
}

function refusalOf(blocks: readonly Block[]): string {
  return blocks.map((block) => (block.type === 'refusal' ? block.text : '')).join('');
}

function drawError({ failure, end }: Answer): JsonObject | undefined {
  if (failure === undefined) return end?.finish === 'error' ? UPSTREAM_ERROR : undefined;
  const { errorType, status } = failure;
  return { type: errorTypeOf(errorType), message: wordsOfFailure(failure), code: status, error_type: errorType };
}
