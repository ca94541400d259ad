import { transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { estimateRerankTokens } from '../../canonical/estimate-tokens.ts';
import { textsOf } from '../../canonical/operation.ts';
import { estimateOperationUsage } from '../../canonical/operation-usage.ts';
import { textOfDocument, type RerankDocument, type RerankOperation } from '../../canonical/rerank.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { Endpoint } from '../../catalog/model.ts';
import { isJsonObject, parseJson } from '../../lib/json.ts';
import { NotThatJson } from '../../lib/json/walk-bytes.ts';
import { offerOf } from '../../providers/contract.ts';
import { encodeRerankAnswer } from '../../wire/rerank/answer-out.ts';
import type { DecodedRerank, RerankFormat, Score } from '../../wire/rerank/format.ts';
import { optionsFor } from '../../wire/provider-options.ts';
import { RERANK_FORMATS } from '../../wire/rerank/formats.ts';
import { boundUsage } from '../billing/complete-usage.ts';
import { ESTIMATE_MARGIN } from '../billing/cost-estimate.ts';
import type { CallDeps, CandidateCall } from './call-candidates.ts';
import { callInParts, type PartOfCall } from './call-in-parts.ts';
import { answerWith, type KindSteps } from './kind-steps.ts';
import { addOptions, tryEncode } from './try-encode.ts';

/** What one candidate gave for all documents. */
interface GivenOrder {
  readonly request: RerankOperation;
  /** The highest first. */
  readonly scores: readonly Score[];
  /** As the upstream counted; absent: it did not. */
  readonly totalTokens: number | undefined;
  readonly searchUnits: number | undefined;
  readonly upstreamId: string | undefined;
}

/** How documents are ordered. */
export const RERANK_STEPS: KindSteps<RerankOperation, GivenOrder> = {
  texts: textsOf,
  withTexts,
  promptTokens: estimateRerankTokens,
  margin: () => ESTIMATE_MARGIN,
  call: rerankInParts,
  usageOf: (given, { operation, served }) => countUsage(given, operation, served.candidate.endpoint),
  upstreamIdOf: ({ upstreamId }) => upstreamId,
  cache: {
    serialize: ({ scores }) => JSON.stringify(scores),
    parse: (text, request) => {
      const scores = parseScores(text);
      return scores && { request, scores, totalTokens: undefined, searchUnits: undefined, upstreamId: undefined };
    },
  },
  deliver: answerWith(({ request, scores, totalTokens, searchUnits }, identity, finalUsage) => {
    const reported = { tokens: totalTokens !== undefined, searchUnits: searchUnits !== undefined };
    return encodeRerankAnswer(request, scores, reported, identity, finalUsage);
  }),
};

function parseScores(text: string): readonly Score[] | undefined {
  const scores = parseJson(text);
  if (!Array.isArray(scores)) return undefined;
  const read = scores.flatMap((score): readonly Score[] => {
    if (!isJsonObject(score)) return [];
    const { index, value, text: digits } = score;
    return typeof index === 'number' && typeof value === 'number' && typeof digits === 'string'
      ? [{ index, value, text: digits }]
      : [];
  });
  return read.length === scores.length ? read : undefined;
}

/** None: nothing of it is kept. */
function withTexts(operation: RerankOperation, texts: readonly string[]): RerankOperation {
  const [query, ...rest] = texts;
  if (query === undefined) return { ...operation, query: '', documents: [] };
  return { ...operation, query, documents: operation.documents.map((document, at) => withText(document, rest[at])) };
}

function withText(document: RerankDocument, text: string | undefined): RerankDocument {
  if (text === undefined || text === textOfDocument(document)) return document;
  // What is replaced in an object without a text may stand in any of its members.
  return isJsonObject(document) && typeof document['text'] === 'string' ? { ...document, text } : text;
}

/** More search units than this many times the estimate are not believed. */
const UNITS_TOLERANCE = 2;

/** Upstreams count tokens, search units, or neither: what the endpoint is paid by is estimated where it is missing. */
function countUsage(
  { totalTokens, searchUnits }: GivenOrder,
  operation: RerankOperation,
  { price, contextTokensMax }: Endpoint,
): Usage {
  const estimate = estimateOperationUsage(operation);
  const units = estimate.units?.searchUnits ?? 1;
  const contextTokens = contextTokensMax && contextTokensMax * operation.documents.length;
  const { promptTokensMax } = boundUsage({ contextTokens, outputTokens: 0, requestedTokens: 0 });
  const hasTokens = totalTokens !== undefined && totalTokens > 0 && totalTokens <= promptTokensMax;
  const hasUnits = searchUnits !== undefined && searchUnits <= UNITS_TOLERANCE * units;
  const isPaidByToken = (price?.prompt ?? 0) > 0;
  const isPaidByUnit = (price?.searchUnit ?? 0) > 0;
  return {
    ...estimate,
    promptTokens: hasTokens ? totalTokens : estimate.promptTokens,
    units: { searchUnits: hasUnits ? searchUnits : units },
    estimated: (!hasTokens && (isPaidByToken || !hasUnits)) || (!hasUnits && isPaidByUnit),
  };
}

/** Scores the documents, in several calls only where each is scored by itself. Every failure is a value. */
async function rerankInParts(
  deps: CallDeps,
  input: CandidateCall<RerankOperation>,
): Promise<GivenOrder | UpstreamFailure> {
  const { provider, endpoint, request, attempt } = input;
  const { upstreamModel: model } = endpoint;
  const offer = offerOf(provider, 'rerank', model);
  const format = offer && RERANK_FORMATS.get(offer.format);
  if (offer === undefined || format === undefined) return transportFailure('connect');
  const parts = splitDocuments(request.documents, endpoint);
  const isWhole = parts.length === 1;
  const readsImages = endpoint.rerank?.images === true;
  const encoded = tryEncode(() => {
    const options = optionsFor(request, provider.settings.slug);
    return parts.map((documents) =>
      addOptions(format.encode({ operation: request, documents, isWhole, model, readsImages }), options),
    );
  });
  if ('kind' in encoded) return encoded;
  attempt.warn(encoded[0]?.warnings ?? []);
  const calls = encoded.map(({ body }): PartOfCall => ({ path: format.path, body: { json: body } }));
  const decoded = await callInParts(deps, input, { offer, format, calls }, (answer, at) =>
    readPart(format, answer, parts[at]?.length ?? 0, isWhole ? request.topN : undefined),
  );
  return 'kind' in decoded ? decoded : join(request, decoded, parts);
}

/** Consecutive parts of as many documents as one call takes. */
function splitDocuments(
  documents: readonly RerankDocument[],
  { rerank: { maxDocuments = Infinity } = {} }: Endpoint,
): readonly (readonly RerankDocument[])[] {
  if (documents.length <= maxDocuments) return [documents];
  const parts: (readonly RerankDocument[])[] = [];
  for (let from = 0; from < documents.length; from += maxDocuments)
    parts.push(documents.slice(from, from + maxDocuments));
  return parts;
}

/** What has no score for each document that is wanted, one twice, or one of no document, is no answer. */
function readPart(
  format: RerankFormat,
  bytes: Buffer,
  documents: number,
  topN = documents,
): DecodedRerank | UpstreamFailure {
  try {
    const part = format.decode(bytes);
    const indexes = new Set(part.scores.map(({ index }) => index));
    const isOfDocuments = part.scores.every(({ index }) => index >= 0 && index < documents);
    const isComplete = indexes.size === part.scores.length && indexes.size >= Math.min(topN, documents);
    return isOfDocuments && isComplete ? part : transportFailure('garbage');
  } catch (error) {
    if (error instanceof NotThatJson) return transportFailure('garbage');
    throw error;
  }
}

function join(
  request: RerankOperation,
  decoded: readonly DecodedRerank[],
  parts: readonly (readonly RerankDocument[])[],
): GivenOrder {
  let offset = 0;
  const all = decoded.flatMap(({ scores }, at): readonly Score[] => {
    const from = offset;
    offset += parts[at]?.length ?? 0;
    return scores.map((score) => ({ ...score, index: score.index + from }));
  });
  const ordered = all.toSorted((left, right) => right.value - left.value || left.index - right.index);
  const scores = ordered.slice(0, request.topN ?? ordered.length);
  return {
    request,
    scores,
    totalTokens: sumOf(decoded.map((part) => part.totalTokens)),
    searchUnits: sumOf(decoded.map((part) => part.searchUnits)),
    upstreamId: decoded[0]?.id,
  };
}

/** `undefined`: not all of them were counted. */
function sumOf(counts: readonly (number | undefined)[]): number | undefined {
  return counts.every((count) => count !== undefined) ? counts.reduce((sum, count) => sum + count, 0) : undefined;
}
