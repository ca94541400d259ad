import type { GenerationRequest } from '../../../canonical/request.ts';
import { supportsParameter } from '../../../canonical/supports-parameter.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { warnOfDroppedFields, type SupportedFields } from '../../dropped-fields.ts';
import type { EncodedRequest, EncodeTarget } from '../../format.ts';
import { encodeBetas } from './betas.ts';
import { encodeCacheControl, limitCacheBreakpoints, markLastBlock } from './cache-control.ts';
import { encodeTools } from './tools-out.ts';
import { encodeTurns, type EncodedTurns } from './messages.ts';
import { encodeOutputFormat, type OutputFormat } from './output-format.ts';
import { encodeSampling } from './sampling.ts';
import { warnOfUnsupportedSettings } from '../../unsupported-settings.ts';
import { encodeForeignThinking, encodeOwnThinking, type ThinkingPlan } from './thinking.ts';
import { createWarnings, type Warnings } from '../../gateway/warnings.ts';
import { textOf, type WireObject } from '../../json-fields.ts';
import { addExtra } from '../extra.ts';
import type { WireMessage } from './wire-message.ts';

/** Sent when neither the caller nor the catalog names a maximum: the vendor demands one. @spec messages-2 */
const MAX_TOKENS_DEFAULT = 4_096;

/** Members that only the vendor's own endpoints know. @spec messages-15 */
const VENDOR_MEMBERS = ['container', 'mcp_servers', 'inference_geo', 'context_management', 'speed'] as const;
/** The vendor's names of tiers. @spec messages-10 */
const VENDOR_TIERS: ReadonlySet<string> = new Set(['auto', 'standard_only']);

/** @spec translate-1 */
export function encodeRequest(request: GenerationRequest, target: EncodeTarget): EncodedRequest {
  const warnings = createWarnings();
  const vendor = target.dialect.vendor === true;
  const listed = target.supportedParameters;
  const supports = (name: string): boolean => listed === undefined || supportsParameter(listed, name);
  const sourcePaths = new Map<WireObject, string>();
  const stated = encodeTurns(request, target.dialect, sourcePaths, warnings);
  const output = encodeOutputFormat(request, target, stated.messages, supports, warnings);
  const turns = withInstruction(stated, output.instruction);
  const outputTool = output.tool;
  const { betaRules } = target;
  const { tools, toolChoice, names } = encodeTools({
    request,
    vendor,
    supports,
    betaRules,
    outputTool,
    sourcePaths,
    warnings,
  });
  const plan = planThinking(request, target, { messages: turns.messages, toolChoice }, supports, warnings);
  const body: WireObject = {
    model: target.model,
    max_tokens: plan.maxTokens,
    ...(turns.system !== undefined && { system: turns.system }),
    messages: fillThinking(turns.messages, plan, target),
    ...(tools.length > 0 && { tools }),
    ...(toolChoice !== undefined && { tool_choice: toolChoice }),
    ...(plan.thinking !== undefined && { thinking: plan.thinking }),
    ...encodeOutputConfig(plan, output),
    ...encodeSampling(request, plan.active, target.dialect, supports, warnings),
    ...(request.delivery === 'stream' && { stream: true }),
    ...(target.endUserId !== '' && { metadata: { user_id: target.endUserId } }),
    ...encodeServiceTier(request, vendor, warnings),
    ...(vendor && encodeCacheControl(request.settings.cache)),
  };
  addExtra(body, request.extra);
  // What was left of a member that is not sent must not stand in its place.
  if (toolChoice === undefined) delete body['tool_choice'];
  if (!vendor) dropVendorMembers(body, warnings);
  placeCacheBreakpoints(request, body, { ...turns, tools }, { vendor, sourcePaths }, warnings);
  if (request.format !== 'messages') warnOfUnsupportedSettings(request.settings, warnings);
  warnOfDroppedFields(request, supportedFieldsOf(request), warnings);
  const betas = encodeBetas(request, body, { vendor, rules: betaRules }, warnings);
  return {
    body,
    headers: betas === undefined ? {} : { 'anthropic-beta': betas },
    warnings: warnings.list,
    ...(names.size > 0 && { toolNames: names }),
    ...(outputTool !== undefined && { outputTool: outputTool.name }),
  };
}

/** Reasoning settings of messages callers are sent as they stand. */
function supportedFieldsOf({ format }: GenerationRequest): SupportedFields {
  return { format: 'messages', betas: true, ...(format !== 'messages' && { reasoning: ['display'] }) };
}

function withInstruction(turns: EncodedTurns, instruction: string | undefined): EncodedTurns {
  if (instruction === undefined) return turns;
  const { system, messages } = turns;
  const before = system === undefined ? [] : typeof system === 'string' ? [{ type: 'text', text: system }] : system;
  // Last, so that the caller's own instructions stay a prefix that the cache knows.
  return { system: [...before, { type: 'text', text: instruction }], messages };
}

function planThinking(
  request: GenerationRequest,
  target: EncodeTarget,
  { messages, toolChoice }: { readonly messages: readonly WireMessage[]; readonly toolChoice: WireObject | undefined },
  supports: (name: string) => boolean,
  warnings: Warnings,
): ThinkingPlan {
  const maxTokens = request.settings.maxTokens ?? target.maxOutputTokens ?? MAX_TOKENS_DEFAULT;
  const { reasoning, verbosity, ...others } = request.settings;
  const settings = {
    ...others,
    ...(reasoning !== undefined && supports('reasoning') && { reasoning }),
    ...(verbosity !== undefined && supports('verbosity') && { verbosity }),
  };
  if (reasoning !== undefined && settings.reasoning === undefined)
    warnings.add('field-dropped', 'reasoning', 'the endpoint does not take it');
  if (verbosity !== undefined && settings.verbosity === undefined)
    warnings.add('field-dropped', 'verbosity', 'the endpoint does not take it');
  const options = {
    settings,
    dialect: target.dialect,
    maxTokens,
    maxTokensLimit: target.maxOutputTokens,
    forced: toolChoice?.['type'] === 'any' || toolChoice?.['type'] === 'tool',
    warnings,
  };
  const plan = request.format === 'messages' ? encodeOwnThinking(options) : encodeForeignThinking(options);
  if (plan.thinking?.['type'] !== 'enabled' || target.dialect.reasoningFiller !== undefined) return plan;
  if (!hasUnthoughtTurn(messages)) return plan;
  // The vendor refuses to go on thinking after calls that it made without its thinking. @spec reasoning-19. A messages caller
  // that left the thinking out gets the vendor's error; a caller with a history from elsewhere could not have kept it.
  const isOwnDoing = request.format === 'messages' && !hasDroppedReasoning(request);
  if (isOwnDoing && !(target.dialect.vendor === true && callsFromElsewhere(messages))) return plan;
  warnings.add('field-dropped', 'thinking', 'the reasoning before the last tool call is not there any more');
  const { thinking: _thinking, ...rest } = plan;
  return { ...rest, maxTokens, active: false };
}

/** Calls of other models, and of callers that keep no thinking, have none that could stand before them. */
function fillThinking(
  messages: readonly WireMessage[],
  { thinking }: ThinkingPlan,
  { dialect: { reasoningFiller: filler } }: EncodeTarget,
): readonly WireMessage[] {
  if (filler === undefined || thinking?.['type'] === 'disabled') return messages;
  return messages.map((message) => {
    const { role, content } = message;
    if (role !== 'assistant' || typeof content === 'string') return message;
    const types = new Set(content.map(({ type }) => type));
    if (!types.has('tool_use') || types.has('thinking') || types.has('redacted_thinking')) return message;
    return { ...message, content: [{ type: 'thinking', thinking: filler, signature: '' }, ...content] };
  });
}

/** Whether the last message answers tool calls of an assistant message that does not begin with its thinking. */
function hasUnthoughtTurn(messages: readonly WireMessage[]): boolean {
  const [assistant, user] = messages.slice(-2);
  if (assistant === undefined || user === undefined || typeof user.content === 'string') return false;
  if (assistant.role !== 'assistant' || user.content[0]?.['type'] !== 'tool_result') return false;
  const first = typeof assistant.content === 'string' ? undefined : assistant.content[0];
  return first?.['type'] !== 'thinking' && first?.['type'] !== 'redacted_thinking';
}

/** Whether another vendor's model made the last calls: ids of this one begin so, at its own endpoints and in the clouds. */
function callsFromElsewhere(messages: readonly WireMessage[]): boolean {
  const content = messages.at(-2)?.content;
  const calls = Array.isArray(content) ? content.filter((block) => block['type'] === 'tool_use') : [];
  return calls.some(({ id }) => textOf(id)?.startsWith('tool') !== true);
}

function hasDroppedReasoning(request: GenerationRequest): boolean {
  const last = request.turns.findLast((turn) => turn.role === 'assistant');
  return last?.blocks[0]?.type === 'reasoning';
}

function encodeOutputConfig(plan: ThinkingPlan, output: OutputFormat): { readonly output_config?: JsonObject } {
  if (plan.effort === undefined && output.format === undefined) return {};
  return {
    output_config: {
      ...(plan.effort !== undefined && { effort: plan.effort }),
      ...(output.format !== undefined && { format: output.format }),
    },
  };
}

/**
 * `priority` of another format is not turned into the vendor's fast mode, which costs several times as much: only a
 * caller that sets `speed` gets it.
 */
function encodeServiceTier(
  request: GenerationRequest,
  vendor: boolean,
  warnings: Warnings,
): { readonly service_tier?: string } {
  const tier = request.settings.serviceTier;
  const spoken = isFast(request) && tier === 'priority';
  if (tier === undefined || spoken) return {};
  if (request.format === 'messages' || VENDOR_TIERS.has(tier)) return { service_tier: tier };
  if (vendor && tier === 'default') return { service_tier: 'standard_only' };
  warnings.add('field-dropped', 'service_tier', 'is not a tier of this format');
  return {};
}

function isFast(request: GenerationRequest): boolean {
  return request.extra?.format === 'messages' && request.extra.fields['speed'] === 'fast';
}

function dropVendorMembers(body: WireObject, warnings: Warnings): void {
  // The last block carries the mark instead; only unknown members are left here.
  for (const member of Object.keys(isJsonObject(body['cache_control']) ? body['cache_control'] : {}))
    warnings.add('field-dropped', `cache_control.${member}`, 'is not known on a block');
  delete body['cache_control'];
  for (const member of VENDOR_MEMBERS) {
    if (body[member] === undefined) continue;
    delete body[member];
    warnings.add('field-dropped', member, 'only the vendor of this format knows it');
  }
}

function placeCacheBreakpoints(
  request: GenerationRequest,
  body: WireObject,
  parts: EncodedTurns & { readonly tools: readonly WireObject[] },
  { vendor, sourcePaths }: { readonly vendor: boolean; readonly sourcePaths: ReadonlyMap<WireObject, string> },
  warnings: Warnings,
): void {
  const mark = encodeCacheControl(request.settings.cache).cache_control;
  if (!vendor && mark !== undefined) markLastBlock(parts.messages, mark);
  limitCacheBreakpoints(parts, isJsonObject(body['cache_control']), sourcePaths, warnings);
}
