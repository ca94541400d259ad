import type { OperationFormatId } from '../../canonical/extra.ts';
import { bedrockEmbeddings } from './bedrock/format.ts';
import { cohereEmbeddings } from './cohere/format.ts';
import type { EmbeddingsFormat } from './format.ts';
import { geminiEmbeddings } from './gemini/format.ts';
import { openAiEmbeddings } from './openai/format.ts';
import { voyageEmbeddings } from './voyage/format.ts';
import { vertexContentEmbeddings } from './vertex-content/format.ts';
import { vertexEmbeddings } from './vertex/format.ts';

/** Every format in which upstreams make vectors. */
export const EMBEDDINGS_FORMATS: ReadonlyMap<OperationFormatId, EmbeddingsFormat> = new Map(
  [
    openAiEmbeddings,
    geminiEmbeddings,
    cohereEmbeddings,
    bedrockEmbeddings,
    vertexEmbeddings,
    vertexContentEmbeddings,
    voyageEmbeddings,
  ].map((format) => [format.id, format]),
);
