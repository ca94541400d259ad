import type { JsonObject } from '../lib/json.ts';
import { unreachable } from '../lib/assert.ts';
import { withoutAttribution } from './attribution.ts';
import type { DecisionOperation } from './decisions.ts';
import type { Block, MediaBlock, MediaSource } from './blocks.ts';
import { isTokens, mediaOfInputs, piecesOf, type ContentPiece } from './media/embeddings-input.ts';
import type { EmbeddingsOperation } from './operation.ts';
import { textOfDocument, type RerankOperation } from './rerank.ts';
import type { GenerationRequest, Tool, Turn } from './request.ts';

/**
 * Tokenizers of today's models make one token of about four bytes of UTF-8, in English (4 letters) as in Chinese (1.3
 * characters of 3 bytes). Counting bytes is the one measure that costs nothing on large prompts.
 */
const BYTES_PER_TOKEN = 4;
/** Role, separators and the like around each turn, tool, and the whole. */
const TURN_TOKENS = 4;
const TOOL_TOKENS = 12;
const REQUEST_TOKENS = 3;
/** A full-size image; the vendor's formula, width x height / 750, ends there. Vendor docs, "Vision", read 2026-11. */
const IMAGE_TOKENS = 1_600;
/** 1,500 to 3,000 a page by the vendor's docs, "PDF support", read 2026-11, at some 60 kB a page. */
const DOCUMENT_BYTES_PER_TOKEN = 30;
const DOCUMENT_TOKENS_MIN = 1_500;
/** 32 tokens a second, at 16 kB a second of middling compression. Google docs, "Audio understanding", read 2026-11. */
const AUDIO_BYTES_PER_TOKEN = 500;
/** 263 tokens a second, at 250 kB a second. Google docs, "Video understanding", read 2026-11. */
const VIDEO_BYTES_PER_TOKEN = 950;
const LINKED_MEDIA_TOKENS = 1_500;

/** A rough count of the tokens of a text, right to about a quarter for prose. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text, 'utf8') / BYTES_PER_TOKEN);
}

/** What a request will count as prompt: instructions, turns, tools and the wanted schema. */
export function estimateRequestTokens(request: GenerationRequest): number {
  const { responseFormat } = request.settings;
  let tokens = REQUEST_TOKENS - estimateAttribution(request);
  for (const turn of request.turns) tokens += estimateTurnTokens(turn);
  for (const tool of request.tools) tokens += estimateTool(tool);
  if (responseFormat?.type === 'json_schema') tokens += estimateJson(responseFormat.schema);
  if (responseFormat?.type === 'grammar') tokens += estimateTokens(responseFormat.grammar);
  return tokens;
}

/** A line that no model reads: its vendor takes it out, and no other is sent it. */
function estimateAttribution({ format, turns }: GenerationRequest): number {
  const first = turns[0]?.blocks[0];
  if (format !== 'messages' || turns[0]?.role !== 'system' || first?.type !== 'text') return 0;
  return estimateTokens(first.text) - estimateTokens(withoutAttribution(first.text));
}

/** What vectors will count as prompt: exact where the inputs are tokens. */
export function estimateOperationTokens({ inputs }: Pick<EmbeddingsOperation, 'inputs'>): number {
  return inputs.reduce(
    (sum, input) =>
      sum + (isTokens(input) ? input.length : piecesOf(input).reduce((all, one) => all + estimatePiece(one), 0)),
    0,
  );
}

/** What of them is pictures and sounds, which may cost otherwise than texts. */
export function estimateMediaTokens({ inputs }: Pick<EmbeddingsOperation, 'inputs'>): {
  readonly imagePromptTokens?: number;
  readonly audioPromptTokens?: number;
} {
  const tokensOf = (kind: MediaBlock['media']): number =>
    mediaOfInputs(inputs).reduce((sum, piece) => (piece.media === kind ? sum + estimatePiece(piece) : sum), 0);
  const [imagePromptTokens, audioPromptTokens] = [tokensOf('image'), tokensOf('audio')];
  return { ...(imagePromptTokens > 0 && { imagePromptTokens }), ...(audioPromptTokens > 0 && { audioPromptTokens }) };
}

function estimatePiece(piece: ContentPiece): number {
  if (piece.type === 'text') return estimateTokens(piece.text);
  return estimateMedia({ type: 'media', media: piece.media, source: { type: 'url', url: piece.url } });
}

/** What each document of a request for their order counts by itself. */
export function estimateDocumentTokens({ documents }: RerankOperation): readonly number[] {
  return documents.map((document) => estimateTokens(textOfDocument(document)));
}

/** What the order of documents will count as prompt: the query is read with each of them. */
export function estimateRerankTokens(operation: RerankOperation): number {
  const { query, documents } = operation;
  return estimateDocumentTokens(operation).reduce(
    (sum, tokens) => sum + tokens,
    estimateTokens(query) * documents.length,
  );
}

/** What a decision model reads: it writes nothing. */
export function estimateDecisionTokens({ state, questions }: DecisionOperation): number {
  const options = questions.flatMap((question) => question.options);
  const asked = questions.reduce((sum, { instructions }) => sum + estimateTokens(instructions), 0);
  return options.reduce((sum, { key, text = '' }) => sum + estimateTokens(key + text), estimateTokens(state) + asked);
}

/** What a response of this many bytes of UTF-8 counts, when the upstream did not say. */
export function estimateResponseTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** What one turn counts in it. */
export function estimateTurnTokens(turn: Turn): number {
  return TURN_TOKENS + (turn.name === undefined ? 0 : estimateTokens(turn.name)) + estimateBlocks(turn.blocks);
}

function estimateBlocks(blocks: readonly Block[]): number {
  let tokens = 0;
  for (const block of blocks) tokens += estimateBlock(block);
  return tokens;
}

function estimateBlock(block: Block): number {
  switch (block.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return estimateTokens(block.text);
    case 'media':
      return estimateMedia(block);
    case 'tool-call':
      return TURN_TOKENS + estimateTokens(block.name) + estimateTokens(block.input);
    case 'tool-result':
      return TURN_TOKENS + estimateBlocks(block.content);
    case 'opaque':
      return estimateJson(block.value);
    default:
      return unreachable(block);
  }
}

function estimateMedia({ media, source }: MediaBlock): number {
  if (source.type === 'text') return estimateTokens(source.text);
  if (source.type === 'blocks') return estimateBlocks(source.blocks);
  const bytes = bytesOf(source);
  switch (media) {
    case 'image':
      return IMAGE_TOKENS;
    case 'document':
      return Math.max(DOCUMENT_TOKENS_MIN, Math.ceil(bytes / DOCUMENT_BYTES_PER_TOKEN));
    case 'audio':
      return bytes === 0 ? LINKED_MEDIA_TOKENS : Math.ceil(bytes / AUDIO_BYTES_PER_TOKEN);
    case 'video':
      return bytes === 0 ? LINKED_MEDIA_TOKENS : Math.ceil(bytes / VIDEO_BYTES_PER_TOKEN);
    default:
      return unreachable(media);
  }
}

/** 0 for what is only linked. Base64 makes four characters of three bytes; a `data:` URL is nearly all base64. */
function bytesOf(source: MediaSource): number {
  const encoded =
    source.type === 'base64' ? source.data : source.type === 'url' && source.url.startsWith('data:') ? source.url : '';
  return Math.floor((encoded.length * 3) / 4);
}

function estimateTool(tool: Tool): number {
  switch (tool.type) {
    case 'function':
      return TOOL_TOKENS + estimateTokens(tool.name + (tool.description ?? '')) + estimateJson(tool.parameters);
    case 'server':
      return TOOL_TOKENS + estimateTokens(tool.name) + estimateJson(tool.parameters);
    case 'opaque':
      return TOOL_TOKENS + estimateJson(tool.value);
    default:
      return unreachable(tool);
  }
}

function estimateJson(value: JsonObject | undefined): number {
  return value === undefined ? 0 : estimateTokens(JSON.stringify(value));
}
