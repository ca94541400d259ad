import type { GenerationRequest, ResponseFormat } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { EncodeTarget } from '../format.ts';
import type { Warnings } from '../gateway/warnings.ts';
import { addExtra } from './wire-object.ts';
import type { WireObject } from './wire-object.ts';

/** How the wanted form of the answer is asked for. */
export interface OutputFormat {
  /** `output_config.format`. */
  readonly format?: WireObject;
  /** A sentence for the end of the system prompt. */
  readonly instruction?: string;
}

const JSON_INSTRUCTION = 'Answer with one JSON object and nothing else: no prose around it, no code fence.';

/**
 * Models without structured output are asked in words, and the record says so. A forced tool would bind them harder, but
 * its input would have to be turned back into text by a decoder that knows the request, and it forbids thinking.
 * @source generation.md 2.3, 11.6
 */
export function encodeOutputFormat(
  request: GenerationRequest,
  target: EncodeTarget,
  supports: (parameter: string) => boolean,
  warnings: Warnings,
): OutputFormat {
  const wanted = request.settings.responseFormat;
  if (wanted === undefined || wanted.type === 'text') return {};
  if (wanted.type === 'grammar' || wanted.type === 'python') {
    warnings.add('field-dropped', 'response_format', `${wanted.type} cannot be said in this format`);
    return {};
  }
  if (!supports('response_format')) {
    warnings.add('field-dropped', 'response_format', 'the endpoint does not take it');
    return {};
  }
  const { schema } = wanted.type === 'json_schema' ? wanted : {};
  if (schema !== undefined && (request.format === 'messages' || target.dialect.structuredOutput === true))
    return { format: addExtra({ type: 'json_schema', schema }, extraOf(wanted)) };
  if (wanted.type === 'json_schema')
    warnings.add('field-changed', 'response_format', 'the model is asked for it in words, which do not bind it');
  return { instruction: schema === undefined ? JSON_INSTRUCTION : schemaInstruction(wanted, schema) };
}

function extraOf(wanted: ResponseFormat) {
  return wanted.type === 'json_schema' ? wanted.extra : undefined;
}

function schemaInstruction(wanted: ResponseFormat, schema: JsonObject): string {
  const description =
    wanted.type === 'json_schema' && wanted.description !== undefined ? ` (${wanted.description})` : '';
  return `${JSON_INSTRUCTION} It must be valid for this JSON Schema${description}:\n${JSON.stringify(schema)}`;
}
