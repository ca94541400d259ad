import { textOfDocument } from '../../../canonical/rerank.ts';
import { totalCount } from '../../../canonical/usage.ts';
import { eachItem, eachMember, endOfValue, NotThatJson, skipSpaces, valueAt } from '../../../lib/json/walk-bytes.ts';
import { encodePathSegment } from '../../../lib/net/path-segment.ts';
import { decodeError } from '../../upstream-error.ts';
import type { DecodedRerank, EncodedRerank, RerankFormat, RerankPart, Score } from '../format.ts';

/**
 * DeepInfra's own: a score for each pair of a query and a document, in their order.
 * @source deepinfra.com, page "API" of Qwen/Qwen3-Reranker-8B, read 2026-11
 */
export const deepInfraRerank: RerankFormat = {
  id: 'rerank/deepinfra',
  path: '',
  encode,
  decode,
  decodeError,
};

/** The name of the model is the path: `Qwen/Qwen3-Reranker-8B`. */
export function inferencePath(model: string): string {
  return `/${model.split('/').map(encodePathSegment).join('/')}`;
}

function encode({ operation: { query, maxTokensPerDoc }, documents }: RerankPart): EncodedRerank {
  return {
    // As many queries as documents: juanqui/pdfkb-mcp, `reranker_deepinfra.py`, read 2026-11.
    body: { queries: documents.map(() => query), documents: documents.map(textOfDocument) },
    warnings:
      maxTokensPerDoc === undefined
        ? []
        : [{ code: 'field-dropped', path: 'max_tokens_per_doc', message: 'has no word at this provider' }],
  };
}

function decode(bytes: Buffer): DecodedRerank {
  let scores: readonly Score[] | undefined;
  let totalTokens: number | undefined;
  eachMember(bytes, skipSpaces(bytes, 0), (name, at) => {
    if (name === 'scores') {
      const read = numbersAt(bytes, at);
      scores = read.scores;
      return read.end;
    }
    if (name !== 'input_tokens') return undefined;
    const end = endOfValue(bytes, at);
    totalTokens = totalCount(valueAt(bytes, at, end));
    return end;
  });
  if (scores === undefined) throw new NotThatJson();
  return { scores, ...(totalTokens !== undefined && { totalTokens }) };
}

function numbersAt(bytes: Buffer, at: number): { readonly scores: readonly Score[]; readonly end: number } {
  const scores: Score[] = [];
  const end = eachItem(bytes, at, (_item, itemAt) => {
    const itemEnd = endOfValue(bytes, itemAt);
    const value = valueAt(bytes, itemAt, itemEnd);
    if (typeof value !== 'number' || !Number.isFinite(value)) throw new NotThatJson();
    scores.push({ index: scores.length, value, text: bytes.toString('latin1', itemAt, itemEnd) });
    return itemEnd;
  });
  return { scores, end };
}
