import type { OperationFormatId } from '../../canonical/extra.ts';
import { bedrockRerank } from './bedrock/format.ts';
import { cohereRerank } from './cohere/format.ts';
import { deepInfraRerank } from './deepinfra/format.ts';
import type { RerankFormat } from './format.ts';
import { teiRerank } from './tei/format.ts';
import { voyageRerank } from './voyage/format.ts';

/** Every format in which upstreams order documents. */
export const RERANK_FORMATS: ReadonlyMap<OperationFormatId, RerankFormat> = new Map(
  [cohereRerank, teiRerank, voyageRerank, bedrockRerank, deepInfraRerank].map((format) => [format.id, format]),
);
