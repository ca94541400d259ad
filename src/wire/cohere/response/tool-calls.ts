import { randomText } from '../../../lib/ids.ts';
import type { Json } from '../../../lib/json.ts';
import type { ResponseBlocks } from '../../response-blocks.ts';
import { objectOf, objectsOf, textOf } from '../../json-fields.ts';
import { argumentsOf } from '../../gateway/tool-input.ts';

/** No response calls more functions than this; a stream of empty calls must not fill the memory. */
const CALLS_MAX = 1_000;
const ID_CHARS = 24;
/** White space before the arguments that is waited through. */
const PENDING_CHARS_MAX = 100;
const NO_ARGUMENTS = '{}';

interface OpenCall {
  readonly block: number;
  /** Arguments that may still turn out to be none; `undefined` once they are some. */
  pending: string | undefined;
}

/** Writes the tool calls of a response. The format opens and ends each by its index. */
export class ToolCalls {
  readonly #blocks: ResponseBlocks;
  readonly #open = new Map<number, OpenCall>();
  #opened = 0;

  constructor(blocks: ResponseBlocks) {
    this.#blocks = blocks;
  }

  /** Whether any call has been given on. */
  get any(): boolean {
    return this.#opened > 0;
  }

  /** @returns false for a call that cannot be given on: one without a name, or one too many */
  start(index: number, value: Json | undefined): boolean {
    const call = objectOf(value) ?? objectsOf(value)[0];
    const definition = objectOf(call?.['function']);
    const name = textOf(definition?.['name']) ?? '';
    if (name === '' || this.#opened >= CALLS_MAX) return false;
    this.end(index);
    const id = textOf(call?.['id']) || `call_${randomText(ID_CHARS)}`;
    const block = this.#blocks.open({ type: 'tool-call', id, name, input: '', runBy: 'caller' });
    this.#opened += 1;
    this.#open.set(index, { block, pending: '' });
    return this.add(index, value);
  }

  /** @returns false when the call is not open */
  add(index: number, value: Json | undefined): boolean {
    const call = this.#open.get(index);
    if (call === undefined) return false;
    const given = objectOf(value) ?? objectsOf(value)[0];
    const piece = argumentsOf(objectOf(given?.['function'])?.['arguments']);
    if (call.pending === undefined) {
      if (piece !== '') this.#blocks.addDelta(call.block, piece, undefined);
      return true;
    }
    call.pending += piece;
    if ('null'.startsWith(call.pending.trim()) && call.pending.length < PENDING_CHARS_MAX) return true;
    this.#blocks.addDelta(call.block, call.pending, undefined);
    call.pending = undefined;
    return true;
  }

  end(index: number): void {
    const call = this.#open.get(index);
    if (call === undefined) return;
    this.#open.delete(index);
    // A tool without parameters is called with no text, or with `null`: vercel/ai, fixtures of @ai-sdk/cohere (2026-08).
    const pending = call.pending?.trim();
    if (pending !== undefined)
      this.#blocks.addDelta(call.block, pending === '' || pending === 'null' ? NO_ARGUMENTS : pending, undefined);
    this.#blocks.end(call.block);
  }

  endAll(): void {
    for (const index of this.#open.keys()) this.end(index);
  }
}
