import { ownEntry } from '../../json-fields.ts';

/** The vendor's words for what vectors are for. @source @google/genai 2.32, `EmbedContentConfig.taskType` */
const TASK_TYPES: Readonly<Record<string, string>> = {
  search_query: 'RETRIEVAL_QUERY',
  query: 'RETRIEVAL_QUERY',
  search_document: 'RETRIEVAL_DOCUMENT',
  document: 'RETRIEVAL_DOCUMENT',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
  semantic_similarity: 'SEMANTIC_SIMILARITY',
};

/** A word that is none of ours is taken for one of the vendor's own. */
export function taskTypeOf(inputType: string | undefined): string | undefined {
  return inputType === undefined ? undefined : (ownEntry(TASK_TYPES, inputType) ?? inputType);
}
