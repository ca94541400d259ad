import { isJsonObject, type Json } from '../lib/json.ts';
import { Refusal } from './refusal.ts';

const DOCUMENTS_MAX = 10_000;
/** A word for which a document is shorter than another is no reason to come first, unless all else is equal. */
const SHORTNESS = 0.001;
/** As the vendor counts: a query with up to a hundred documents is one. */
const UNIT_DOCUMENTS = 100;

/** The model that orders documents. */
export const RERANK = 'rerank';

/** The answer of `POST /v1/rerank`, as JSON text: the vendor's form. @throws Refusal */
export function rerank(body: Json | undefined): string {
  if (!isJsonObject(body)) throw new Refusal(400, 'We could not parse the JSON body of your request.');
  const { model, query, documents, top_n: topN } = body;
  const name = typeof model === 'string' ? model.replace(/^sandbox\//, '') : '';
  const error = /^error-([45]\d\d)$/.exec(name);
  if (error !== null) throw new Refusal(Number(error[1]), 'The request was refused.');
  if (name !== RERANK)
    throw new Refusal(404, `The model \`${name.slice(0, 100)}\` does not exist.`, { code: 'model_not_found' });
  if (typeof query !== 'string' || query === '') throw new Refusal(400, 'query: must be a text.');
  if (!Array.isArray(documents) || documents.length === 0 || documents.length > DOCUMENTS_MAX)
    throw new Refusal(400, `documents: must have 1 to ${DOCUMENTS_MAX} items.`);
  const wanted = new Set(wordsOf(query));
  const results = documents
    .map((document, index) => ({ index, relevance_score: scoreOf(wanted, textOf(document)) }))
    .toSorted((left, right) => right.relevance_score - left.relevance_score || left.index - right.index);
  const count = typeof topN === 'number' && topN >= 1 ? Math.floor(topN) : results.length;
  return JSON.stringify({
    id: 'rerank-sandbox',
    results: results.slice(0, count),
    meta: {
      api_version: { version: '2' },
      billed_units: { search_units: Math.ceil(documents.length / UNIT_DOCUMENTS) },
    },
  });
}

/** The share of the query's words that a document has; of equals the shorter one is better. */
function scoreOf(wanted: ReadonlySet<string>, text: string): number {
  const words = new Set(wordsOf(text));
  const shared = [...wanted].filter((word) => words.has(word)).length;
  return Math.min(1, shared / Math.max(1, wanted.size) + SHORTNESS / (1 + text.length));
}

function textOf(document: Json): string {
  if (typeof document === 'string') return document;
  const text = isJsonObject(document) ? document['text'] : undefined;
  if (typeof text !== 'string') throw new Refusal(400, 'documents: must be texts.');
  return text;
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
