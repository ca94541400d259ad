import type { Answer } from '../../canonical/answer.ts';
import type { Block, ToolCallBlock } from '../../canonical/blocks.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { AnswerIdentity, Closing } from '../format.ts';
import { encodeAnnotations } from './annotations.ts';
import { encodeAudio, encodeImages } from './answer-media.ts';
import { encodeFailure, UNTOLD_ERROR } from './encode-error.ts';
import { fieldsOf, withExtra } from '../extra.ts';
import { identityMembers } from './frame-head.ts';
import { detailFields, encodeDetail } from './reasoning-details.ts';
import { gatewayTier } from '../gateway/service-tier.ts';
import { joinAnswerText, joinReasoning } from '../../canonical/text-gap.ts';
import { encodeUsage } from './usage.ts';

/** @source generation.md 6.1, 6.2, C.4 */
export function encodeWhole(answer: Answer, identity: AnswerIdentity, closing: Closing): string {
  const fields = answerFields(answer);
  const { choices, created: _created, service_tier: tier, system_fingerprint: fingerprint, ...top } = fields;
  const around = isJsonObject(choices) ? choices : {};
  const { message: inMessage, ...inChoice } = around;
  const message = withExtra(encodeMessage(answer), isJsonObject(inMessage) ? inMessage : undefined);
  const own: JsonObject = {
    ...identityMembers(identity, 'chat.completion'),
    choices: [withExtra({ index: 0, message, ...encodeFinish(answer) }, inChoice)],
    system_fingerprint: typeof fingerprint === 'string' ? fingerprint : null,
    service_tier: servedTier(closing, tier),
    usage: encodeUsage(closing),
    ...(closing.serviceMetadata !== undefined && { service_metadata: closing.serviceMetadata }),
  };
  return JSON.stringify(withExtra(own, top));
}

/** The tier that served: told with the usage, or beside it. */
function servedTier({ usage }: Closing, told: JsonObject[string]): string | null {
  const tier = usage.serviceTier ?? told;
  return typeof tier === 'string' ? gatewayTier(tier) : null;
}

/** What the answer brought along on itself, and on its blocks as far as it stood around them. Later members win. */
function answerFields(answer: Answer): JsonObject {
  let fields: JsonObject = {};
  for (const extra of answer.extras) {
    if (extra.format === 'chat') fields = withExtra(extra.fields, fields);
  }
  for (const block of answer.blocks) {
    const choices = fieldsOf(block, 'chat')?.['choices'];
    if (choices !== undefined) fields = withExtra({ choices }, fields);
  }
  return fields;
}

/** @source generation.md C.4 */
function encodeFinish({ end, failure }: Answer): JsonObject {
  const native = { native_finish_reason: end?.nativeFinish ?? null };
  if (failure !== undefined) return { finish_reason: 'error', ...native, error: encodeFailure(failure) };
  if (end?.finish === 'error') return { finish_reason: 'error', ...native, error: UNTOLD_ERROR };
  return { finish_reason: end?.finish ?? null, ...native };
}

function encodeMessage({ format, blocks, citations }: Answer): JsonObject {
  const calls = blocks.filter(isCallersCall).map(encodeCall);
  const { text, starts } = joinAnswerText(format, blocks);
  const refusals = blocks.filter((block) => block.type === 'refusal');
  const images = encodeImages(blocks);
  const audio = blocks.find((block) => block.type === 'media' && block.media === 'audio');
  const annotations = encodeAnnotations(format, blocks, citations);
  const silent = calls.length > 0 || refusals.length > 0 || audio !== undefined;
  return {
    role: 'assistant',
    content: starts.size === 0 && silent ? null : text,
    refusal: refusals.length === 0 ? null : refusals.map(({ text: words }) => words).join(''),
    ...encodeReasoning(format, blocks),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(images.length > 0 && { images }),
    ...(audio?.type === 'media' && { audio: encodeAudio(audio) }),
    ...(annotations.length > 0 && { annotations }),
  };
}

/** Tools that the upstream ran itself are no calls for the caller. @source generation.md 11.9 */
function isCallersCall(block: Block): block is ToolCallBlock {
  return block.type === 'tool-call' && block.runBy === 'caller';
}

function encodeCall(block: ToolCallBlock): JsonObject {
  const { choices: _around, ...own } = fieldsOf(block, 'chat') ?? {};
  const { id, name, input } = block;
  // Clients parse it: no arguments are the empty object.
  return withExtra({ id, type: 'function', function: { name, arguments: input === '' ? '{}' : input } }, own);
}

/** Texts and summaries joined, and every block in full. @source generation.md 1.3, 1.4, 11.5 */
function encodeReasoning(format: Answer['format'], blocks: readonly Block[]): JsonObject | undefined {
  const details: JsonObject[] = [];
  let position = 0;
  for (const block of blocks) {
    if (block.type === 'reasoning') {
      const index = detailFields(block)?.['index'] ?? position;
      details.push({ format: 'unknown', ...encodeDetail(block), index });
      position += 1;
    } else {
      const detail = encodeDetail(block);
      if (detail !== undefined) details.push(detail);
    }
  }
  if (details.length === 0) return undefined;
  const text = joinReasoning(format, blocks);
  return { ...(text !== '' && { reasoning: text }), reasoning_details: details };
}
