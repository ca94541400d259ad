import type { GenerationResponse } from '../../../canonical/response.ts';
import type { Block } from '../../../canonical/blocks.ts';
import { describeFailure } from '../../../canonical/failure/failure.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ResponseIdentity, FinalUsage } from '../../format.ts';
import { encodeEnd, encodeMessage, encodeWholeBlock } from './content-out.ts';
import { errorTypeOf, UPSTREAM_ERROR } from './error-out.ts';
import { locateCitations } from './citation-positions.ts';
import { encodeWholeUsage } from './usage.ts';
import type { WireObject } from '../../json-fields.ts';
import { addExtra } from '../extra.ts';

/**
 * One response as the body of a response. One that broke off has no `stop_reason`, and an `error` beside what had come.
 * @spec messages-26, messages-33
 */
export function encodeWhole(response: GenerationResponse, identity: ResponseIdentity, finalUsage: FinalUsage): string {
  const native = response.format === 'messages';
  const refusal = refusalOf(response.blocks);
  const calledTools = response.blocks.some((block) => block.type === 'tool-call' && block.runBy === 'caller');
  const { stop, outer, inner } = encodeEnd(response.end, { native, calledTools, refused: refusal !== '' }, refusal);
  const message: WireObject = {
    ...encodeMessage(identity),
    content: encodeContent(response, native),
    ...stop,
    usage: encodeWholeUsage(finalUsage),
  };
  const error = encodeError(response);
  if (error !== undefined) Object.assign(message, { stop_reason: null, error });
  // What an upstream put beside its end may bear the name of something that stands here already.
  for (const [member, value] of Object.entries({ ...inner, ...outer }))
    if (!(member in message)) message[member] = value;
  for (const extra of response.extras) addExtra(message, extra);
  if (finalUsage.serviceMetadata !== undefined) message['service_metadata'] = finalUsage.serviceMetadata;
  return JSON.stringify(message);
}

/** Sources that came too late for their text stand on the last one, or in an empty text block where another block is last. */
function encodeContent(response: GenerationResponse, native: boolean): WireObject[] {
  const { onTexts, late } = locateCitations(response, native);
  const encoded = response.blocks
    .map((block, index) => encodeWholeBlock(block, native, onTexts.get(index) ?? []))
    .filter((block) => block !== undefined);
  const content = native ? encoded : withTextLast(encoded);
  if (late.length === 0 || !content.some(({ type }) => type === 'text')) return content;
  const last = content.at(-1);
  if (native || last?.['type'] !== 'text') return [...content, { type: 'text', text: '', citations: [...late] }];
  const own = Array.isArray(last['citations']) ? last['citations'] : [];
  return [...content.slice(0, -1), { ...last, citations: [...own, ...late] }];
}

/**
 * Clients take the result of a response from its last block, so encrypted reasoning behind the last text stands before it.
 * It comes back onto that text, where its vendor expects it.
 */
function withTextLast(content: WireObject[]): WireObject[] {
  const text = content.findLastIndex(({ type }) => type === 'text');
  const behind = content.slice(text + 1);
  if (text < 0 || behind.length === 0 || behind.some(({ type }) => type !== 'redacted_thinking')) return content;
  return [...content.slice(0, text), ...behind, ...content.slice(text, text + 1)];
}

function refusalOf(blocks: readonly Block[]): string {
  return blocks.map((block) => (block.type === 'refusal' ? block.text : '')).join('');
}

function encodeError({ failure, end }: GenerationResponse): JsonObject | undefined {
  if (failure === undefined) return end?.finish === 'error' ? UPSTREAM_ERROR : undefined;
  const { errorType, status } = failure;
  return { type: errorTypeOf(errorType), message: describeFailure(failure), code: status, error_type: errorType };
}
