import type { Block } from '../../canonical/blocks.ts';
import type { EventBatch } from '../../canonical/events.ts';
import type { Tool } from '../../canonical/request.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../../lib/json.ts';
import { fitsSchema } from '../../lib/json/fits-schema.ts';

/** Listens to one answer, and says whether its tool calls can be used. @spec route-24 */
export interface ToolCheck {
  push(batch: EventBatch): void;
  /** `undefined`: no function of the caller's was called. */
  verdict(): 'valid' | 'broken' | undefined;
}

/** Together; a call longer than this is not judged. */
const INPUT_CHARS_MAX = 256 * 1_024;
const CALLS_MAX = 128;

export function createToolCheck(tools: readonly Tool[]): ToolCheck {
  const calls = new Map<number, { readonly name: string; input: string }>();
  let chars = 0;

  function open(index: number, block: Block): void {
    if (block.type === 'tool-call' && block.runBy === 'caller' && calls.size < CALLS_MAX)
      calls.set(index, { name: block.name, input: block.input });
  }

  return {
    push(batch) {
      for (const event of batch) {
        if (event.type === 'block-start') open(event.index, event.block);
        else if (event.type === 'block-delta' && calls.size > 0 && event.text !== undefined) {
          const call = calls.get(event.index);
          if (call === undefined) continue;
          chars += event.text.length;
          if (chars <= INPUT_CHARS_MAX) call.input += event.text;
        }
      }
    },
    verdict() {
      if (calls.size === 0 || chars > INPUT_CHARS_MAX) return undefined;
      const schemas = new Map<string, JsonObject | undefined>();
      for (const tool of tools) if (tool.type === 'function') schemas.set(tool.name, tool.parameters);
      // The arguments of a vendor's own tools are unknown here.
      const known = [...calls.values()].filter(({ name }) => schemas.has(name) || schemas.size === tools.length);
      if (known.length === 0) return undefined;
      const isValid = known.every(({ name, input }) => schemas.has(name) && isValidInput(input, schemas.get(name)));
      return isValid ? 'valid' : 'broken';
    },
  };
}

function isValidInput(input: string, schema: JsonObject | undefined): boolean {
  const value: Json | undefined = input.trim() === '' ? {} : parseJson(input);
  return isJsonObject(value) && (schema === undefined || fitsSchema(value, schema));
}
