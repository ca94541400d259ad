import type { Block, OpaqueBlock, ReasoningBlock, TextBlock, ToolCallBlock } from '../../../canonical/blocks.ts';
import type { EndEvent } from '../../../canonical/events.ts';
import { unreachable } from '../../../lib/assert.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import type { ResponseIdentity } from '../../format.ts';
import { encodeCitation } from '../citations.ts';
import { seal } from '../reasoning-seal.ts';
import { END_DELTA, stopReasonOf, type ResponseTraits } from './finish-reason.ts';
import { parseToolInputObject } from '../../gateway/tool-input.ts';
import { textOf, type WireObject } from '../../json-fields.ts';
import { addExtra } from '../extra.ts';

/** The members of a message that stand before its content is known. @spec messages-26 */
export function encodeMessage(identity: ResponseIdentity): WireObject {
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

/** How a message ended: members of `message` in a whole response, of `delta` in a stream. */
export interface FormattedEnd {
  readonly stop: {
    readonly stop_reason: string | null;
    readonly stop_sequence: string | null;
    readonly stop_details: Json;
    readonly container: Json;
  };
  /** Unknown members: beside `delta`, and inside it. */
  readonly outer: JsonObject;
  readonly inner: JsonObject;
}

/** @param refusal the text of a refusal that came as a block */
export function encodeEnd(end: EndEvent | undefined, traits: ResponseTraits, refusal: string): FormattedEnd {
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
      // `skills` is a member of the gateway's own. @spec messages-26
      container: isJsonObject(container) ? { skills: null, ...container } : null,
    },
    outer,
    inner: isJsonObject(inner) ? inner : {},
  };
}

/** A text block with its sources, and those of the whole response that stand on it. */
function encodeText(block: TextBlock, native: boolean, further: readonly WireObject[]): WireObject | undefined {
  const own = (block.citations ?? []).map(encodeCitation).filter((encoded) => encoded !== undefined);
  const citations = [...own, ...further];
  if (!native && block.text === '' && citations.length === 0) return undefined;
  const cites = citations.length > 0 || block.citations?.length === 0;
  return addExtra({ type: 'text', text: block.text, citations: cites ? citations : null }, block.extra);
}

/** @spec messages-30: summaries are shown as thinking, encrypted reasoning as redacted */
export function encodeReasoning(block: ReasoningBlock): WireObject {
  const { form, text, signature = '' } = block;
  const encoded: WireObject =
    form === 'encrypted'
      ? { type: 'redacted_thinking', data: seal(block, text) }
      : { type: 'thinking', thinking: text, signature: seal(block, signature) };
  return addExtra(encoded, block.extra);
}

/** @param input the parsed input; `{}` as long as a stream is still to bring it */
export function encodeCall(block: ToolCallBlock, input: JsonObject): WireObject {
  const isCallers = block.runBy === 'caller';
  const type = isCallers ? 'tool_use' : 'server_tool_use';
  const encoded = addExtra({ type, id: block.id, name: block.name, input }, block.extra);
  if (isCallers) encoded['caller'] ??= { type: 'direct' };
  return encoded;
}

/** A block for a whole response; `undefined` where this format cannot express it. */
export function encodeWholeBlock(
  block: Block,
  native: boolean,
  further: readonly WireObject[],
): WireObject | undefined {
  switch (block.type) {
    case 'text':
      return encodeText(block, native, further);
    case 'refusal':
      // A vendor's own refusal stands in stop_details.
      return native || block.text === '' ? undefined : { type: 'text', text: block.text, citations: null };
    case 'reasoning':
      return native || block.text !== '' || block.signature !== undefined ? encodeReasoning(block) : undefined;
    case 'tool-call':
      return encodeCall(block, parseToolInputObject(block.input));
    case 'opaque':
      return block.format === 'messages' ? foldOpaque(block) : undefined;
    // The format has no images, no sound and no results of the caller's tools in a response.
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
    if (type === 'input_json_delta') input += textOf(delta['partial_json']) ?? '';
    else if (type === 'text_delta') folded['text'] = (textOf(folded['text']) ?? '') + (textOf(delta['text']) ?? '');
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
