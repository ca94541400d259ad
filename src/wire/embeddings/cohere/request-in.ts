import { z } from 'zod';
import { invalid } from '../../../canonical/gateway-error.ts';
import type { EmbeddingsInput } from '../../../canonical/media/embeddings-input.ts';
import type { EmbeddingsOperation } from '../../../canonical/operation.ts';
import type { Json } from '../../../lib/json.ts';
import { restOf } from '../../extra.ts';
import { decodeDirectives, GATEWAY_FIELDS, gatewayShape, modelOf, modelSlug } from '../../gateway/directives.ts';
import type { HeaderDirectives } from '../../gateway/headers.ts';
import { metadata } from '../../gateway/metadata.ts';
import { checkShape } from '../../gateway/validation/check-shape.ts';
import { refuseMembers } from '../../gateway/validation/refused-members.ts';
import { callersExtra, providerWithOptions, splitOptions } from '../../provider-options.ts';
import { readContent, readPicture, readText, withFewFiles } from '../content-in.ts';
import { dimensions, inputType, INPUTS_MAX, USER_CHARS_MAX } from '../request-in.ts';

const { session_id, trace } = gatewayShape({ plugin: z.never() });
/** The body of `POST /v2/embed`. Null is the same as absent. @source cohere-ai 8.1, `V2EmbedRequest` */
const cohereEmbedSchema = z.looseObject({
  model: modelSlug.nullish(),
  texts: z.array(z.unknown()).nullish(),
  inputs: z.array(z.unknown()).nullish(),
  images: z.array(z.unknown()).nullish(),
  input_type: inputType,
  embedding_types: z.array(z.string()).nullish(),
  output_dimension: dimensions,
  provider: providerWithOptions,
  user: z.string().max(USER_CHARS_MAX).nullish(),
  session_id: session_id.nullish(),
  trace: trace.nullish(),
  metadata: metadata.nullish(),
});
type CohereEmbed = z.output<typeof cohereEmbedSchema>;

const KNOWN: ReadonlySet<string> = new Set([...Object.keys(cohereEmbedSchema.shape), ...GATEWAY_FIELDS]);

/** What Cohere's clients send for vectors. @throws GatewayError 400 with `issues` */
export function decodeCohereEmbed(
  body: Json,
  text: string,
  headers: HeaderDirectives,
  defaultModel?: string,
): EmbeddingsOperation {
  const parsed = checkShape(cohereEmbedSchema, body, { text });
  refuseMembers(parsed, 'embeddings', {
    why: 'vectors of another model do not compare with those of the first',
    isWhole: true,
  });
  const { preferences, options } = splitOptions(parsed.provider);
  const fields = {
    provider: preferences,
    ...(parsed.session_id && { session_id: parsed.session_id }),
    ...(parsed.trace && { trace: parsed.trace }),
  };
  return {
    kind: 'embeddings',
    delivery: 'whole',
    asCohere: true,
    inputs: readInputs(parsed),
    encoding: readEncoding(parsed.embedding_types),
    ...(parsed.output_dimension && { dimensions: parsed.output_dimension }),
    ...(parsed.input_type && { inputType: parsed.input_type }),
    ...(options !== undefined && { providerOptions: options }),
    directives: decodeDirectives(fields, headers, {
      model: modelOf(parsed, defaultModel),
      user: parsed.user ?? undefined,
      metadata: parsed.metadata ?? undefined,
    }),
    ...callersExtra('embeddings/cohere', restOf(parsed, KNOWN)),
    warnings: [],
  };
}

const LISTS = { texts: readText, images: readPicture, inputs: readContent } as const;

/** Texts, pictures, or content of both. */
function readInputs(parsed: CohereEmbed): readonly EmbeddingsInput[] {
  const [[name, list] = ['texts', []] as const, second] = (['texts', 'images', 'inputs'] as const).flatMap((one) => {
    const items = parsed[one];
    return items ? [[one, items] as const] : [];
  });
  if (second !== undefined) throw invalid(second[0], `cannot be combined with ${name}`);
  if (list.length === 0) throw invalid(name, 'must have an item at least');
  if (list.length > INPUTS_MAX) throw invalid(name, `must have at most ${INPUTS_MAX} items`);
  return withFewFiles(list.map((item, at) => LISTS[name](item, `${name}[${at}]`)));
}

function readEncoding(types: CohereEmbed['embedding_types']): EmbeddingsOperation['encoding'] {
  const [wanted = 'float', ...others] = types ?? [];
  if (others.length > 0) throw invalid('embedding_types', 'must name one type: several at once are not built');
  if (wanted === 'float' || wanted === 'base64') return wanted;
  throw invalid('embedding_types[0]', 'must be one of "float", "base64"');
}
