import type { GenerationResponse } from '../../../canonical/response.ts';
import type { Block, ToolCallBlock } from '../../../canonical/blocks.ts';
import type { GenerationRequest } from '../../../canonical/request.ts';
import { mergeFields } from '../../../canonical/fold.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import type { ResponseIdentity, FinalUsage } from '../../format.ts';
import { encodeAnnotations } from '../citations.ts';
import { encodeAudio, encodeImages } from '../assistant-media.ts';
import { encodeFailure, UNREPORTED_ERROR } from './error.ts';
import { fieldsOf, withExtra } from '../../extra.ts';
import { encodeCustomCall, isCustomCall } from './custom-calls.ts';
import { encodeFinishReason } from './finish-reason.ts';
import { identityMembers } from './frame-head.ts';
import { detailFields, encodeDetail } from '../reasoning-details.ts';
import { gatewayTier } from '../../gateway/service-tier.ts';
import { joinResponseText, joinReasoning } from '../../../canonical/text-gap.ts';
import { encodeUsage } from './usage.ts';

/** @spec chat-response-1, chat-response-13 */
export function encodeWhole(response: GenerationResponse, identity: ResponseIdentity, finalUsage: FinalUsage): string {
  const fields = responseFields(response);
  const { choices, created: _created, service_tier: tier, system_fingerprint: fingerprint, ...top } = fields;
  const around = isJsonObject(choices) ? choices : {};
  const { message: inMessage, ...inChoice } = around;
  const message = withExtra(encodeMessage(response, identity), isJsonObject(inMessage) ? inMessage : undefined);
  const own: JsonObject = {
    ...identityMembers(identity, 'chat.completion'),
    choices: [withExtra({ index: 0, message, ...encodeFinish(response, identity) }, inChoice)],
    system_fingerprint: typeof fingerprint === 'string' ? fingerprint : null,
    service_tier: servedTier(finalUsage, tier),
    usage: encodeUsage(finalUsage),
    ...(finalUsage.serviceMetadata !== undefined && { service_metadata: finalUsage.serviceMetadata }),
  };
  return JSON.stringify(withExtra(own, top));
}

/** The tier that served, from the usage or beside it. */
function servedTier({ usage }: FinalUsage, reported: JsonObject[string]): string | null {
  const tier = usage.serviceTier ?? reported;
  return typeof tier === 'string' ? gatewayTier(tier) : null;
}

/** Passthrough fields of the response itself, and those of its blocks that stood around them. Later members win. */
function responseFields(response: GenerationResponse): JsonObject {
  let fields: JsonObject = {};
  let pieces: JsonObject = {};
  for (const extra of response.extras) {
    if (extra.format !== 'chat') continue;
    const { choices, ...chunk } = extra.fields;
    // Members of the response itself are repeated as they grow; those of a delta come piece by piece.
    fields = withExtra(chunk, fields);
    if (isJsonObject(choices)) pieces = mergeFields(pieces, choices);
  }
  for (const block of response.blocks) {
    const choices = fieldsOf(block, 'chat')?.['choices'];
    if (choices !== undefined) fields = withExtra({ choices }, fields);
  }
  return Object.keys(pieces).length === 0
    ? fields
    : withExtra({ ...fields, choices: fields['choices'] ?? {} }, { choices: pieces });
}

/** @spec chat-response-13 */
function encodeFinish({ end, failure }: GenerationResponse, { legacyCalls }: ResponseIdentity): JsonObject {
  const native = { native_finish_reason: end?.nativeFinish ?? null };
  if (failure !== undefined) return { finish_reason: 'error', ...native, error: encodeFailure(failure) };
  if (end?.finish === 'error') return { finish_reason: 'error', ...native, error: UNREPORTED_ERROR };
  return { finish_reason: end === undefined ? null : encodeFinishReason(end.finish, legacyCalls), ...native };
}

function encodeMessage(
  { format, blocks, citations }: GenerationResponse,
  { legacyCalls, request }: ResponseIdentity,
): JsonObject {
  const [only] = blocks;
  if (blocks.length === 1 && only?.type === 'text' && only.citations === undefined && citations.length === 0)
    return { role: 'assistant', content: only.text, refusal: null };
  const calls = blocks.filter(isCallersCall);
  const { text, starts } = joinResponseText(format, blocks);
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
    ...encodeCalls(calls, legacyCalls, request),
    ...(images.length > 0 && { images }),
    ...(audio?.type === 'media' && { audio: encodeAudio(audio) }),
    ...(annotations.length > 0 && { annotations }),
  };
}

/** Tools that the upstream ran itself are no calls for the caller. @spec chat-response-12 */
function isCallersCall(block: Block): block is ToolCallBlock {
  return block.type === 'tool-call' && block.runBy === 'caller';
}

function encodeCalls(
  calls: readonly ToolCallBlock[],
  legacy: true | undefined,
  request: GenerationRequest | undefined,
): JsonObject | undefined {
  const [first] = calls;
  if (first === undefined) return undefined;
  if (legacy === true) return { function_call: encodeFunction(first) };
  return { tool_calls: calls.map((call) => (isCustomCall(call, request) ? encodeCustomCall(call) : encodeCall(call))) };
}

function encodeCall(block: ToolCallBlock): JsonObject {
  const { choices: _around, ...own } = fieldsOf(block, 'chat') ?? {};
  return withExtra({ id: block.id, type: 'function', function: encodeFunction(block) }, own);
}

/** Clients parse the arguments: none are the empty object. */
function encodeFunction({ name, input }: ToolCallBlock): JsonObject {
  return { name, arguments: input === '' ? '{}' : input };
}

/** Texts and summaries joined, and every block in full. @spec chat-response-8 */
function encodeReasoning(format: GenerationResponse['format'], blocks: readonly Block[]): JsonObject | undefined {
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
