import type { z } from 'zod';
import type { PluginRequest } from '../../../canonical/directives.ts';
import type { Extra } from '../../../canonical/extra.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import type { GenerationRequest, ReasoningSettings, Settings, Turn } from '../../../canonical/request.ts';
import { hasFragileNumbers, hasLongNumbers, isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { deprecationWarnings } from '../../gateway/deprecated.ts';
import { GATEWAY_FIELDS, decodeDirectives } from '../../gateway/directives.ts';
import { compileSoon } from '../../gateway/validation/fast-schema.ts';
import type { HeaderDirectives } from '../../gateway/headers.ts';
import { checkShape } from '../../gateway/validation/check-shape.ts';
import { keepNumbers, type PassthroughFields } from '../../gateway/keep-numbers.ts';
import type { WireMessage } from './content-schema.ts';
import { decodeContent, decodeCacheControl } from './content-in.ts';
import { decodeToolChoice, decodeTools } from './tools-in.ts';
import { createRequestSchema, REQUEST_MEMBERS, type MessagesRequest, type PromptFields } from './request-schema.ts';
import type { WireObject } from '../../json-fields.ts';
import { extraOf } from '../extra.ts';

const MESSAGE_MEMBERS = new Set(['role', 'content']);
const THINKING_MEMBERS = new Set(['type', 'budget_tokens', 'display']);
const OUTPUT_CONFIG_MEMBERS = new Set(['effort', 'format']);
const FORMAT_MEMBERS = new Set(['type', 'schema']);
const METADATA_MEMBERS = new Set(['user_id']);
const OWN_MEMBERS: ReadonlySet<string> = new Set([...REQUEST_MEMBERS, ...GATEWAY_FIELDS]);
/** Members whose numbers are only written out again, beside those that the gateway does not know. */
const PASSTHROUGH_MEMBERS: ReadonlySet<string> = new Set([
  'messages',
  'system',
  'tools',
  'tool_choice',
  'output_config',
  'metadata',
  'context_management',
  'cache_control',
  'thinking',
]);
const PASSTHROUGH_FIELDS: PassthroughFields = {
  passesThrough: (member) => PASSTHROUGH_MEMBERS.has(member) || !OWN_MEMBERS.has(member),
  numberIn: { thinking: 'budget_tokens' },
};

/** A prompt of the canonical model. */
export interface DecodedPrompt {
  readonly turns: readonly Turn[];
  readonly tools: GenerationRequest['tools'];
  readonly settings: Settings;
  readonly extra?: Extra;
}

export type RequestDecoder = (body: Json, text: string, headers: HeaderDirectives) => GenerationRequest;

/** @spec messages-1, messages-5 */
export function createRequestDecoder(options: { readonly plugin: z.ZodType<PluginRequest> }): RequestDecoder {
  const schema = createRequestSchema(options);
  compileSoon(schema);
  return (body, text, headers) => {
    const parsed = checkShape(schema, body, { text });
    refuseThread(parsed['thread']);
    const prompt = decodePrompt(parsed, text);
    return {
      format: 'messages',
      delivery: parsed.stream === true ? 'stream' : 'whole',
      ...prompt,
      settings: { ...prompt.settings, ...decodeSampling(parsed) },
      directives: decodeDirectives(parsed, headers, {
        model: parsed.model,
        fallbacks: parsed.fallbacks?.map(({ model }) => model),
        user: parsed.user ?? parsed.metadata?.user_id ?? undefined,
      }),
      warnings: deprecationWarnings(parsed),
    };
  };
}

/**
 * Refuses a conversation that the server would keep between turns. The gateway keeps none, and a vendor does not know the
 * ids that responses have here. With the vendor's own error its clients continue by sending the whole conversation.
 * @source vendor docs, "Message threads", and vendor SDK 1.11 `ThreadState.recoversFrom`, read 2026-11
 */
function refuseThread(thread: unknown): void {
  if (thread === undefined || thread === null) return;
  const message = 'conversations are not kept here: send the whole one with every request';
  throw new GatewayError('invalid_request', `thread: ${message}`, {
    issues: [{ path: 'thread', message }],
    metadata: { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } },
  });
}

/**
 * Turns, tools and what shapes thinking and output: what a response and a token count have in common.
 * @throws GatewayError 400
 */
export function decodePrompt(checked: PromptFields, text: string): DecodedPrompt {
  const parsed = mayLoseNumbers(checked, text) ? keepNumbers(checked, text, PASSTHROUGH_FIELDS) : checked;
  const tools = decodeTools(parsed.tools);
  const choice = decodeToolChoice(parsed.tool_choice, tools);
  const reasoning = decodeReasoning(parsed);
  const schema = parsed.output_config?.format;
  const extra = decodeExtra(parsed, choice.extra);
  return {
    turns: [...decodeSystem(parsed), ...parsed.messages.map(decodeMessage)],
    tools,
    settings: {
      ...choice.settings,
      ...(reasoning !== undefined && { reasoning }),
      ...(schema && {
        responseFormat: {
          type: 'json_schema',
          schema: schema.schema,
          ...extraOf(schema, FORMAT_MEMBERS),
        },
      }),
      ...decodeCacheControl(parsed.cache_control),
    },
    ...(extra && { extra }),
  };
}

function decodeSystem({ system }: PromptFields): readonly Turn[] {
  if (system === undefined || system === null || system.length === 0) return [];
  return [{ role: 'system', ...decodeContent(system) }];
}

function decodeMessage(wire: WireMessage): Turn {
  return {
    role: wire.role,
    ...decodeContent(wire.content),
    ...(wire.role === 'system' && { inline: true }),
    ...extraOf(wire, MESSAGE_MEMBERS),
  };
}

/** Whether a passthrough number may be lost. Inputs of tools become text, in which `1.0` stays as it was, too. */
function mayLoseNumbers({ messages }: PromptFields, text: string): boolean {
  return hasLongNumbers(text) || (holdNumbers(messages) && hasFragileNumbers(text));
}

/** Kinds of blocks that hold no JSON of someone else's. */
const NUMBERLESS: ReadonlySet<string> = new Set(['text', 'image', 'document', 'thinking', 'redacted_thinking']);

function holdNumbers(messages: readonly WireMessage[]): boolean {
  return messages.some(
    ({ content }) =>
      typeof content !== 'string' && content.some((block) => !NUMBERLESS.has(block.type) && holdsNumber(block)),
  );
}

function holdsNumber(value: Json | undefined): boolean {
  if (typeof value === 'number') return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsNumber);
}

/** @spec messages-7; an effort alone does not request thinking: it also rules how long responses are */
function decodeReasoning({ thinking, output_config }: PromptFields): ReasoningSettings | undefined {
  const effort = output_config?.effort ?? undefined;
  if (!thinking) return effort === undefined ? undefined : { effort };
  const display = 'display' in thinking ? thinking.display : undefined;
  return {
    ...(effort !== undefined && { effort }),
    ...(thinking.type === 'enabled' && { enabled: true, maxTokens: thinking.budget_tokens }),
    ...(thinking.type === 'disabled' && { enabled: false }),
    ...(thinking.type === 'adaptive' && { enabled: true, adaptive: true }),
    ...((display === 'summarized' || display === 'omitted') && { display }),
    // The vendor's mode between tool calls is not in the canonical model: only its own format gets it back.
    ...extraOf(thinking, thinking.type === 'between_tools' ? new Set() : THINKING_MEMBERS),
  };
}

function decodeSampling(parsed: MessagesRequest): Settings {
  const { max_tokens, temperature, top_p, top_k, stop_sequences, service_tier, speed } = parsed;
  const tier = service_tier ?? (speed === 'fast' ? speed : undefined);
  return {
    ...(max_tokens !== undefined && { maxTokens: max_tokens }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof top_p === 'number' && { topP: top_p }),
    ...(typeof top_k === 'number' && { topK: top_k }),
    ...(stop_sequences && { stop: stop_sequences }),
    // @spec messages-10: the three spellings ask for one thing.
    ...(tier !== undefined && { serviceTier: tier === 'fast' ? 'priority' : tier }),
  };
}

/** The passthrough fields: unknown members, and known ones that no other format has. */
function decodeExtra(parsed: PromptFields, choice: JsonObject | undefined): Extra | undefined {
  const fields: WireObject = { ...extraOf(parsed, OWN_MEMBERS).extra?.fields };
  const { output_config, metadata, speed, context_management } = parsed;
  if (speed) fields['speed'] = speed;
  if (context_management) fields['context_management'] = context_management;
  if (choice !== undefined) fields['tool_choice'] = choice;
  const config = output_config && extraOf(output_config, OUTPUT_CONFIG_MEMBERS).extra;
  const { task_budget: budget, ...rest } = config?.fields ?? {};
  const kept = { ...rest, ...(isJsonObject(budget) && { task_budget: budget }) };
  if (Object.keys(kept).length > 0) fields['output_config'] = kept;
  const tags = metadata && extraOf(metadata, METADATA_MEMBERS).extra;
  if (tags) fields['metadata'] = tags.fields;
  const mark = parsed.cache_control && extraOf(parsed.cache_control, new Set(['type', 'ttl'])).extra;
  if (mark) fields['cache_control'] = mark.fields;
  return Object.keys(fields).length === 0 ? undefined : { format: 'messages', fields };
}
