import type { ReasoningBlock, ToolCallBlock } from '../../../canonical/blocks.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { parseToolInputObject } from '../../gateway/tool-input.ts';
import { nameSpeaker, type LocatedBlock, type LocatedTurn } from '../../gateway/source/source-positions.ts';
import { asSignature, GEMINI_FAMILY, isSignature, MISSING_SIGNATURE, signaturesOfCalls } from '../call-signatures.ts';
import type { EncodeContext } from './encode-context.ts';
import { encodeParts, warnOfBlock, type WirePart } from './content.ts';
import { geminiToolName } from './tool-names.ts';

/** A call as it is sent, and what the caller knows it by. */
export interface SentCall {
  /** The caller's own. */
  readonly id: string;
  /** As sent; absent where the model pairs calls and results by their order. */
  readonly sentId?: string;
  readonly name: string;
  readonly path: string;
}

export interface ModelContent {
  readonly parts: readonly WirePart[];
  readonly calls: readonly SentCall[];
}

/** Encodes assistant turns in a row as one content. @spec translate-3 */
export function encodeModelTurns(turns: readonly LocatedTurn[], context: EncodeContext): ModelContent {
  const writer = new ModelWriter(context);
  for (const placed of turns) writer.write(placed);
  return writer.content();
}

/**
 * Puts each thought signature back onto the part that it came on. One with the id of a call belongs to that call. One
 * without stood right before its part, where the caller keeps the order (messages); where the caller keeps all reasoning
 * in front of the text (chat), the first goes to the first part that may have one. What finds no part goes alone, on an
 * empty text, as the vendor itself sends one after the last text. Signatures are never joined or moved otherwise.
 * ai.google.dev "Thought signatures", read 2026-11; @spec reasoning-16
 */
class ModelWriter {
  readonly #context: EncodeContext;
  readonly #parts: WirePart[] = [];
  readonly #calls: SentCall[] = [];
  readonly #usedIds = new Set<string>();
  #ofCalls: ReadonlyMap<string, string> = new Map();
  /** Signatures whose part has not come. */
  #waiting: string[] = [];

  constructor(context: EncodeContext) {
    this.#context = context;
  }

  content(): ModelContent {
    return { parts: this.#parts, calls: this.#calls };
  }

  write(placed: LocatedTurn): void {
    this.#ofCalls = signaturesOfCalls(placed.turn.blocks);
    for (const entry of nameSpeaker(placed)) this.#writeBlock(entry);
    this.#flush();
  }

  #writeBlock(placed: LocatedBlock): void {
    const { block, path } = placed;
    const keepsOrder = this.#context.request.format !== 'chat';
    if (block.type === 'reasoning') {
      this.#writeReasoning(block, path, keepsOrder);
      return;
    }
    if (block.type === 'tool-call' && block.runBy === 'caller') {
      this.#writeCall(block, path, keepsOrder);
      return;
    }
    const parts = encodeParts([placed], this.#context, warnOfOther);
    for (const [index, part] of parts.entries()) {
      const signature = index === 0 ? this.#waiting.shift() : undefined;
      this.#parts.push(signature === undefined ? part : { ...part, thoughtSignature: signature });
    }
  }

  #writeReasoning(block: ReasoningBlock, path: string, keepsOrder: boolean): void {
    const signature = asSignature(block);
    if (signature !== undefined) {
      this.#takeSignature(signature, path, keepsOrder);
    } else if (block.family === GEMINI_FAMILY && block.form !== 'encrypted') {
      const signed = block.signature !== undefined && isSignature(block.signature);
      if (block.text === '' && !signed) return;
      this.#parts.push({
        text: block.text,
        thought: true,
        ...(signed && { thoughtSignature: block.signature }),
      });
    } else {
      this.#context.warn('content-dropped', path, 'reasoning of another model cannot be sent back to this one');
    }
  }

  #takeSignature({ id, text }: ReasoningBlock, path: string, keepsOrder: boolean): void {
    if (!isSignature(text)) {
      this.#context.warn('content-dropped', path, 'what should be a thought signature is none');
      return;
    }
    if (id !== undefined && this.#ofCalls.has(id)) return;
    if (id !== undefined) {
      this.#context.warn('content-dropped', path, 'the thought signature of a call that is not there any more');
      return;
    }
    if (keepsOrder) this.#flush();
    this.#waiting.push(text);
  }

  #writeCall(block: ToolCallBlock, path: string, keepsOrder: boolean): void {
    const signature = this.#ofCalls.get(block.id) ?? this.#nextForCall(keepsOrder) ?? this.#stopgap(path);
    const call = this.#nameCall(block, path);
    this.#calls.push(call);
    const functionCall: JsonObject = {
      ...(call.sentId !== undefined && { id: call.sentId }),
      name: call.name,
      args: parseToolInputObject(block.input),
    };
    this.#parts.push({ functionCall, ...(signature !== undefined && { thoughtSignature: signature }) });
  }

  /** Only the first of several calls has one. Where the order is kept, the signature of a call bears its id. */
  #nextForCall(keepsOrder: boolean): string | undefined {
    if (keepsOrder) this.#flush();
    return this.#calls.length === 0 ? this.#waiting.shift() : undefined;
  }

  /** @spec reasoning-21 */
  #stopgap(path: string): string | undefined {
    if (this.#context.facts.signedCalls !== true || this.#calls.length > 0) return undefined;
    this.#context.warnOnce(
      'field-changed',
      path,
      'its thought signature is gone; the provider is notified that it is missing',
    );
    return MISSING_SIGNATURE;
  }

  #nameCall({ id, name }: ToolCallBlock, path: string): SentCall {
    const call = { id, name: geminiToolName(name), path };
    if (this.#context.facts.callIds !== true) return call;
    const stem = id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, ID_CHARS_MAX);
    let sentId = stem;
    for (let copy = 2; this.#usedIds.has(sentId); copy++) sentId = `${stem}_${copy}`;
    this.#usedIds.add(sentId);
    return { ...call, sentId };
  }

  #flush(): void {
    for (const signature of this.#waiting) this.#parts.push({ text: '', thoughtSignature: signature });
    this.#waiting = [];
  }
}

/** As other clients of the vendor shorten them: ids only have to match within one request. */
const ID_CHARS_MAX = 64;

function warnOfOther(placed: LocatedBlock, context: EncodeContext): void {
  const { block, path } = placed;
  if (block.type === 'tool-call')
    context.warn('content-dropped', path, 'a tool that a provider ran cannot be sent in this format');
  else if (block.type === 'media')
    context.warn('content-dropped', path, 'a file stored elsewhere cannot be sent in this format');
  else warnOfBlock(placed, context);
}
