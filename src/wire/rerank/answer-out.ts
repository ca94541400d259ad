import { textOfDocument, type RerankDocument, type RerankOperation } from '../../canonical/rerank.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { AnswerIdentity, FinalUsage } from '../format.ts';
import { encodeCost } from '../gateway/cost.ts';
import type { Score } from './format.ts';

/** What the upstream counted itself. */
export interface ReportedCounts {
  readonly tokens: boolean;
  readonly searchUnits: boolean;
}

/** Scores in order, highest first, ties by index; documents are the caller's own. Scores keep the digits of their upstream. */
export function encodeRerankAnswer(
  { documents, returnDocuments, asList }: RerankOperation,
  scores: readonly Score[],
  reported: ReportedCounts,
  { id, model, provider }: AnswerIdentity,
  finalUsage: FinalUsage,
): readonly Uint8Array[] {
  const results = scores.map((score) =>
    resultOf(score, returnDocuments ? objectOf(documents[score.index]) : undefined),
  );
  const { usage, serviceMetadata } = finalUsage;
  const units = reported.searchUnits ? usage.units?.searchUnits : undefined;
  const head: JsonObject = { id, model, provider };
  const tail: JsonObject = {
    usage: {
      ...((reported.tokens || units === undefined) && { total_tokens: usage.promptTokens }),
      ...(units !== undefined && { search_units: units }),
      ...encodeCost(finalUsage),
    },
    meta: {
      api_version: { version: '2' },
      ...(units !== undefined && { billed_units: { search_units: units } }),
    },
    ...(serviceMetadata !== undefined && { service_metadata: serviceMetadata }),
  };
  const list = asList
    ? `"object":"list","data":[${scores.map((score) => resultOf(score, returnDocuments ? textOf(documents[score.index]) : undefined)).join(',')}],`
    : '';
  return [
    Buffer.from(
      `${JSON.stringify(head).slice(0, -1)},${list}"results":[${results.join(',')}],${JSON.stringify(tail).slice(1)}`,
    ),
  ];
}

function resultOf({ index, text }: Score, document: JsonObject | string | undefined): string {
  const own = document === undefined ? '' : `,"document":${JSON.stringify(document)}`;
  return `{"index":${index},"relevance_score":${text}${own}}`;
}

function objectOf(document: RerankDocument | undefined): JsonObject | undefined {
  return typeof document === 'string' ? { text: document } : document;
}

function textOf(document: RerankDocument | undefined): string | undefined {
  return document === undefined ? undefined : textOfDocument(document);
}
