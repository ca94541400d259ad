import { textOfDocument } from '../../../canonical/rerank.ts';
import { NotThatJson, skipSpaces } from '../../../lib/json/walk-bytes.ts';
import { decodeError } from '../../upstream-error.ts';
import type { DecodedRerank, EncodedRerank, RerankFormat, RerankPart } from '../format.ts';
import { scoresAt } from '../scores.ts';

/** Of text-embeddings-inference: it names no model, and counts nothing. @source its OpenAPI 1.7, `RerankRequest` */
export const teiRerank: RerankFormat = { id: 'rerank/tei', path: '/rerank', encode, decode, decodeError };

function encode({ operation: { query, maxTokensPerDoc }, documents }: RerankPart): EncodedRerank {
  return {
    // A long document is cut, as rerankers do.
    body: { query, texts: documents.map(textOfDocument), raw_scores: false, return_text: false, truncate: true },
    warnings:
      maxTokensPerDoc === undefined
        ? []
        : [{ code: 'field-dropped', path: 'max_tokens_per_doc', message: 'has no word at this provider' }],
  };
}

function decode(bytes: Buffer): DecodedRerank {
  const { scores, end } = scoresAt(bytes, skipSpaces(bytes, 0));
  if (skipSpaces(bytes, end) !== bytes.length) throw new NotThatJson();
  return { scores };
}
