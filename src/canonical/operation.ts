import type { JsonObject } from '../lib/json.ts';
import { unreachable } from '../lib/assert.ts';
import { textsOfQuestion, type DecisionOperation } from './decisions.ts';
import type { Directives } from './directives.ts';
import type { ClientFormatId, Extra, Warning } from './extra.ts';
import type { ImageOperation } from './image.ts';
import { isContent, isTokens, type EmbeddingsInput } from './media/embeddings-input.ts';
import type { GenerationRequest } from './request.ts';
import { textOfDocument, type RerankOperation } from './rerank.ts';
import type { SpeechOperation } from './speech.ts';
import type { TranscriptionOperation } from './transcription.ts';
import type { VideoOperation } from './video.ts';

/** Requests that are no generations: `api_type` of their records. */
export const OPERATION_KINDS = ['embeddings', 'rerank', 'image', 'stt', 'tts', 'video', 'decisions'] as const;
export type OperationKind = (typeof OPERATION_KINDS)[number];

/** The output modality of models that serve a kind. */
export const MODALITY_OF_KIND = {
  embeddings: 'embeddings',
  rerank: 'rerank',
  image: 'image',
  stt: 'transcription',
  tts: 'speech',
  video: 'video',
  decisions: 'decisions',
} as const satisfies Readonly<Record<OperationKind, string>>;

/** How the caller reads vectors: numbers, or little-endian float32 as base64. */
export type VectorEncoding = 'float' | 'base64';

/** What is known of a model that makes vectors, at one provider. Absent: unknown, which excludes nothing. */
export interface EmbeddingsFacts {
  /** The length of its vectors, and what else can be had. */
  readonly dimensions?: {
    readonly default: number;
    readonly min?: number | undefined;
    readonly max?: number | undefined;
    readonly values?: readonly number[] | undefined;
  };
  /** Inputs that one call takes. */
  readonly maxInputs?: number;
  readonly maxInputTokens?: number;
  /** Tokens of one call. */
  readonly maxRequestTokens?: number;
  readonly encodings?: readonly VectorEncoding[];
  /** It reads tokens as its callers count them. Absent: it does not. */
  readonly tokenArrays?: boolean;
}

/** A request for vectors. */
export interface EmbeddingsOperation {
  readonly kind: 'embeddings';
  readonly delivery: 'whole';
  /** All of them texts, all of them tokens, or all of them content of several kinds. */
  readonly inputs: readonly EmbeddingsInput[];
  readonly encoding: VectorEncoding;
  /** The length of the vectors. Absent: the model's own. */
  readonly dimensions?: number;
  /** What the vectors are for, a free word: `search_query`. */
  readonly inputType?: string;
  /** The caller speaks the form of Cohere's clients. */
  readonly asCohere?: true;
  /** Members for single providers, by slug. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
  /** For the gateway itself, never sent upstream. */
  readonly directives: Directives;
  /** Members of the body that the gateway does not know. */
  readonly extra?: Extra;
  readonly warnings: readonly Warning[];
}

/** One call of a model that is no generation: it has an answer, and no turns. */
export type Operation =
  | DecisionOperation
  | EmbeddingsOperation
  | ImageOperation
  | RerankOperation
  | SpeechOperation
  | TranscriptionOperation
  | VideoOperation;

/** Any request to a model. */
export type ModelRequest = GenerationRequest | Operation;

export function isOperation(request: ModelRequest): request is Operation {
  return 'kind' in request;
}

/** Under which a request is recorded and counted. */
export function apiTypeOf(request: ModelRequest): ClientFormatId | OperationKind {
  return isOperation(request) ? request.kind : request.format;
}

/** What an operation says in words. Tokens are no text, and nothing can tell what they say. */
export function textsOf(operation: Operation): readonly string[] {
  switch (operation.kind) {
    case 'embeddings':
      return operation.inputs.flatMap(wordsOfInput);
    case 'rerank':
      return [operation.query, ...operation.documents.map(textOfDocument)];
    case 'stt':
      return [...(operation.prompt === undefined ? [] : [operation.prompt]), ...(operation.keywords ?? [])];
    case 'image':
      return [operation.prompt];
    case 'tts':
      return [operation.input];
    case 'video':
      return operation.prompt === undefined ? [] : [operation.prompt];
    case 'decisions':
      return [operation.state, ...operation.questions.flatMap(textsOfQuestion)];
    default:
      return unreachable(operation);
  }
}

function wordsOfInput(input: EmbeddingsInput): string | readonly string[] {
  if (isTokens(input)) return `[${input.length} tokens]`;
  return isContent(input)
    ? input.pieces.map((piece) => (piece.type === 'text' ? piece.text : `[${piece.media}]`))
    : input;
}
