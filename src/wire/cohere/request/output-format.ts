import type { ResponseFormat } from '../../../canonical/request.ts';
import { parameterOfFormat } from '../../../canonical/supports-parameter.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { JSON_INSTRUCTION, schemaInstruction } from '../../gateway/json-instruction.ts';
import type { EncodeContext } from './encode-context.ts';

/** How the response format is requested. */
export interface OutputFormat {
  readonly format?: JsonObject;
  /** A sentence for the system prompt. */
  readonly instruction?: string;
}

/**
 * Beside tools or documents the upstream refuses it, so that an instruction requests it there. The schema stands bare,
 * and must describe an object.
 * @source docs.cohere.com "Structured Outputs", read 2026-11; types of the vendor's SDK `ResponseFormatV2`
 */
export function encodeOutputFormat(crowded: boolean, { request, warnings, supports }: EncodeContext): OutputFormat {
  const wanted = request.settings.responseFormat;
  if (wanted === undefined || wanted.type === 'text') return {};
  if (wanted.type === 'grammar' || wanted.type === 'python') {
    warnings.add('field-dropped', 'response_format', `${wanted.type} is not supported in this format`);
    return {};
  }
  if (!supports(parameterOfFormat(wanted) ?? 'response_format')) {
    warnings.add('field-dropped', 'response_format', 'the endpoint does not take it');
    return {};
  }
  const schema = wanted.type === 'json_schema' ? wanted.schema : undefined;
  const isExpressible = schema === undefined || schema['type'] === 'object';
  if (!crowded && isExpressible)
    return { format: { type: 'json_object', ...(schema !== undefined && { json_schema: schema }) } };
  warnings.add('field-changed', 'response_format', 'the format is put into the prompt, which does not bind it');
  return { instruction: schema === undefined ? JSON_INSTRUCTION : instructionFor(wanted, schema) };
}

function instructionFor(wanted: ResponseFormat, schema: JsonObject): string {
  const words = schemaInstruction(schema, wanted.type === 'json_schema' ? wanted.description : undefined);
  return schema['type'] === 'object' ? words : words.replace('JSON object', 'JSON value');
}
