import { z } from 'zod';
import { invalid } from '../canonical/gateway-error.ts';
import type { InnerQuestion } from '../canonical/inner-generation.ts';
import { EFFORTS, type GenerationRequest, type ServerTool, type Settings } from '../canonical/request.ts';
import { functionNameOf } from '../canonical/server-call.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import type { ToolContext } from './contract.ts';

/** What the tools have in common that ask a model: an advisor, a subagent. */

const NAME_CHARS_MAX = 64;
const INSTRUCTIONS_CHARS_MAX = 100_000;
const INNER_TOOLS_MAX = 16;
/** generation.md 5.2 item 5. */
const INNER_CALLS_MAX = 25;

const innerTool = z
  .strictObject({ type: z.string(), parameters: z.custom<JsonObject>(isJsonObject, 'must be an object').nullish() })
  .refine(({ type }) => type.startsWith('service:'), { path: ['type'], error: 'must be a server tool, "service:..."' });

/** Parameters of tools that ask a model. @source generation.md 5.9 */
export const INNER_MODEL_SHAPE = {
  name: z
    .string()
    .trim()
    .min(1)
    .max(NAME_CHARS_MAX)
    .regex(/^[a-zA-Z0-9 _-]*$/, 'must be letters, digits, spaces, "_" and "-"')
    .nullish(),
  model: z.string().min(1).nullish(),
  instructions: z.string().max(INSTRUCTIONS_CHARS_MAX).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  reasoning: z.strictObject({ effort: z.enum(EFFORTS).nullish(), max_tokens: z.int().min(1).nullish() }).nullish(),
  tools: z.array(innerTool).max(INNER_TOOLS_MAX).nullish(),
  max_tool_calls: z.int().min(1).max(INNER_CALLS_MAX).nullish(),
};
const innerModel = z.object(INNER_MODEL_SHAPE);
/** What a caller says of the model that a tool asks. */
export type InnerModel = z.output<typeof innerModel>;

/** How the model that a tool asks is asked, but for what it is asked. */
export function questionOf(asked: InnerModel): Pick<InnerQuestion, 'settings' | 'tools' | 'maxToolCalls'> {
  const { max_completion_tokens: maxTokens, temperature, reasoning, max_tool_calls: calls } = asked;
  const { effort, max_tokens: thoughtTokens } = reasoning ?? {};
  const settings: Settings = {
    ...(isSet(maxTokens) && { maxTokens }),
    ...(isSet(temperature) && { temperature }),
    ...((isSet(effort) || isSet(thoughtTokens)) && {
      reasoning: { ...(isSet(effort) && { effort }), ...(isSet(thoughtTokens) && { maxTokens: thoughtTokens }) },
    }),
  };
  return { settings, tools: innerToolsOf(asked), maxToolCalls: calls ?? INNER_CALLS_MAX };
}

export function innerToolsOf({ tools }: Pick<InnerModel, 'tools'>): readonly ServerTool[] {
  return (tools ?? []).map(({ type, parameters }) => ({
    type: 'server',
    name: type,
    ...(isSet(parameters) && { parameters }),
  }));
}

function isSet<Value>(value: Value): value is NonNullable<Value> {
  return value !== undefined && value !== null;
}

/**
 * Entries of one type are told apart by their names, one may have none, and none may call itself.
 * @throws GatewayError 400
 * @source generation.md 5.9
 */
export function checkInnerModels(
  type: string,
  entries: readonly { readonly path: string; readonly parameters: InnerModel }[],
): void {
  const seen = new Set<string | undefined>();
  for (const { path, parameters } of entries) {
    const name = parameters.name ?? undefined;
    if (seen.has(name))
      throw name === undefined
        ? invalid(path, `has no name, like an earlier ${type}: only one may be the default`)
        : invalid(`${path}.name`, `is the name of an earlier ${type}`);
    seen.add(name);
    const own = parameters.tools?.findIndex((tool) => tool.type === type) ?? -1;
    if (own >= 0) throw invalid(`${path}.tools[${own}].type`, 'is the tool itself, which cannot call itself');
  }
}

/** The function that stands for an entry, by which its earlier calls are found. */
export function functionOf(type: string, { request, index }: Pick<ToolContext, 'request' | 'index'>): string {
  const before = request.tools.slice(0, index).filter((tool) => tool.type === 'server' && tool.name === type);
  return functionNameOf(type, before.length);
}

/**
 * Counts calls over all entries of a type in one request.
 * @returns whether one more may run
 */
export function createCallCount(callsMax: number): (request: GenerationRequest) => boolean {
  const counts = new WeakMap<GenerationRequest, number>();
  return (request) => {
    const calls = counts.get(request) ?? 0;
    counts.set(request, calls + 1);
    return calls < callsMax;
  };
}
