import type { FunctionTool } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { objectAt, textOf } from '../../json-fields.ts';

/** A grammar is only a hint to a model that is not held to it: more of it is not worth its tokens. */
const GRAMMAR_BYTES_MAX = 16 * 1_024;
/** Says so to the caller. */
export const CUT_GRAMMAR = 'too long for a description: its beginning is sent instead';
const PARAMETERS: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};

/** The function that stands for a tool where only functions are known. */
export interface ToolFunction extends Pick<FunctionTool, 'description' | 'parameters'> {
  /** The model gets only the beginning of the tool's grammar. */
  readonly isCut: boolean;
}

/** The function that stands for a tool whose input is a text. @param declared its entry, as the responses format has it */
export function describeCustomTool(declared: JsonObject): ToolFunction {
  const { type, syntax, definition } = objectAt(declared, 'format');
  const grammar = type === 'grammar' ? Buffer.from(textOf(definition) ?? '') : undefined;
  const isCut = grammar !== undefined && grammar.length > GRAMMAR_BYTES_MAX;
  const lines = [
    textOf(declared['description']) ?? '',
    'The whole text for this tool goes into `input`.',
    // A character that the cut has halved is left out.
    grammar === undefined
      ? ''
      : `It must match this ${textOf(syntax) ?? ''} grammar:\n${grammar
          .subarray(0, GRAMMAR_BYTES_MAX)
          .toString('utf8')
          .replace(/\uFFFD$/, '')}`,
  ];
  return { description: lines.filter((line) => line !== '').join('\n\n'), parameters: PARAMETERS, isCut };
}
