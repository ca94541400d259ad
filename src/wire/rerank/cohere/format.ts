import { textOfDocument, type RerankDocument } from '../../../canonical/rerank.ts';
import { decodeError } from '../../upstream-error.ts';
import { decodeResults } from '../decode-results.ts';
import type { EncodedRerank, RerankFormat, RerankPart } from '../format.ts';

/** The vendor's own form, which most engines speak: Jina, vLLM, llama.cpp, Infinity, LocalAI. @source cohere-ai 8.1, `v2.rerank` */
export const cohereRerank: RerankFormat = {
  id: 'rerank/cohere',
  path: '/rerank',
  encode,
  decode: decodeResults,
  decodeError,
};

/** Documents are never sent back: the caller gets its own. */
function encode({ operation, documents, isWhole, model, readsImages }: RerankPart): EncodedRerank {
  const { query, topN, maxTokensPerDoc, extra } = operation;
  return {
    body: {
      ...(extra?.format === 'rerank/cohere' && extra.fields),
      model,
      query,
      documents: documents.map(
        (document) => (readsImages ? pictureOf(document) : undefined) ?? textOfDocument(document),
      ),
      ...(topN !== undefined && isWhole && { top_n: Math.min(topN, documents.length) }),
      return_documents: false,
      ...(maxTokensPerDoc !== undefined && { max_tokens_per_doc: maxTokensPerDoc }),
    },
    warnings: [],
  };
}

function pictureOf(document: RerankDocument): { readonly image: string } | undefined {
  const image = typeof document === 'string' ? undefined : document['image'];
  return typeof image === 'string' ? { image } : undefined;
}
