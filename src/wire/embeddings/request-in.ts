import { z } from 'zod';
import { invalid } from '../../canonical/gateway-error.ts';
import type { EmbeddingsInput } from '../../canonical/media/embeddings-input.ts';
import type { EmbeddingsOperation } from '../../canonical/operation.ts';
import { isJsonObject, type Json } from '../../lib/json.ts';
import { readContent, readText, withFewFiles } from './content-in.ts';
import { restOf } from '../extra.ts';
import { decodeDirectives, GATEWAY_FIELDS, gatewayShape, modelOf, modelSlug } from '../gateway/directives.ts';
import type { HeaderDirectives } from '../gateway/headers.ts';
import { metadata } from '../gateway/metadata.ts';
import { callersExtra, providerWithOptions, splitOptions } from '../provider-options.ts';
import { checkShape } from '../gateway/validation/check-shape.ts';
import { refuseMembers } from '../gateway/validation/refused-members.ts';
import { compileSoon } from '../gateway/validation/fast-schema.ts';

export const INPUTS_MAX = 2_048;
const DIMENSIONS_MAX = 65_536;
const INPUT_TYPE_CHARS_MAX = 64;
export const USER_CHARS_MAX = 256;
const TOKEN_MAX = 4_294_967_295;

const { session_id, trace } = gatewayShape({ plugin: z.never() });
export const dimensions = z.int().min(1).max(DIMENSIONS_MAX).nullish();
export const inputType = z.string().max(INPUT_TYPE_CHARS_MAX).nullish();

/** The body of `POST /embeddings`. Null is the same as absent. `input` is checked by itself. */
export const embeddingsSchema = z.looseObject({
  model: modelSlug.nullish(),
  dimensions,
  encoding_format: z.enum(['float', 'base64']).nullish(),
  input_type: inputType,
  // The names that other vendors gave to the same.
  output_dimension: dimensions,
  embedding_type: z.enum(['float', 'base64']).nullish(),
  output_dtype: z.literal('float').nullish(),
  task: inputType,
  provider: providerWithOptions,
  user: z.string().max(USER_CHARS_MAX).nullish(),
  session_id: session_id.nullish(),
  trace: trace.nullish(),
  metadata: metadata.nullish(),
});

const KNOWN: ReadonlySet<string> = new Set([...Object.keys(embeddingsSchema.shape), ...GATEWAY_FIELDS, 'input']);
compileSoon(embeddingsSchema);

/** @param defaultModel of a request that names none. @throws GatewayError 400 with `issues` */
export function decodeEmbeddings(
  body: Json,
  text: string,
  headers: HeaderDirectives,
  defaultModel?: string,
): EmbeddingsOperation {
  const parsed = checkShape(embeddingsSchema, body, { text });
  refuseMembers(parsed, 'embeddings', {
    why: 'vectors of another model do not compare with those of the first',
    isWhole: true,
  });
  const inputs = readInputs(parsed['input']);
  const wanted = parsed.dimensions ?? parsed.output_dimension;
  const purpose = parsed.input_type || parsed.task;
  const { preferences, options } = splitOptions(parsed.provider);
  const fields = {
    provider: preferences,
    ...(parsed.session_id && { session_id: parsed.session_id }),
    ...(parsed.trace && { trace: parsed.trace }),
  };
  return {
    kind: 'embeddings',
    delivery: 'whole',
    inputs,
    encoding: parsed.encoding_format ?? parsed.embedding_type ?? 'float',
    ...(wanted && { dimensions: wanted }),
    ...(purpose && { inputType: purpose }),
    ...(options !== undefined && { providerOptions: options }),
    directives: decodeDirectives(fields, headers, {
      model: modelOf(parsed, defaultModel),
      user: parsed.user ?? undefined,
      metadata: parsed.metadata ?? undefined,
    }),
    ...callersExtra('embeddings/openai', restOf(parsed, KNOWN)),
    warnings: [],
  };
}

/** One text, the tokens of one, or a list of either. @throws GatewayError 400 at the first item that is wrong */
function readInputs(value: unknown): readonly EmbeddingsInput[] {
  if (value === undefined || value === null) throw invalid('input', 'is required');
  if (typeof value === 'string') return [readText(value, 'input')];
  if (!Array.isArray(value)) throw invalid('input', 'must be a text, a list of texts, or tokens');
  const items: readonly unknown[] = value;
  const [first] = items;
  if (items.length === 0) throw invalid('input', 'must not be empty');
  if (typeof first === 'number') return [readTokens(items, 'input')];
  if (items.length > INPUTS_MAX) throw invalid('input', `must have at most ${INPUTS_MAX} items`);
  if (typeof first === 'string') return items.map((item, at) => readText(item, `input[${at}]`));
  if (Array.isArray(first)) return items.map((item, at) => readTokens(item, `input[${at}]`));
  if (isJsonObject(first)) return withFewFiles(items.map((item, at) => readContent(item, `input[${at}]`)));
  throw invalid('input[0]', 'must be a text, tokens, or an object with content');
}

function readTokens(value: unknown, path: string): readonly number[] {
  if (!Array.isArray(value)) throw invalid(path, 'must be a list of tokens, as the first item is');
  const items: readonly unknown[] = value;
  if (items.length === 0) throw invalid(path, 'must not be empty');
  return items.map((token, at) => {
    if (typeof token !== 'number' || !Number.isInteger(token) || token < 0 || token > TOKEN_MAX)
      throw invalid(`${path}[${at}]`, 'must be a token: an integer of at least 0');
    return token;
  });
}
