import { z } from 'zod';
import { invalid } from '../../canonical/gateway-error.ts';
import type { RerankDocument, RerankOperation } from '../../canonical/rerank.ts';
import { isJsonObject, type Json } from '../../lib/json.ts';
import { restOf } from '../extra.ts';
import { decodeDirectives, GATEWAY_FIELDS, gatewayShape, modelOf, modelSlug } from '../gateway/directives.ts';
import type { HeaderDirectives } from '../gateway/headers.ts';
import { metadata } from '../gateway/metadata.ts';
import { callersExtra, providerWithOptions, splitOptions } from '../provider-options.ts';
import { checkShape } from '../gateway/validation/check-shape.ts';
import { refuseMembers } from '../gateway/validation/refused-members.ts';
import { compileSoon } from '../gateway/validation/fast-schema.ts';

const DOCUMENTS_MAX = 10_000;
const DOCUMENT_CHARS_MAX = 1_000_000;
const QUERY_CHARS_MAX = 100_000;
const USER_CHARS_MAX = 256;
const TOKENS_MAX = 1_000_000;

const { session_id, trace } = gatewayShape({ plugin: z.never() });
const wantedCount = z.int().min(1).nullish();

/** The body of `POST /rerank`. Null is the same as absent. `documents` are checked by themselves. */
export const rerankSchema = z.looseObject({
  model: modelSlug.nullish(),
  query: z.string().min(1).max(QUERY_CHARS_MAX),
  top_n: wantedCount,
  return_documents: z.boolean().nullish(),
  max_tokens_per_doc: z.int().min(1).max(TOKENS_MAX).nullish(),
  // The names that other vendors gave to the same.
  top_k: wantedCount,
  return_text: z.boolean().nullish(),
  truncation: z.boolean().nullish(),
  raw_scores: z.boolean().nullish(),
  truncate: z.boolean().nullish(),
  provider: providerWithOptions,
  user: z.string().max(USER_CHARS_MAX).nullish(),
  session_id: session_id.nullish(),
  trace: trace.nullish(),
  metadata: metadata.nullish(),
});

const KNOWN: ReadonlySet<string> = new Set([
  ...Object.keys(rerankSchema.shape),
  ...GATEWAY_FIELDS,
  'documents',
  'texts',
]);

compileSoon(rerankSchema);

/** @param defaultModel of a request that names none. @throws GatewayError 400 with `issues` */
export function decodeRerank(
  body: Json,
  text: string,
  headers: HeaderDirectives,
  defaultModel?: string,
): RerankOperation {
  const parsed = checkShape(rerankSchema, body, { text });
  refuseMembers(parsed, 'rerank', { why: 'scores of two models do not compare', isWhole: true });
  if (parsed.raw_scores === true) throw invalid('raw_scores', 'must be false: scores are from 0 to 1 here');
  const listed = parsed['documents'] ?? undefined;
  const member = listed === undefined && Array.isArray(parsed['texts']) ? 'texts' : 'documents';
  const documents = readDocuments(listed ?? parsed['texts'], member);
  const topN = parsed.top_n ?? parsed.top_k ?? undefined;
  const { preferences, options } = splitOptions(parsed.provider);
  const fields = {
    provider: preferences,
    ...(parsed.session_id && { session_id: parsed.session_id }),
    ...(parsed.trace && { trace: parsed.trace }),
  };
  const isVoyages = parsed.top_k !== undefined || parsed.truncation !== undefined;
  return {
    kind: 'rerank',
    delivery: 'whole',
    query: parsed.query,
    documents,
    ...(topN !== undefined && { topN }),
    // Clients of engines that send no texts back by default say so with their own word.
    returnDocuments: parsed.return_documents ?? parsed.return_text ?? true,
    ...(parsed.max_tokens_per_doc && { maxTokensPerDoc: parsed.max_tokens_per_doc }),
    asList: isVoyages && (parsed.top_n ?? undefined) === undefined,
    ...(options !== undefined && { providerOptions: options }),
    directives: decodeDirectives(fields, headers, {
      model: modelOf(parsed, defaultModel),
      user: parsed.user ?? undefined,
      metadata: parsed.metadata ?? undefined,
    }),
    ...callersExtra('rerank/cohere', restOf(parsed, KNOWN)),
    warnings: [],
  };
}

/** @throws GatewayError 400 at the first document that is wrong */
function readDocuments(value: unknown, member: string): readonly RerankDocument[] {
  if (value === undefined || value === null) throw invalid(member, 'is required');
  if (!Array.isArray(value)) throw invalid(member, 'must be a list of texts, or of objects with a text');
  const items: readonly unknown[] = value;
  if (items.length === 0) throw invalid(member, 'must not be empty');
  if (items.length > DOCUMENTS_MAX) throw invalid(member, `must have at most ${DOCUMENTS_MAX} items`);
  return items.map((item, at) => readDocument(item, `${member}[${at}]`));
}

function readDocument(value: unknown, path: string): RerankDocument {
  if (typeof value === 'string') return readText(value, path);
  if (!isJsonObject(value)) throw invalid(path, 'must be a text, or an object with a text');
  const { text, image } = value;
  if (typeof text === 'string') readText(text, `${path}.text`);
  else if (text !== undefined && text !== null) throw invalid(`${path}.text`, 'must be a text');
  else if (typeof image !== 'string' || image === '') throw invalid(path, 'must have a text or an image');
  return value;
}

function readText(text: string, path: string): string {
  if (text === '') throw invalid(path, 'must not be empty');
  if (text.length > DOCUMENT_CHARS_MAX)
    throw invalid(path, `must have at most ${DOCUMENT_CHARS_MAX} characters`, 'string_too_long');
  return text;
}
