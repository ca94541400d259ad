import {
  MODALITY_OF_KIND,
  type EmbeddingsFacts,
  type EmbeddingsOperation,
  type Operation,
} from '../canonical/operation.ts';
import { isTokens, mediaOfInputs, piecesOf, type EmbeddingsInput } from '../canonical/media/embeddings-input.ts';
import { isPictureDocument, type RerankOperation } from '../canonical/rerank.ts';
import { unreachable } from '../lib/assert.ts';
import type { Endpoint } from '../catalog/model.ts';
import { lackOfPictures } from './image-needs.ts';
import { lackOfSpeech, lackOfTranscription } from './audio-needs.ts';
import type { Considered } from './route-plan.ts';
import { lackOfVideo } from './video-needs.ts';
import { CHARS_PER_TOKEN_MAX, type RequestNeeds } from './request-needs.ts';

const NONE: ReadonlySet<string> = new Set();

/** The requirements of a request that is no generation. */
export function needsOfOperation(operation: Operation): RequestNeeds {
  return {
    parameters: [],
    inputs: NONE,
    outputs: [],
    nativeTools: false,
    openTools: false,
    deferredTools: false,
    preferred: [],
    maxTokens: undefined,
    serviceTier: undefined,
    hasTools: false,
    // Candidates differ by endpoint: the format of the kind is the provider's offer.
    formatOf: ({ formats }) => formats[0] ?? 'chat',
    lackOf: (endpoint) => lackOf(endpoint, operation),
    promptTokensMin: 0,
  };
}

type Lack = Omit<Considered, 'endpoint'> | undefined;

/** What would change the result is never left out in silence: it excludes the endpoint. */
function lackOf(endpoint: Endpoint, operation: Operation): Lack {
  const { offers, outputModalities } = endpoint;
  if (offers?.[operation.kind] === undefined || outputModalities?.includes(MODALITY_OF_KIND[operation.kind]) === false)
    return { exclusion: 'output_modalities', lacks: operation.kind };
  switch (operation.kind) {
    case 'decisions':
      // Any host of the chat form may offer it: what decides is said of its model.
      return outputModalities?.includes('decisions') === true
        ? undefined
        : { exclusion: 'output_modalities', lacks: operation.kind };
    case 'embeddings':
      return lackOfVectors(endpoint, operation);
    case 'rerank':
      return lackOfRerank(endpoint, operation);
    case 'image':
      return lackOfPictures(endpoint, operation);
    case 'stt':
      return lackOfTranscription(endpoint, operation);
    case 'tts':
      return lackOfSpeech(endpoint, operation);
    case 'video':
      return lackOfVideo(endpoint, operation);
    default:
      return unreachable(operation);
  }
}

/** A list may be cut only where each document is scored by itself. */
function lackOfRerank({ rerank = {} }: Endpoint, { documents }: RerankOperation): Lack {
  const { maxDocuments, pointwise = false, images = false } = rerank;
  if (maxDocuments !== undefined && documents.length > maxDocuments && !pointwise)
    return {
      exclusion: 'parameter_value',
      lacks: 'documents',
      fault: `must have at most ${maxDocuments} items for this model`,
    };
  const picture = images ? -1 : documents.findIndex(isPictureDocument);
  if (picture < 0) return undefined;
  return { exclusion: 'parameter_value', lacks: `documents[${picture}].image`, fault: 'this model reads text only' };
}

function lackOfVectors(endpoint: Endpoint, { dimensions, inputs }: EmbeddingsOperation): Lack {
  const { embeddings = {}, inputModalities } = endpoint;
  const sizes = dimensions === undefined ? undefined : sizesWithout(dimensions, embeddings.dimensions);
  if (sizes !== undefined) return { exclusion: 'parameter_value', lacks: 'dimensions', fault: sizes };
  const [first] = inputs;
  if (first !== undefined && isTokens(first) && embeddings.tokenArrays !== true)
    return { exclusion: 'parameter_value', lacks: 'input', fault: NO_TOKENS };
  const unread = mediaOfInputs(inputs).find(
    ({ media }) => inputModalities?.includes(MODALITY_OF_MEDIA[media]) === false,
  );
  if (unread !== undefined)
    return {
      exclusion: 'input_modalities',
      lacks: unread.path,
      fault: `this model reads no ${MODALITY_OF_MEDIA[unread.media]}`,
    };
  const { maxInputTokens } = embeddings;
  if (maxInputTokens === undefined) return undefined;
  const at = inputs.findIndex((input) => leastTokens(input) > maxInputTokens);
  if (at < 0) return undefined;
  return { exclusion: 'context_length', lacks: `input[${at}]`, fault: `is longer than ${maxInputTokens} tokens` };
}

const MODALITY_OF_MEDIA = { image: 'image', audio: 'audio', video: 'video', document: 'file' } as const;

/** A foreign tokenizer would read other words, without any error. */
const NO_TOKENS =
  'must be text: no endpoint of this model is known to read these tokens; with LangChain set check_embedding_ctx_length=False';

/** A count that no tokenizer falls below. */
function leastTokens(input: EmbeddingsInput): number {
  if (isTokens(input)) return input.length;
  const chars = piecesOf(input).reduce((sum, piece) => sum + (piece.type === 'text' ? piece.text.length : 0), 0);
  return Math.floor(chars / CHARS_PER_TOKEN_MAX);
}

/** Why vectors cannot have this length; `undefined`: they can, as far as is known. */
function sizesWithout(wanted: number, sizes: EmbeddingsFacts['dimensions']): string | undefined {
  if (sizes === undefined || wanted === sizes.default) return undefined;
  const { min, max, values } = sizes;
  if (values !== undefined) return values.includes(wanted) ? undefined : `must be one of ${values.join(', ')}`;
  if (min === undefined && max === undefined) return `cannot be chosen: vectors of this model have ${sizes.default}`;
  const [least, most] = [min ?? 1, max ?? sizes.default];
  return wanted >= least && wanted <= most ? undefined : `must be from ${least} to ${most}`;
}
