import type { GenerationRequest } from '../../canonical/request.ts';
import { fitsSchema } from '../../lib/json/fits-schema.ts';
import { isJsonObject, parseJson } from '../../lib/json.ts';
import type { Plugin } from '../contract.ts';
import type { WantedKind } from './heal-json.ts';
import { Healer, type Healing } from './healer.ts';
import { responseHealingOptions } from './options.ts';

type ResponseFormat = NonNullable<GenerationRequest['settings']['responseFormat']>;
type JsonFormat = Extract<ResponseFormat, { type: 'json_schema' }> | { readonly type: 'json_object' };

/** Makes JSON of answers that were to be JSON and are not quite. @spec plugin-16 */
export const responseHealing: Plugin<typeof responseHealingOptions> = {
  id: 'response-healing',
  summary: 'Repairs JSON that a model wrote wrong, and drops what stands around it.',
  options: responseHealingOptions,
  transformEvents({ delivery, settings: { responseFormat } }, { stream = false }, context) {
    const streams = delivery === 'stream';
    if (responseFormat === undefined || !isJsonFormat(responseFormat) || (streams && !stream)) return undefined;
    const healer = new Healer({
      wanted: wantedKind(responseFormat),
      streams,
      onHealed: (healing) => context.note(stageOf(healing, responseFormat)),
    });
    return (events) => healer.push(events);
  },
};

function isJsonFormat(format: ResponseFormat): format is JsonFormat {
  return format.type === 'json_object' || format.type === 'json_schema';
}

function wantedKind(format: JsonFormat): WantedKind {
  const type = format.type === 'json_schema' ? format.schema?.['type'] : undefined;
  return type === 'object' || type === 'array' ? type : undefined;
}

function stageOf({ original, healed, improved }: Healing, format: JsonFormat) {
  const value = improved ? parseJson(healed) : undefined;
  const schema = format.type === 'json_schema' ? format.schema : undefined;
  return {
    type: 'response_healing',
    name: 'response-healing',
    summary: improved ? 'Made JSON of a response that was none' : 'No JSON could be made of the response',
    data: {
      mode: format.type,
      improved,
      original_length: original.length,
      healed_length: healed.length,
      // Reported and not enforced: a value that parses is better than none.
      ...(value !== undefined && isJsonObject(schema) && { schema_valid: fitsSchema(value, schema) }),
    },
  };
}
