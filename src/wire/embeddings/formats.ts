import type { OperationFormatId } from '../../canonical/extra.ts';
import { cohereEmbeddings } from './cohere/format.ts';
import type { EmbeddingsFormat } from './format.ts';
import { geminiEmbeddings } from './gemini/format.ts';
import { openAiEmbeddings } from './openai/format.ts';

/** Every format in which upstreams make vectors. */
export const EMBEDDINGS_FORMATS: ReadonlyMap<OperationFormatId, EmbeddingsFormat> = new Map(
  [openAiEmbeddings, geminiEmbeddings, cohereEmbeddings].map((format) => [format.id, format]),
);
