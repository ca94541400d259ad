import type { Block } from '../../../canonical/blocks.ts';
import type { GenerationRequest } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { warnOfDroppedFields } from '../../dropped-fields.ts';
import type { EncodedRequest, EncodeTarget } from '../../format.ts';
import { encodeContents } from './messages.ts';
import { signatureOnCall } from '../call-signatures.ts';
import { CACHE_BREAKPOINTS } from './cache-control.ts';
import { createEncodeContext, type EncodeContext } from './encode-context.ts';
import { cappedMaxTokens, encodeGenerationConfig } from './sampling.ts';
import { encodeOutputFormat } from './output-format.ts';
import { planThinking } from './thinking.ts';
import { encodeTools } from './tools.ts';

/** Vertex names the tier in a header: vercel/ai, google-language-model.ts (2026-08), and its "Priority PayGo" page. */
const TIER_HEADER = 'x-vertex-ai-llm-shared-request-type';

/** The vendor's names of callers' tiers; `auto` is not sent. ai.google.dev "Optimization", read 2026-11 */
const TIERS: ReadonlyMap<string, string> = new Map([
  ['default', 'standard'],
  ['standard', 'standard'],
  ['standard_only', 'standard'],
  ['flex', 'flex'],
  ['priority', 'priority'],
]);

/**
 * The vendor keeps prefixes by itself, so that cache breakpoints have no effect.
 * @throws GatewayError 400 when a result answers no call
 * @spec translate-1, prompt-cache-5
 */
export function encodeRequest(request: GenerationRequest, target: EncodeTarget): EncodedRequest {
  const context = createEncodeContext(request, target);
  const tools = encodeTools(context);
  const output = encodeOutputFormat(tools.offered, context);
  const thinking = planThinking(cappedMaxTokens(context), context);
  const generationConfig = encodeGenerationConfig(thinking, output.config, context);
  const tier = tierOf(context);
  const { tierIn } = context.facts;
  const body: JsonObject = {
    ...encodeContents(output.instruction, context),
    ...tools.members,
    ...(generationConfig !== undefined && { generationConfig }),
    ...(tier !== undefined && tierIn === 'body' && { serviceTier: tier }),
  };
  warnOfDroppedFields(
    withoutConsumedFields(request),
    { format: 'gemini', cacheBreakpoints: CACHE_BREAKPOINTS },
    context.warnings,
  );
  // The standard tier is what comes without the header.
  const tierHeader = tierIn === 'header' && tier !== undefined && tier !== 'standard';
  return {
    body,
    headers: tierHeader ? { [TIER_HEADER]: tier } : {},
    warnings: context.warnings.list,
    ...(tools.names.size > 0 && { toolNames: tools.names }),
  };
}

function tierOf({ request, facts, warn }: EncodeContext): string | undefined {
  const requested = request.settings.serviceTier;
  if (requested === undefined || requested === 'auto') return undefined;
  const tier = facts.tierIn === undefined ? undefined : TIERS.get(requested);
  if (tier === undefined) warn('field-dropped', 'service_tier', 'is not a tier of this provider');
  return tier;
}

/** The request without the signatures on its calls: the encoder uses these passthrough fields, so they are not lost. */
function withoutConsumedFields(request: GenerationRequest): GenerationRequest {
  const isConsumed = (block: Block): boolean => block.type === 'tool-call' && signatureOnCall(block) !== undefined;
  if (!request.turns.some(({ blocks }) => blocks.some(isConsumed))) return request;
  const strip = (block: Block): Block => {
    if (!isConsumed(block) || block.extra === undefined) return block;
    const { extra_content: _signature, ...fields } = block.extra.fields;
    return { ...block, extra: { ...block.extra, fields } };
  };
  return { ...request, turns: request.turns.map((turn) => ({ ...turn, blocks: turn.blocks.map(strip) })) };
}
