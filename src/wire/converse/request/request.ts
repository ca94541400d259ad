import type { GenerationRequest } from '../../../canonical/request.ts';
import { filterFlags, NO_BETA_RULES } from '../../beta-flags.ts';
import { warnOfDroppedFields } from '../../dropped-fields.ts';
import type { EncodedRequest, EncodeTarget } from '../../format.ts';
import { createWarnings } from '../../gateway/warnings.ts';
import { objectsOf, type WireObject } from '../../json-fields.ts';
import { encodeWithCachePoints } from './cache-control.ts';
import { createEncodeContext, isToolResult, type EncodeContext, type Message, type Piece } from './encode-context.ts';
import { encodeTools, type EncodedTools } from './tools.ts';
import { encodeTurns, type EncodedTurns } from './messages.ts';
import { withoutConsumedFields } from './document-citations.ts';
import { encodeOutputFormat } from './output-format.ts';
import { planReasoning } from './thinking.ts';
import { encodeSampling, encodeServiceTier } from './sampling.ts';
import { warnOfUnsupportedSettings } from '../../unsupported-settings.ts';
import { STOP_SEQUENCE_PATHS } from '../response/finish-reason.ts';

/**
 * @throws GatewayError 400 when nothing is left that could be sent, or a result answers no call
 * @source AWS SDK `ConverseRequest`, 3.1162 (2026-11); @spec translate-1
 */
export function encodeRequest(request: GenerationRequest, target: EncodeTarget): EncodedRequest {
  const warnings = createWarnings();
  const context = createEncodeContext(request, target, warnings);
  const { facts } = context;
  const turns = encodeTurns(context);
  const output = encodeOutputFormat(turns.messages, context);
  const tools = encodeTools(turns.messages, output.outputTool, context);
  const plan = planReasoning(turns.messages, isForced(tools), context);
  const sampling = encodeSampling(plan, context);
  const banned = tools.ban !== undefined && mayFollow(turns.messages, context);
  const words = [banned ? undefined : tools.ban, tools.instruction, output.instruction];
  const instructions = words.filter((text) => text !== undefined);
  const encoded = encodeWithCachePoints(
    { tools: tools.tools, ...withInstructions(turns, instructions, context) },
    context,
  );
  const parts = banned ? { ...encoded, messages: encodeLast(encoded.messages, tools.ban ?? '') } : encoded;
  warnOfUnsupportedSettings(request.settings, context.warnings);
  if (request.settings.nativeWebSearch !== undefined)
    context.warnings.add('field-dropped', 'plugins', 'web: the endpoint has no search of its own');
  const cacheBreakpoints = facts.cachePoints === undefined ? 'none' : 'all';
  const reasoning = facts.claude === true ? (['display'] as const) : [];
  const takes = { format: 'converse', cacheBreakpoints, reasoning, betas: true } as const;
  warnOfDroppedFields(withoutConsumedFields(request, facts), takes, warnings);
  const toolConfig = { tools: parts.tools, ...(tools.toolChoice !== undefined && { toolChoice: tools.toolChoice }) };
  const fields = { ...plan.fields, ...sampling.fields, ...encodeClaudeFields(tools, context) };
  const needsStopSequence = facts.claude === true && sampling.inferenceConfig['stopSequences'] !== undefined;
  const body: WireObject = {
    ...(Object.keys(sampling.inferenceConfig).length > 0 && { inferenceConfig: sampling.inferenceConfig }),
    ...(Object.keys(fields).length > 0 && { additionalModelRequestFields: fields }),
    ...(needsStopSequence && { additionalModelResponseFieldPaths: STOP_SEQUENCE_PATHS }),
    ...(output.outputConfig !== undefined && { outputConfig: output.outputConfig }),
    ...encodeServiceTier(context),
    ...(parts.tools.length > 0 && { toolConfig }),
    ...(parts.system.length > 0 && { system: parts.system }),
    messages: parts.messages,
  };
  return {
    body,
    headers: {},
    warnings: warnings.list,
    ...(tools.names.size > 0 && { toolNames: tools.names }),
    ...(output.outputTool !== undefined && { outputTool: output.outputTool.name }),
  };
}

/** Whether the model has to call a tool, beside which some Claudes do not think. */
function isForced({ toolChoice, claudeChoice }: EncodedTools): boolean {
  return toolChoice !== undefined || (claudeChoice !== undefined && claudeChoice['type'] !== 'auto');
}

/** Whether a text may stand at the end of the conversation, behind every cache point. */
function mayFollow(messages: readonly Message[], { facts: { besideResults } }: EncodeContext): boolean {
  const last = messages.at(-1);
  if (last?.role !== 'user') return false;
  return besideResults?.includes('text') !== false || !last.pieces.some(isToolResult);
}

function encodeLast(messages: readonly WireObject[], text: string): readonly WireObject[] {
  const last = messages.at(-1);
  return last === undefined
    ? messages
    : messages.with(messages.length - 1, { ...last, content: [...objectsOf(last['content']), { text }] });
}

/** Last, so that the caller's own instructions stay a prefix that the cache knows. */
function withInstructions(
  { system, messages }: EncodedTurns,
  instructions: readonly string[],
  { facts }: EncodeContext,
): EncodedTurns {
  const added: readonly Piece[] = instructions.map((text) => ({ path: 'system', wire: { text } }));
  if (added.length === 0) return { system, messages };
  const [first, ...others] = messages;
  if (facts.refusesSystem !== true || first?.role !== 'user') return { system: [...system, ...added], messages };
  return { system, messages: [{ role: 'user', pieces: [...added, ...first.pieces] }, ...others] };
}

/** Members of the messages format that have no twin here. @spec request-11 */
function encodeClaudeFields(
  { claudeChoice }: EncodedTools,
  { request, target, facts, warnings }: EncodeContext,
): WireObject {
  const betas = filterFlags(request.directives.betas, target.betaRules ?? NO_BETA_RULES, warnings, facts.betas);
  return {
    ...(claudeChoice !== undefined && { tool_choice: claudeChoice }),
    ...(betas.length > 0 && { anthropic_beta: betas }),
  };
}
