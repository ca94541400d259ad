import { transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import {
  isContent,
  isTokens,
  textsOfInputs,
  withTextsOfInputs,
  type EmbeddingsInput,
} from '../../canonical/media/embeddings-input.ts';
import type { EmbeddingsOperation, VectorEncoding } from '../../canonical/operation.ts';
import type { Endpoint } from '../../catalog/model.ts';
import { LARGE_BYTES, type LoopTurns } from '../../lib/async/loop-turns.ts';
import { NotThatJson } from '../../lib/json/walk-bytes.ts';
import { HeldFiles } from '../../lib/memory/held-files.ts';
import { endpointName } from '../../routing/endpoint-name.ts';
import { offerOf } from '../../providers/contract.ts';
import type { DecodedPart, EmbeddingsFormat, EmbeddingsTarget, PartUsage } from '../../wire/embeddings/format.ts';
import { optionsFor } from '../../wire/provider-options.ts';
import { EMBEDDINGS_FORMATS } from '../../wire/embeddings/formats.ts';
import { encodeAnswer } from '../../wire/embeddings/answer-out.ts';
import { encodeCohereAnswer } from '../../wire/embeddings/cohere/answer-out.ts';
import { convertVector, parseVectors, serializeVectors, type Vector } from '../../wire/embeddings/vectors.ts';
import { estimateOperationTokens } from '../../canonical/estimate-tokens.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import { ESTIMATE_MARGIN } from '../billing/cost-estimate.ts';
import type { CallDeps, CandidateCall } from './call-candidates.ts';
import { callInParts, type PartOfCall } from './call-in-parts.ts';
import { explainFetch } from './fetch-input.ts';
import { createMediaFetch, type FetchMediaDeps } from './fetch-media.ts';
import { answerWith, type KindSteps, type StepScope } from './kind-steps.ts';
import { isTooMany, splitInputs, vectorBytes, type BatchSizes } from './split-inputs.ts';
import { addOptions, tryEncode } from './try-encode.ts';

/** Bytes of an answer that stay bytes: in pieces, and joined for a moment. */
const SPLICED_COPIES = 2;

/** What one candidate gave for all inputs. */
interface GivenVectors {
  readonly vectors: readonly Vector[];
  readonly used: PartUsage;
  readonly upstreamId: string | undefined;
}

const TOKENS_UNREADABLE = {
  path: 'input',
  message: 'must be text, not tokens: the content filters of this key cannot read tokens',
};

type EmbeddingsSteps = KindSteps<EmbeddingsOperation, GivenVectors, CallDeps & FetchMediaDeps>;

/** How vectors are made. @param sizes what is found out of endpoints */
export function embeddingsSteps(sizes: BatchSizes): EmbeddingsSteps {
  return { ...STEPS, call: (deps, call) => embedInFewerParts(deps, call, sizes) };
}

const STEPS: Omit<EmbeddingsSteps, 'call'> = {
  texts: ({ inputs }) => textsOfInputs(inputs),
  withTexts: (operation, texts) => ({
    ...operation,
    inputs: texts.length === 0 ? [] : withTextsOfInputs(operation.inputs, texts),
  }),
  unreadable: ({ inputs }) => (inputs.some(isTokens) ? TOKENS_UNREADABLE : undefined),
  prepare: fetchContent,
  promptTokens: estimateOperationTokens,
  margin: ({ inputs }) => (inputs.some(isTokens) ? 1 : ESTIMATE_MARGIN),
  usageOf: ({ used: { promptTokens, imageTokens, audioTokens } }) => ({
    ...NO_USAGE,
    estimated: false,
    ...(promptTokens === undefined ? { unreported: ['prompt'] } : { promptTokens }),
    ...(imageTokens !== undefined && { imagePromptTokens: imageTokens }),
    ...(audioTokens !== undefined && { audioPromptTokens: audioTokens }),
  }),
  upstreamIdOf: ({ upstreamId }) => upstreamId,
  cache: {
    serialize: ({ vectors }) => serializeVectors(vectors),
    parse: (text, { inputs }) => {
      const vectors = parseVectors(text);
      return vectors?.length === inputs.length ? { vectors, used: {}, upstreamId: undefined } : undefined;
    },
  },
  deliver: answerWith(({ vectors }, identity, finalUsage, { inputs, asCohere }) =>
    asCohere === true
      ? encodeCohereAnswer(vectors, inputs, identity, finalUsage)
      : encodeAnswer(vectors, identity, finalUsage),
  ),
};

/** An endpoint that takes fewer inputs than is known says so: then the parts are half as large, until it takes them. */
async function embedInFewerParts(
  deps: CallDeps,
  input: CandidateCall<EmbeddingsOperation>,
  sizes: BatchSizes,
): Promise<GivenVectors | UpstreamFailure> {
  const { request, endpoint } = input;
  const name = endpointName(endpoint);
  const learned = sizes.mostOf(name, deps.monotonicMs());
  for (let tried = learned; ;) {
    let most = 1;
    const given = await embedInParts(deps, input, (inputsMax) => {
      const parts = splitInputs(request, endpoint, Math.min(endpoint.embeddings?.maxInputs ?? inputsMax, tried));
      most = Math.max(...parts.map(({ length }) => length));
      return parts;
    });
    if ('kind' in given && isTooMany(given) && most > 1) {
      tried = Math.floor(most / 2);
      // Nothing of this round is used: the next one would wait for what its answers have taken.
      input.memory.close();
      continue;
    }
    // Only what was taken in the end shows that the number was at fault, and not one of the inputs.
    if (!('kind' in given) && tried < learned) sizes.note(name, tried, deps.monotonicMs());
    return given;
  }
}

/** Cuts the inputs as the endpoint takes them, calls it some parts at a time, and joins what came. Every failure is a value. */
async function embedInParts(
  deps: CallDeps,
  input: CandidateCall<EmbeddingsOperation>,
  split: (inputsMax: number) => ReturnType<typeof splitInputs>,
): Promise<GivenVectors | UpstreamFailure> {
  const { provider, endpoint, request, endUserId, attempt } = input;
  const offer = offerOf(provider, request.kind, endpoint.upstreamModel);
  const format = offer && EMBEDDINGS_FORMATS.get(offer.format);
  if (offer === undefined || format === undefined) return transportFailure('connect');
  const { dialect = {} } = offer;
  const encoding = encodingAt(format, endpoint, request.encoding, dialect.encodings);
  const target: EmbeddingsTarget = { model: endpoint.upstreamModel, endUserId, encoding, dialect };
  const parts = split(format.inputsMax);
  const encodedParts = tryEncode(() => {
    const options = optionsFor(request, provider.settings.slug);
    return parts.map((inputs) => addOptions(format.encode({ operation: request, inputs }, target), options));
  });
  if ('kind' in encodedParts) return encodedParts;
  attempt.warn(encodedParts[0]?.warnings ?? []);
  const bytes = vectorBytes(request, endpoint);
  const calls = encodedParts.map(({ body }, at): PartOfCall => ({
    path: format.path(endpoint.upstreamModel),
    body: { json: body },
    expectedBytes: bytes * (parts[at]?.length ?? 0),
    ...(encoding === request.encoding && { copies: SPLICED_COPIES }),
  }));
  const given = await callInParts(deps, input, { offer, format, calls }, (answer, at) =>
    readPart(deps.turns, format, answer, { request, count: parts[at]?.length ?? 0 }),
  );
  return 'kind' in given ? given : join(given);
}

/** The caller's encoding where the endpoint has it. */
function encodingAt(
  { encodings: ofFormat }: EmbeddingsFormat,
  { embeddings }: Endpoint,
  wanted: VectorEncoding,
  ofHost: readonly VectorEncoding[] | undefined,
): VectorEncoding {
  const has = embeddings?.encodings ?? ofHost ?? ofFormat;
  return has.includes(wanted) ? wanted : (has[0] ?? 'float');
}

/** Media become data URLs, which all providers take. @throws GatewayError 400, 404, 503 */
async function fetchContent(
  deps: FetchMediaDeps,
  operation: EmbeddingsOperation,
  { owner, signal, defer }: StepScope,
): Promise<EmbeddingsOperation> {
  if (!operation.inputs.some(isContent)) return operation;
  const files = new HeldFiles(deps.fileMemory, signal);
  defer(() => files.close());
  const fetchOne = createMediaFetch(deps, files, { owner, signal });
  const inputs: EmbeddingsInput[] = [];
  try {
    for (const input of operation.inputs) {
      if (!isContent(input)) inputs.push(input);
      else {
        const pieces = [];
        for (const piece of input.pieces)
          pieces.push(piece.type === 'text' ? piece : await fetchOne(piece, piece.media));
        inputs.push({ pieces });
      }
    }
  } catch (error) {
    throw explainFetch(error);
  }
  return { ...operation, inputs };
}

/** What is not as many vectors as inputs, all of one length and of the length that was requested, is no answer. */
async function readPart(
  turns: LoopTurns,
  format: EmbeddingsFormat,
  bytes: Buffer,
  { request, count }: { readonly request: EmbeddingsOperation; readonly count: number },
): Promise<(DecodedPart & { readonly keptBytes: number }) | UpstreamFailure> {
  try {
    const part = format.decode(bytes);
    const [first] = part.vectors;
    const size = request.dimensions ?? first?.dimensions;
    if (part.vectors.length !== count || part.vectors.some(({ dimensions }) => dimensions !== size))
      return transportFailure('garbage');
    const vectors: Vector[] = [];
    let converted = 0;
    let isConverted = false;
    for (const vector of part.vectors) {
      if (vector.encoding === request.encoding) vectors.push(vector);
      else {
        isConverted = true;
        converted += vector.bytes.length;
        vectors.push(convertVector(vector));
        if (converted < LARGE_BYTES) continue;
        converted = 0;
        await turns.next();
      }
    }
    // Those that stay as they came are parts of the answer.
    const keptBytes = vectors.reduce((sum, { bytes: { length } }) => sum + length, 0);
    return { ...part, vectors, keptBytes: isConverted ? keptBytes : bytes.length };
  } catch (error) {
    if (error instanceof NotThatJson) return transportFailure('garbage');
    throw error;
  }
}

function join(parts: readonly DecodedPart[]): GivenVectors | UpstreamFailure {
  const vectors = parts.flatMap((part) => part.vectors);
  if (vectors.some(({ dimensions }) => dimensions !== vectors[0]?.dimensions)) return transportFailure('garbage');
  const used: { -readonly [Member in keyof PartUsage]: number } = {};
  for (const member of ['promptTokens', 'imageTokens', 'audioTokens'] as const) {
    const counts = parts.flatMap((part) => part[member] ?? []);
    // What one part does not count is not known of all of them; of pictures and sounds there may be none in some parts.
    const isCounted = counts.length > 0 && (member !== 'promptTokens' || counts.length === parts.length);
    if (isCounted) used[member] = counts.reduce((sum, count) => sum + count, 0);
  }
  return { vectors, used, upstreamId: parts[0]?.id };
}
