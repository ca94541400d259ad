import type { ReasoningBlock } from '../../../canonical/blocks.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import type { Piece } from '../../response-blocks.ts';
import { textPiece } from '../../response-blocks.ts';
import { decodeAudio, decodeImage } from '../assistant-media.ts';
import { asExtra } from '../../extra.ts';
import { nameOf, objectsOf, textOf } from '../../json-fields.ts';
import { decodeDetail, detailIndex } from '../reasoning-details.ts';

/**
 * The pieces in the delta of a chunk, or in the message of a whole response, but for its calls: in the order in which a
 * model makes them. Empty texts are no pieces.
 */
export function piecesOf(delta: JsonObject, skip: (message: string) => void): readonly Piece[] {
  const pieces: Piece[] = [];
  addReasoning(pieces, delta);
  const { content, refusal, images, audio } = delta;
  if (typeof content === 'string') {
    if (content !== '') pieces.push(textPiece(content));
  } else if (Array.isArray(content)) {
    for (const part of objectsOf(content)) addPart(pieces, part, skip);
  }
  if (typeof refusal === 'string' && refusal !== '')
    pieces.push({ key: 'refusal', block: { type: 'refusal', text: '' }, text: refusal });
  for (const image of objectsOf(images)) addImage(pieces, image, skip);
  if (isJsonObject(audio)) pieces.push(audioPiece(audio));
  return pieces;
}

/** Where details are given they hold everything; the plain members then repeat their text. */
function addReasoning(pieces: Piece[], delta: JsonObject): void {
  const details = objectsOf(delta['reasoning_details']);
  for (const detail of details) {
    const piece = detailPiece(detail);
    if (piece !== undefined) pieces.push(piece);
  }
  if (details.length > 0) return;
  for (const carrier of ['reasoning', 'reasoning_content'] as const) {
    const text = delta[carrier];
    if (typeof text !== 'string' || text === '') continue;
    pieces.push(reasoningPiece({ type: 'reasoning', form: 'text', text, carrier }));
    return;
  }
}

/** `undefined` for an entry without anything in it, as some upstreams send while something else is going on. */
function detailPiece(detail: JsonObject): Piece | undefined {
  const block = decodeDetail(detail);
  if (block.type === 'opaque') return { key: 'opaque', block, complete: true };
  return block.text === '' && !block.signature ? undefined : reasoningPiece(block);
}

/**
 * A block opens without its text, which comes as its first delta, as it would in a stream of many. Pieces of one block
 * share their index where they have one. @spec stream-17
 */
function reasoningPiece(piece: ReasoningBlock): Piece {
  const { text, signature, ...block } = piece;
  return {
    key: `reasoning ${piece.form} ${piece.carrier ?? ''} ${detailIndex(piece) ?? piece.id ?? ''}`,
    block: { ...block, text: '' },
    ...(text !== '' && { text }),
    ...(signature && { signature }),
  };
}

function addImage(pieces: Piece[], image: JsonObject, skip: (message: string) => void): void {
  const block = decodeImage(image);
  if (block.source.type === 'url' && block.source.url === '') skip('an image without an address');
  else pieces.push({ key: 'image', block, complete: true });
}

/** Some upstreams (Mistral) send the content as a list of parts: thinking and text. */
function addPart(pieces: Piece[], part: JsonObject, skip: (message: string) => void): void {
  const { type, text, thinking } = part;
  if (type === 'thinking') {
    const stated = thinkingText(thinking);
    if (stated !== '')
      pieces.push(reasoningPiece({ type: 'reasoning', form: 'text', text: stated, carrier: 'thinking' }));
  } else if (typeof text === 'string') {
    if (text !== '') pieces.push(textPiece(text));
  } else if (type === 'image_url') {
    addImage(pieces, part, skip);
  } else {
    skip(`a content part of type ${nameOf(type)}`);
  }
}

function thinkingText(thinking: Json | undefined): string {
  if (typeof thinking === 'string') return thinking;
  return objectsOf(thinking)
    .map((part) => textOf(part['text']) ?? '')
    .join('');
}

/** The transcript comes in pieces beside the data; they are kept as a list, which adds up where texts would not. */
function audioPiece(audio: JsonObject): Piece {
  const { data, transcript, ...rest } = audio;
  const extra = {
    ...rest,
    ...(typeof transcript === 'string' && transcript !== '' && { transcript: [transcript] }),
  };
  return {
    key: 'audio',
    block: decodeAudio({ data: '' }),
    ...(typeof data === 'string' && { text: data }),
    ...asExtra('chat', { audio: extra }),
  };
}
