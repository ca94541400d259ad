import type { GenerationRequest } from '../../../canonical/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { objectsOf, textOf } from '../../json-fields.ts';
import type { FinalUsage, ResponseIdentity } from '../../format.ts';
import { gatewayTier } from '../../gateway/service-tier.ts';
import { encodeFailure } from './error-out.ts';
import type { Outcome } from './response-status.ts';
import { encodeUsage, isCounted } from './usage-out.ts';

/** Members that the response repeats as the caller wrote them, and what they are where it did not. */
const ECHOED = {
  tool_choice: 'auto',
  parallel_tool_calls: true,
  temperature: null,
  top_p: null,
  presence_penalty: null,
  frequency_penalty: null,
  metadata: {},
  max_output_tokens: null,
  max_tool_calls: null,
  top_logprobs: null,
  truncation: 'disabled',
  background: false,
  previous_response_id: null,
  safety_identifier: null,
  user: null,
  prompt_cache_key: null,
} as const satisfies JsonObject;
/** The same, left out where the caller did not write them. */
const ECHOED_IF_GIVEN = ['prompt_cache_options'] as const;

export interface ResponseState {
  readonly identity: ResponseIdentity;
  readonly output: readonly JsonObject[];
  /** Absent: it is under way. */
  readonly ended?: {
    readonly outcome: Outcome;
    readonly finalUsage: FinalUsage | undefined;
    /** Unix seconds. */
    readonly atS: number;
  };
  /** The instructions and the tools stand in it, which may be 100 KB. */
  readonly showsPrompt: boolean;
}

/** `gen-...` without its prefix and dashes: one id is found from the other. */
export function responseIdOf(generationId: string): string {
  return `resp_${generationId.replace(/^gen-/, '').replaceAll('-', '')}`;
}

const RESPONSE_ID = /^resp_(\d{13})([A-Za-z0-9]{20})$/;

/** `undefined` for an id that no response of the gateway has. */
export function generationIdOf(responseId: string): string | undefined {
  const [, ms, random] = RESPONSE_ID.exec(responseId) ?? [];
  return ms === undefined || random === undefined ? undefined : `gen-${ms}-${random}`;
}

/** A response as one object: a whole response, and what the events of a stream hold that begin and end it. */
export function encodeResponse({ identity, output, ended, showsPrompt }: ResponseState): JsonObject {
  const { request, provider } = identity;
  const echo = request?.response?.echo ?? {};
  const { outcome, finalUsage } = ended ?? {};
  const failure = outcome?.status === 'failed' ? outcome.failure : undefined;
  const isFinal = outcome?.status === 'completed' || outcome?.status === 'incomplete';
  const tier = finalUsage?.usage.serviceTier;
  return {
    id: responseIdOf(identity.id),
    object: 'response',
    created_at: identity.createdS,
    completed_at: isFinal ? (ended?.atS ?? null) : null,
    status: outcome?.status ?? 'in_progress',
    error: failure === undefined ? null : encodeFailure(failure),
    incomplete_details: outcome?.status === 'incomplete' ? { reason: outcome.reason } : null,
    model: identity.model,
    ...(provider !== undefined && (ended !== undefined || identity.nextEvent !== undefined) && { provider }),
    output,
    usage: finalUsage === undefined || (!isFinal && !isCounted(finalUsage)) ? null : encodeUsage(finalUsage),
    instructions: (showsPrompt ? echo['instructions'] : null) ?? null,
    tools: (showsPrompt ? echo['tools'] : null) ?? [],
    ...encodeEcho(echo),
    service_tier: tier === undefined ? null : gatewayTier(tier),
    store: ended === undefined ? isToBeKept(identity) : finalUsage?.isStored === true,
    ...(failure !== undefined && { error_type: failure.type }),
    ...(finalUsage?.serviceMetadata !== undefined && { service_metadata: finalUsage.serviceMetadata }),
  };
}

function isToBeKept({ isKept, request }: ResponseIdentity): boolean {
  return isKept === true && request?.response?.store !== false;
}

function encodeEcho(echo: JsonObject): JsonObject {
  const given: Record<string, Json> = {};
  for (const member of ECHOED_IF_GIVEN) {
    const value = echo[member];
    if (value !== undefined && value !== null) given[member] = value;
  }
  return {
    ...Object.fromEntries(Object.entries(ECHOED).map(([member, absent]) => [member, echo[member] ?? absent])),
    reasoning: encodeReasoning(echo['reasoning']),
    text: { format: { type: 'text' }, ...(isJsonObject(echo['text']) && withoutNulls(echo['text'])) },
    ...given,
  };
}

function encodeReasoning(asked: Json | undefined): JsonObject {
  const { effort, summary, context, mode } = isJsonObject(asked) ? asked : {};
  return { effort: effort ?? null, summary: summary ?? null, ...withoutNulls({ context, mode }) };
}

function withoutNulls(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}

/** All texts of a response joined, as the vendor's SDK gives them. */
export function outputTextOf(output: readonly JsonObject[]): string {
  return output
    .flatMap(({ type, content }) => (type === 'message' ? objectsOf(content) : []))
    .map(({ type, text }) => (type === 'output_text' ? (textOf(text) ?? '') : ''))
    .join('');
}

/** Whether the caller wants log probabilities, for which asking for any is enough in this format. */
export function wantsLogprobs(request: GenerationRequest | undefined): boolean {
  const { logprobs, topLogprobs = 0 } = request?.settings ?? {};
  return (
    logprobs === true || topLogprobs > 0 || request?.response?.include.has('message.output_text.logprobs') === true
  );
}
