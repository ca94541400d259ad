import { textOfDocument } from '../../../canonical/rerank.ts';
import { decodeError } from '../../upstream-error.ts';
import { decodeResults } from '../decode-results.ts';
import type { EncodedRerank, RerankFormat, RerankPart } from '../format.ts';

/** @source voyageai 0.4, `rerank` */
export const voyageRerank: RerankFormat = {
  id: 'rerank/voyage',
  path: '/rerank',
  encode,
  decode: decodeResults,
  decodeError,
};

function encode({ operation, documents, isWhole, model }: RerankPart): EncodedRerank {
  const { query, topN, maxTokensPerDoc } = operation;
  return {
    body: {
      model,
      query,
      documents: documents.map(textOfDocument),
      ...(topN !== undefined && isWhole && { top_k: Math.min(topN, documents.length) }),
      return_documents: false,
      // A long document is cut, as rerankers do.
      truncation: true,
    },
    warnings:
      maxTokensPerDoc === undefined
        ? []
        : [{ code: 'field-dropped', path: 'max_tokens_per_doc', message: 'has no word at this provider' }],
  };
}
