import type { Block, OpaqueBlock, ReasoningBlock, TextBlock, ToolCallBlock } from '../../canonical/blocks.ts';
import type { EndEvent } from '../../canonical/events.ts';
import { unreachable } from '../../lib/assert.ts';
import { isJsonObject } from '../../lib/json.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import type { AnswerIdentity } from '../format.ts';
import { drawCitation } from './citations.ts';
import { writeSeal } from './reasoning-seal.ts';
import { END_DELTA, stopReasonOf } from './stop-reason.ts';
import type { AnswerTraits } from './stop-reason.ts';
import { parseToolInputObject } from '../tool-input.ts';
import { addExtra, stringOf } from './wire-object.ts';
import type { WireObject } from './wire-object.ts';

/** The members of a message that stand before its content is known. @source generation.md 7.8 "always present" */
export function drawMessage(identity: AnswerIdentity): WireObject {
  return {
    id: identity.id,
    type: 'message',
    role: 'assistant',
    model: identity.model,
    ...(identity.provider !== undefined && { provider: identity.provider }),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
  };
}

/** How a message ended: members of `message` in a whole answer, of `delta` in a stream. */
export interface DrawnEnd {
  readonly stop: {
    readonly stop_reason: string;
    readonly stop_sequence: string | null;
    readonly stop_details: Json;
    readonly container: Json;
  };
  /** Unknown members: beside `delta`, and inside it. */
  readonly outer: JsonObject;
  readonly inner: JsonObject;
}

/** @param refusal the words of a refusal that came as a block */
export function drawEnd(end: EndEvent | undefined, traits: AnswerTraits, refusal: string): DrawnEnd {
  const fields = end?.extra?.format === 'messages' ? end.extra.fields : {};
  const { stop_details: details, container, [END_DELTA]: inner, ...outer } = fields;
  const stopReason = stopReasonOf(end, traits);
  const invented =
    stopReason === 'refusal' ? { type: 'refusal', category: null, explanation: refusal === '' ? null : refusal } : null;
  return {
    stop: {
      stop_reason: stopReason,
      stop_sequence: end?.stopSequence ?? null,
      stop_details: details ?? invented,
      // `skills` is the seed's own member of it. generation.md 13.7
      container: isJsonObject(container) ? { skills: null, ...container } : null,
    },
    outer,
    inner: isJsonObject(inner) ? inner : {},
  };
}

/** A text block with its sources, and those of the whole answer that stand on it. */
function drawText(block: TextBlock, native: boolean, further: readonly WireObject[]): WireObject | undefined {
  const own = (block.citations ?? []).map(drawCitation).filter((drawn) => drawn !== undefined);
  const citations = [...own, ...further];
  if (!native && block.text === '' && citations.length === 0) return undefined;
  const cites = citations.length > 0 || block.citations?.length === 0;
  return addExtra({ type: 'text', text: block.text, citations: cites ? citations : null }, block.extra);
}

/** @source generation.md 11.5: summaries are shown as thinking, encrypted reasoning as redacted */
export function drawReasoning(block: ReasoningBlock): WireObject {
  const { form, text, signature = '' } = block;
  const drawn: WireObject =
    form === 'encrypted'
      ? { type: 'redacted_thinking', data: writeSeal(block, text) }
      : { type: 'thinking', thinking: text, signature: writeSeal(block, signature) };
  return addExtra(drawn, block.extra);
}

/** @param input the parsed input; `{}` as long as a stream is still to bring it */
export function drawCall(block: ToolCallBlock, input: JsonObject): WireObject {
  const isCallers = block.runBy === 'caller';
  const type = isCallers ? 'tool_use' : 'server_tool_use';
  const drawn = addExtra({ type, id: block.id, name: block.name, input }, block.extra);
  if (isCallers) drawn['caller'] ??= { type: 'direct' };
  return drawn;
}

/** A block for a whole answer; `undefined` where this format cannot say it. */
export function drawWholeBlock(block: Block, native: boolean, further: readonly WireObject[]): WireObject | undefined {
  switch (block.type) {
    case 'text':
      return drawText(block, native, further);
    case 'refusal':
      // A vendor's own refusal is told by stop_details.
      return native || block.text === '' ? undefined : { type: 'text', text: block.text, citations: null };
    case 'reasoning':
      return native || block.text !== '' || block.signature !== undefined ? drawReasoning(block) : undefined;
    case 'tool-call':
      return drawCall(block, parseToolInputObject(block.input));
    case 'opaque':
      return block.format === 'messages' ? foldOpaque(block) : undefined;
    // The format has no images, no sound and no results of the caller's tools in an answer.
    case 'media':
    case 'tool-result':
      return undefined;
    default:
      return unreachable(block);
  }
}

/** Adds up what a stream brought of a block that only this format knows. Deltas of unknown kinds have no sum. */
function foldOpaque({ value, deltas }: OpaqueBlock): WireObject {
  const folded: WireObject = { ...value };
  let input = '';
  for (const { type, ...delta } of deltas ?? []) {
    if (type === 'input_json_delta') input += stringOf(delta['partial_json']) ?? '';
    else if (type === 'text_delta') folded['text'] = (stringOf(folded['text']) ?? '') + (stringOf(delta['text']) ?? '');
    else if (type === 'citations_delta')
      folded['citations'] = [
        ...(Array.isArray(folded['citations']) ? folded['citations'] : []),
        delta['citation'] ?? null,
      ];
    // It carries the final values. Vendor SDK 1.11, 2026-11
    else if (type === 'compaction_delta') Object.assign(folded, delta);
  }
  if (input !== '') folded['input'] = parseToolInputObject(input);
  return folded;
}
