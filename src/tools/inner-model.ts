import { z } from 'zod';
import { invalid } from '../canonical/gateway-error.ts';
import type { NestedInput } from '../canonical/tools/nested-generation.ts';
import { EFFORTS, type GenerationRequest, type ServerTool, type Settings } from '../canonical/request.ts';
import { functionNameOf } from '../canonical/tools/server-call.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import type { ToolContext } from './contract.ts';

/** What tools that call a model have in common: advisor and subagent. */

const NAME_CHARS_MAX = 64;
const INSTRUCTIONS_CHARS_MAX = 100_000;
const NESTED_TOOLS_MAX = 16;
/** @spec tool-33 */
const NESTED_CALLS_MAX = 25;

const nestedTool = z
  .strictObject({ type: z.string(), parameters: z.custom<JsonObject>(isJsonObject, 'must be an object').nullish() })
  .refine(({ type }) => type.startsWith('service:'), { path: ['type'], error: 'must be a server tool, "service:..."' });

/** Parameters of tools that call a model. @spec tool-33 */
export const NESTED_MODEL_SHAPE = {
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
  tools: z.array(nestedTool).max(NESTED_TOOLS_MAX).nullish(),
  max_tool_calls: z.int().min(1).max(NESTED_CALLS_MAX).nullish(),
};
const nestedModel = z.object(NESTED_MODEL_SHAPE);
/** A caller's settings for the model that a tool calls. */
export type NestedModel = z.output<typeof nestedModel>;

/** The input of the nested model, except for its prompt. */
export function inputOf(requested: NestedModel): Pick<NestedInput, 'settings' | 'tools' | 'maxToolCalls'> {
  const { max_completion_tokens: maxTokens, temperature, reasoning, max_tool_calls: calls } = requested;
  const { effort, max_tokens: thoughtTokens } = reasoning ?? {};
  const settings: Settings = {
    ...(isSet(maxTokens) && { maxTokens }),
    ...(isSet(temperature) && { temperature }),
    ...((isSet(effort) || isSet(thoughtTokens)) && {
      reasoning: { ...(isSet(effort) && { effort }), ...(isSet(thoughtTokens) && { maxTokens: thoughtTokens }) },
    }),
  };
  return { settings, tools: nestedToolsOf(requested), maxToolCalls: calls ?? NESTED_CALLS_MAX };
}

export function nestedToolsOf({ tools }: Pick<NestedModel, 'tools'>): readonly ServerTool[] {
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
 * Entries of one type need distinct names, except for one, and none may call itself.
 * @throws GatewayError 400
 * @spec tool-33
 */
export function checkNestedModels(
  type: string,
  entries: readonly { readonly path: string; readonly parameters: NestedModel }[],
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
