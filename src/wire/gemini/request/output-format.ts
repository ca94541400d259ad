import type { ResponseFormat } from '../../../canonical/request.ts';
import { parameterOfFormat } from '../../../canonical/supports-parameter.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { JSON_INSTRUCTION, schemaInstruction } from '../../gateway/json-instruction.ts';
import type { EncodeContext } from './encode-context.ts';
import { prepareJsonSchema } from './json-schema.ts';
import { lowerSchema } from './schema-lowering.ts';

/** How the response format is requested. */
export interface OutputFormat {
  /** Members of `generationConfig`. */
  readonly config: JsonObject;
  /** A sentence for the end of the instructions. */
  readonly instruction?: string;
}

const JSON_TYPE = 'application/json';

/**
 * @param besideTools functions are offered, which some models refuse together with JSON mode: those get an instruction
 *   instead, with a warning
 * @spec chat-36, translate-22
 */
export function encodeOutputFormat(besideTools: boolean, context: EncodeContext): OutputFormat {
  const wanted = context.request.settings.responseFormat;
  if (wanted === undefined || wanted.type === 'text') return { config: {} };
  if (wanted.type === 'grammar' || wanted.type === 'python') {
    context.warn('field-dropped', 'response_format', `${wanted.type} is not supported in this format`);
    return { config: {} };
  }
  if (!context.supports(parameterOfFormat(wanted) ?? 'response_format')) {
    context.warn('field-dropped', 'response_format', 'the endpoint does not take it');
    return { config: {} };
  }
  const schema = wanted.type === 'json_schema' ? wanted.schema : undefined;
  const refused = context.facts.refusesJson === true;
  if (refused || (besideTools && context.facts.jsonBesideTools !== true)) {
    const where = refused ? '' : 'beside tools ';
    context.warn('field-changed', 'response_format', `${where}the format is put into the prompt, which does not bind`);
    return {
      config: {},
      instruction: schema === undefined ? JSON_INSTRUCTION : schemaInstruction(schema, descriptionOf(wanted)),
    };
  }
  if (schema === undefined) return { config: { responseMimeType: JSON_TYPE } };
  return {
    config: {
      responseMimeType: JSON_TYPE,
      ...(context.facts.jsonSchema === true
        ? { responseJsonSchema: prepareJsonSchema(schema) }
        : { responseSchema: lowerSchema(schema) }),
    },
  };
}

function descriptionOf(wanted: ResponseFormat): string | undefined {
  return wanted.type === 'json_schema' ? wanted.description : undefined;
}
