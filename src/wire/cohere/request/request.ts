import type { Block } from '../../../canonical/blocks.ts';
import type { Extra } from '../../../canonical/extra.ts';
import type { GenerationRequest } from '../../../canonical/request.ts';
import type { Json } from '../../../lib/json.ts';
import { warnOfDroppedFields, type SupportedFields } from '../../dropped-fields.ts';
import type { EncodedRequest, EncodeTarget } from '../../format.ts';
import type { PlansIn } from './assistant-messages.ts';
import type { CitedDocuments } from './content.ts';
import { CACHE_BREAKPOINTS } from './cache-control.ts';
import { createEncodeContext, type EncodeContext } from './encode-context.ts';
import { encodeMessages } from './messages.ts';
import { encodeTools } from './tools.ts';
import { encodeOutputFormat } from './output-format.ts';
import { encodeSampling } from './sampling.ts';
import { planThinking, type ThinkingPlan } from './thinking.ts';
import { withoutAbsent } from '../../json-fields.ts';

type Members = Record<string, Json | undefined>;

/** The vendor caches by itself. @spec prompt-cache-5 */
const TAKES: SupportedFields = { format: 'cohere', cacheBreakpoints: CACHE_BREAKPOINTS };

/** Members of the format that callers may send beside their own format's. @spec request-10 */
const VENDOR_MEMBERS: ReadonlySet<string> = new Set([
  'documents',
  'citation_options',
  'strict_tools',
  'safety_mode',
  'priority',
]);

/** @source docs.cohere.com "Chat", read 2026-11; @spec translate-1 */
export function encodeRequest(request: GenerationRequest, target: EncodeTarget): EncodedRequest {
  const context = createEncodeContext(request, target);
  const own = keepVendorMembers(context);
  const { tools, toolChoice, strict, instruction: ban, names } = encodeTools(context);
  const given = Array.isArray(own['documents']) ? own['documents'] : [];
  const output = encodeOutputFormat(tools.length > 0 || given.length > 0, context);
  const plan = planThinking(context);
  const documents: CitedDocuments = { list: [], blocks: new Set() };
  const messages = encodeMessages(
    {
      plansIn: plansIn(target, plan),
      instructions: [ban, output.instruction].filter((sentence) => sentence !== undefined),
      documents: output.format === undefined && given.length === 0 ? documents : undefined,
    },
    context,
  );
  const members: Members = {
    model: target.model,
    messages,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: toolChoice,
    strict_tools: strict ? true : undefined,
    documents: documents.list.length > 0 ? documents.list : undefined,
    response_format: output.format,
    thinking: plan.thinking,
    max_tokens: plan.maxTokens,
    ...encodeSampling(context),
    ...own,
    stream: request.delivery === 'stream' ? true : undefined,
  };
  if (tools.length > 0 || members['documents'] !== undefined) dropSafetyMode(members, context);
  warnOfDroppedFields(withoutConsumedFields(request, own, documents.blocks), TAKES, context.warnings);
  return {
    body: withoutAbsent(members),
    headers: {},
    warnings: context.warnings.list,
    ...(names.size > 0 && { toolNames: names }),
  };
}

/** Thinking of earlier turns goes back only while the model may think. */
function plansIn({ dialect }: EncodeTarget, { thinking }: ThinkingPlan): PlansIn {
  return dialect.plansIn === 'thinking' && thinking?.['type'] === 'disabled' ? undefined : dialect.plansIn;
}

/** The unknown members of the body that are members of this format and that the endpoint accepts. @spec request-11 */
function keepVendorMembers({ request, target }: EncodeContext): Members {
  const kept: Members = {};
  for (const [member, value] of Object.entries(request.extra?.fields ?? {})) {
    const listed = target.supportedParameters?.has(member) !== false;
    if (VENDOR_MEMBERS.has(member) && listed) kept[member] = value;
  }
  return kept;
}

/** The request without the passthrough fields that the encoder uses: those are not lost. */
function withoutConsumedFields(request: GenerationRequest, own: Members, cited: ReadonlySet<Block>): GenerationRequest {
  const strip = (block: Block): Block =>
    cited.has(block) ? { ...block, ...leaveOut(block.extra, (member) => member === 'citations') } : block;
  return {
    ...request,
    ...leaveOut(request.extra, (member) => Object.hasOwn(own, member)),
    turns:
      cited.size === 0 ? request.turns : request.turns.map((turn) => ({ ...turn, blocks: turn.blocks.map(strip) })),
  };
}

function leaveOut(extra: Extra | undefined, isConsumed: (member: string) => boolean): { readonly extra?: Extra } {
  if (extra === undefined) return {};
  const fields = Object.fromEntries(Object.entries(extra.fields).filter(([member]) => !isConsumed(member)));
  return { extra: { ...extra, fields } };
}

/** "Safety modes are not yet configurable in combination with tools and documents": docs.cohere.com, read 2026-11. */
function dropSafetyMode(members: Members, { warnings }: EncodeContext): void {
  if (members['safety_mode'] === undefined) return;
  delete members['safety_mode'];
  warnings.add('field-dropped', 'safety_mode', 'cannot stand beside tools or documents in this format');
}
