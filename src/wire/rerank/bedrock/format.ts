import { encodePathSegment } from '../../../lib/net/path-segment.ts';
import { decodeError } from '../../upstream-error.ts';
import { cohereRerank } from '../cohere/format.ts';
import type { RerankFormat } from '../format.ts';

/** Where a model is called at Amazon's one address. */
export const invokePath = (model: string): string => `/model/${encodePathSegment(model)}/invoke`;

/**
 * Cohere's form at Amazon, where the model stands in the path and the version in the body.
 * @source cohere-ai/cohere-python#613 (2024-12), and its fix
 */
export const bedrockRerank: RerankFormat = {
  id: 'rerank/bedrock',
  path: '',
  encode(part) {
    const { body, warnings } = cohereRerank.encode(part);
    const { model: _inThePath, return_documents: _neverThere, ...rest } = body;
    return { body: { ...rest, api_version: 2 }, warnings };
  },
  decode: cohereRerank.decode.bind(cohereRerank),
  decodeError,
};
