import type { z } from 'zod';
import type { ToolCallBlock } from '../../../canonical/blocks.ts';
import type { Warning } from '../../../canonical/extra.ts';
import type { FunctionTool, Tool } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { wrapCustomInput } from '../../gateway/custom-tools/custom-input.ts';
import { CUT_GRAMMAR, describeCustomTool } from '../../gateway/custom-tools/custom-tools.ts';
import { objectOf, textOf } from '../../json-fields.ts';
import { asExtra, nestRest, restOf } from '../../extra.ts';
import { ephemeralBreakpoint, nestCacheControlRest } from './cache-control.ts';
import type { ChatCustomCall } from './message-schema.ts';
import { customShape, type ChatCustomTool } from './tool-schema.ts';

const CALL_MEMBERS: ReadonlySet<string> = new Set(['id', 'type', 'custom']);
const INPUT_MEMBERS: ReadonlySet<string> = new Set(['name', 'input']);

/**
 * A tool whose input is a text. Upstreams of this format get the function that stands for it, those that know such tools
 * its entry in their spelling.
 */
export function decodeCustomTool(tool: ChatCustomTool): FunctionTool {
  const { name, description, format } = tool.custom ?? customShape.parse(tool);
  const declared: JsonObject = {
    type: 'custom',
    name,
    ...(typeof description === 'string' && { description }),
    ...(format && { format: flatFormat(format) }),
  };
  const { isCut: _warned, ...shape } = describeCustomTool(declared);
  return {
    type: 'function',
    name,
    ...shape,
    kind: 'custom',
    declared,
    ...(tool.cache_control && { cache: ephemeralBreakpoint(tool.cache_control) }),
    ...asExtra('chat', nestCacheControlRest(undefined, tool.cache_control)),
  };
}

function flatFormat(format: NonNullable<z.output<typeof customShape>['format']>): JsonObject {
  if (format.type === 'text') return { type: 'text' };
  const { syntax, definition } = { ...format, ...objectOf(format['grammar']) };
  return { type: 'grammar', syntax: textOf(syntax) ?? '', definition: textOf(definition) ?? '' };
}

/** Of grammars that are too long for a description. */
export function warnOfCutGrammars(tools: readonly Tool[]): readonly Warning[] {
  return tools.flatMap((tool, at): readonly Warning[] => {
    if (tool.type !== 'function' || tool.kind !== 'custom' || !describeCustomTool(tool.declared ?? {}).isCut) return [];
    return [{ code: 'field-changed', path: `tools[${at}]`, message: CUT_GRAMMAR }];
  });
}

export function decodeCustomCall(call: ChatCustomCall): ToolCallBlock {
  const { name, input } = call.custom;
  return {
    type: 'tool-call',
    id: call.id,
    name,
    input: wrapCustomInput(input),
    runBy: 'caller',
    kind: 'custom',
    ...asExtra('chat', nestRest(restOf(call, CALL_MEMBERS), 'custom', restOf(call.custom, INPUT_MEMBERS))),
  };
}
