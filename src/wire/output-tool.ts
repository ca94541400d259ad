import type { Tool } from '../canonical/request.ts';
import type { JsonObject } from '../lib/json.ts';

/** A tool that is never run: its input is the response, and its schema is the requested one. */
export interface OutputTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  /** The model has to call a tool. Not where it thinks and must not be kept from it. */
  readonly forced: boolean;
}

const NAME = 'json';
const DESCRIPTION = 'Gives your whole response. Call it once, and write no text beside it.';
/** Keywords at the root of a schema that the input of a tool may not have there: vendor docs, "Tool use", read 2026-11. */
const BEYOND_TOOLS = ['oneOf', 'anyOf', 'allOf', '$ref'] as const;

/** Whether the schema can be that of a call's input, which is always an object. */
export function fitsOutputTool(schema: JsonObject): boolean {
  const { type } = schema;
  return (type === undefined || type === 'object') && !BEYOND_TOOLS.some((keyword) => schema[keyword] !== undefined);
}

/** @param beside the caller's tools, one of which may have the name. @spec translate-22 */
export function makeOutputTool(
  schema: JsonObject,
  description: string | undefined,
  forced: boolean,
  beside: readonly Tool[],
): OutputTool {
  return {
    name: freeName(beside),
    description: description === undefined ? DESCRIPTION : `${DESCRIPTION} ${description}`,
    schema,
    forced,
  };
}

/** The instruction for a model that is not forced to call the tool. */
export function outputToolInstruction({ name }: OutputTool): string {
  return `Give your response by a call of the tool "${name}", not as text.`;
}

function freeName(tools: readonly Tool[]): string {
  const taken = new Set(tools.map((tool) => (tool.type === 'opaque' ? tool.value['name'] : tool.name)));
  let name = NAME;
  for (let number = 2; taken.has(name); number++) name = `${NAME}_${number}`;
  return name;
}
