import type { Block, ReasoningBlock } from '../../../canonical/blocks.ts';
import type { Turn } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { fieldsOf } from '../../extra.ts';
import { joinReasoning } from '../../../canonical/text-gap.ts';
import type { EncodeContext } from './encode-context.ts';
import { encodeDetail } from '../reasoning-details.ts';

/** Earlier reasoning as an upstream takes it back: members of its message, or parts before its content. */
export interface EncodedReasoning {
  readonly members: JsonObject;
  readonly parts: readonly JsonObject[];
  /** What stands before its text, in its text. */
  readonly prefix?: string;
}

const NOTHING: EncodedReasoning = { members: {}, parts: [] };

/** Repetitions of the reasoning go only where its own member goes. */
export function assistantFields(turn: Turn, { target }: EncodeContext): JsonObject | undefined {
  const fields = fieldsOf(turn, 'chat');
  const repeats = fields?.['reasoning'] !== undefined || fields?.['reasoning_content'] !== undefined;
  const { plainMessages, reasoningMember } = target.dialect;
  if (fields === undefined || !repeats || (reasoningMember === 'reasoning_details' && plainMessages !== true))
    return fields;
  const { reasoning: _reasoning, reasoning_content: _content, ...others } = fields;
  return others;
}

/**
 * Encodes the earlier reasoning that an upstream takes back. The detailed member names the vendor of each entry, so all
 * entries go there; plain text members and parts take only readable text. @spec reasoning-16, reasoning-17
 */
export function encodeReasoning(blocks: readonly Block[], path: string, context: EncodeContext): EncodedReasoning {
  const reasoning = blocks.filter((block) => block.type === 'reasoning' || block.type === 'opaque');
  const { reasoningMember } = context.target.dialect;
  const member = reasoningMember === 'none' ? undefined : reasoningMember;
  if (reasoning.length === 0) return NOTHING;
  if (member === 'reasoning_details' && context.target.dialect.plainMessages !== true)
    return { members: encodeDetailed(reasoning, path, context), parts: [] };
  const readable = member === undefined ? [] : reasoning.filter(isReadable);
  const lost = reasoning.filter((block) => member === undefined || !isReadable(block));
  for (const place of new Set(lost.map(placeOf)))
    context.warn('content-dropped', `${path}.${place}`, 'the provider does not take this reasoning back');
  if (member === undefined || readable.length === 0) return NOTHING;
  if (member === 'reasoning_details') return { members: { reasoning_details: readable.map(plainDetail) }, parts: [] };
  if (member === 'content') return { members: {}, parts: readable.map(({ text }) => thinkingPart(text)) };
  if (member === 'think_tags') return { members: {}, parts: [], prefix: thinkTags(joinReasoning(undefined, readable)) };
  return { members: { [member]: joinReasoning(undefined, readable) }, parts: [] };
}

/** Where the caller wrote it: the messages format has reasoning among the content. */
function placeOf(block: Block): string {
  if (block.type === 'opaque') return block.format === 'chat' ? 'reasoning_details' : 'content';
  return (block.type === 'reasoning' ? block.carrier : undefined) ?? 'content';
}

/** As the templates of open models write it. */
function thinkTags(text: string): string {
  return `<think>\n${text}\n</think>\n\n`;
}

/** docs.mistral.ai "Reasoning", read 2026-11. */
function thinkingPart(text: string): JsonObject {
  return { type: 'thinking', thinking: [{ type: 'text', text }] };
}

function encodeDetailed(reasoning: readonly Block[], path: string, context: EncodeContext): JsonObject {
  const members: Record<string, JsonObject[string]> = {};
  const details: JsonObject[] = [];
  for (const block of reasoning) {
    const carrier = block.type === 'reasoning' ? block.carrier : undefined;
    if (block.type === 'reasoning' && (carrier === 'reasoning' || carrier === 'reasoning_content')) {
      members[carrier] = block.text;
      continue;
    }
    const detail = encodeDetail(block);
    if (detail === undefined) context.warn('content-dropped', path, 'the provider does not take this block back');
    else details.push(detail);
  }
  return details.length === 0 ? members : { ...members, reasoning_details: details };
}

/** A detail for a host that knows its own reasoning alone: the readable text, without the name of another family. */
function plainDetail({ signature: _none, family: _other, ...plain }: ReasoningBlock): JsonObject {
  return encodeDetail(plain) ?? {};
}

/** The messages format writes an empty signature where there is none. */
function isReadable(block: Block): block is ReasoningBlock {
  return block.type === 'reasoning' && block.form !== 'encrypted' && !block.signature;
}
