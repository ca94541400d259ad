import type { ResponseFormat } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { JSON_INSTRUCTION, schemaInstruction } from '../../gateway/json-instruction.ts';
import { fitsOutputTool, makeOutputTool, outputToolInstruction, type OutputTool } from '../../output-tool.ts';
import type { EncodeContext, Message } from './encode-context.ts';
import { lowerSchema } from './schema-lowering.ts';

/** How the response format is requested: by one of the first two, by an instruction, or not at all. */
export interface OutputFormat {
  readonly outputConfig?: JsonObject;
  /** A tool whose input is the response. */
  readonly outputTool?: OutputTool;
  /** A sentence for the end of the system prompt. */
  readonly instruction?: string;
}

type SchemaFormat = Extract<ResponseFormat, { type: 'json_schema' }>;

/** @spec chat-36, translate-22; docs.aws.amazon.com "Get validated JSON results from models", read 2026-11 */
export function encodeOutputFormat(messages: readonly Message[], context: EncodeContext): OutputFormat {
  const { request, target, supports, warnings } = context;
  const wanted = request.settings.responseFormat;
  if (wanted === undefined || wanted.type === 'text') return {};
  if (wanted.type === 'grammar' || wanted.type === 'python') {
    warnings.add('field-dropped', 'response_format', `${wanted.type} is not supported in this format`);
    return {};
  }
  if (!supports('response_format')) {
    warnings.add('field-dropped', 'response_format', 'the endpoint does not take it');
    return {};
  }
  if (wanted.type !== 'json_schema' || wanted.schema === undefined) return { instruction: JSON_INSTRUCTION };
  if (target.dialect.structuredOutput === true) return encodeNative(wanted, wanted.schema, context);
  return encodeEmulated(wanted, wanted.schema, messages.at(-1)?.role === 'assistant', context);
}

function encodeNative({ name, description }: SchemaFormat, given: JsonObject, { warnings }: EncodeContext) {
  const { schema, dropped } = lowerSchema(given);
  if (dropped.size > 0)
    warnings.add('field-changed', 'response_format', `the model is not bound to ${[...dropped].join(', ')}`);
  const jsonSchema = {
    // The format wants the schema as text.
    schema: JSON.stringify(schema),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
  };
  return { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } };
}

/** A model without structured output is forced to call a tool; one that cannot be forced gets an instruction. */
function encodeEmulated(
  { description }: SchemaFormat,
  schema: JsonObject,
  endsWithAssistant: boolean,
  context: EncodeContext,
): OutputFormat {
  const { request, warnings } = context;
  const choice = request.settings.toolChoice?.type;
  if (choice === 'required' || choice === 'function') {
    warnings.add('field-dropped', 'response_format', 'the response has to be a call of one of the tools');
    return {};
  }
  // A beginning of the response would be a beginning of text.
  if (endsWithAssistant || !canForce(context) || !fitsOutputTool(schema)) {
    warnings.add('field-changed', 'response_format', 'the format is put into the prompt, which does not bind it');
    return { instruction: schemaInstruction(schema, description) };
  }
  const outputTool = makeOutputTool(schema, description, !keepsThinking(context), request.tools);
  return outputTool.forced ? { outputTool } : { outputTool, instruction: outputToolInstruction(outputTool) };
}

function canForce({ facts, supports }: EncodeContext): boolean {
  return supports('tools') && supports('tool_choice') && facts.refusesTools !== true && facts.forces?.length !== 0;
}

/** The thinking settings of a messages caller are not dropped in silence. @spec messages-24 */
function keepsThinking({ request, target }: EncodeContext): boolean {
  const { reasoning } = request.settings;
  if (request.format !== 'messages' || target.dialect.thinking === 'none') return false;
  return reasoning?.enabled === true || reasoning?.adaptive === true;
}
