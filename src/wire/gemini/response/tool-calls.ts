import type { Json, JsonObject } from '../../../lib/json.ts';
import { randomText } from '../../../lib/ids.ts';
import type { ResponseBlocks } from '../../response-blocks.ts';
import { objectsOf, textOf } from '../../json-fields.ts';
import { isSignature, signatureBlock, signatureExtra } from '../call-signatures.ts';
import { PartialArguments } from './partial-arguments.ts';
import { onOneLine, sourceOf } from './json-source.ts';

/** No response calls more functions than this. */
const CALLS_MAX = 1_000;
const ID_CHARS = 24;
const NO_ARGUMENTS = '{}';

/** A call whose arguments are still coming. */
interface OpenCall {
  readonly index: number;
  readonly id: string;
  readonly pieces: PartialArguments;
  /** All of them at once, where they come so in the end. */
  input: string | undefined;
  /** Came after the call had begun. */
  signature: string | undefined;
}

/**
 * Writes the calls of one response. Most come complete, in one part; some in several, with arguments by path: a part with a
 * name begins such a call, one without `willContinue` ends it, and so does anything else that comes.
 */
export class ToolCalls {
  readonly #blocks: ResponseBlocks;
  readonly #ids = new Set<string>();
  #open: OpenCall | undefined;

  constructor(blocks: ResponseBlocks) {
    this.#blocks = blocks;
  }

  /** Whether the response calls any function of the caller. */
  get any(): boolean {
    return this.#ids.size > 0;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Whether a part goes on with the call that is open: one with a name begins another. */
  continues(call: JsonObject): boolean {
    return this.#open !== undefined && nameIn(call) === '';
  }

  /**
   * @param input the arguments as JSON text, where the part has them
   * @returns what could not be read, if anything
   */
  take(call: JsonObject, signature: string | undefined, input: string | undefined): string | undefined {
    if (!this.continues(call)) {
      this.end();
      const begun = this.#begin(call, signature);
      if (begun === undefined) return nameIn(call) === '' ? 'a call without a name' : 'one call too many';
      this.#open = begun;
    } else if (this.#open !== undefined) {
      this.#open.signature ??= signature;
    }
    const open = this.#open;
    if (open === undefined) return undefined;
    if (input !== undefined) open.input = input;
    const pieces: Json | undefined = call['partialArgs'];
    const lost = objectsOf(pieces).filter((piece) => !open.pieces.add(piece)).length;
    if (call['willContinue'] !== true) this.end();
    return lost > 0 ? 'a piece of the arguments of a call' : undefined;
  }

  /** Ends the call that is open. */
  end(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    this.#blocks.addDelta(open.index, open.input ?? open.pieces.write(), undefined);
    this.#blocks.end(open.index);
    if (open.signature !== undefined) writeWhole(this.#blocks, signatureBlock(open.signature, open.id));
  }

  /** The signature goes first, so that a store that keeps the order of blocks finds it right before its call. */
  #begin(call: JsonObject, signature: string | undefined): OpenCall | undefined {
    const name = nameIn(call);
    if (name === '' || this.#ids.size >= CALLS_MAX) return undefined;
    const id = this.#idOf(call);
    this.#ids.add(id);
    const signed = signature !== undefined && isSignature(signature);
    if (signed) writeWhole(this.#blocks, signatureBlock(signature, id));
    const extra = signed ? { extra: signatureExtra(signature) } : {};
    const index = this.#blocks.open({ type: 'tool-call', id, name, input: '', runBy: 'caller', ...extra });
    return { index, id, pieces: new PartialArguments(), input: undefined, signature: undefined };
  }

  /** Models before 3 give no ids. @spec translate-8 */
  #idOf(call: JsonObject): string {
    const given = textOf(call['id']) ?? '';
    return given === '' || this.#ids.has(given) ? madeId() : given;
  }
}

function nameIn(call: JsonObject): string {
  return textOf(call['name']) ?? '';
}

/** An id where the vendor has none. */
export function madeId(): string {
  return `call_${randomText(ID_CHARS)}`;
}

/** A block that is complete as it opens. */
export function writeWhole(blocks: ResponseBlocks, block: Parameters<ResponseBlocks['open']>[0]): void {
  blocks.end(blocks.open(block));
}

/** The arguments in a part as they stand in its text; those that are missing or null are none. */
export function argumentsIn(part: string | undefined): string {
  const source = part === undefined ? undefined : sourceOf(part, ['functionCall', 'args']);
  return source === undefined || source === 'null' ? NO_ARGUMENTS : onOneLine(source);
}
