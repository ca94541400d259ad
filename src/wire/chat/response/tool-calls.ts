import { randomText } from '../../../lib/ids.ts';
import { isJsonObject, parseJson, type JsonObject } from '../../../lib/json.ts';
import type { ResponseBlocks } from '../../response-blocks.ts';
import { asExtra, nestRest, restOf, withExtra } from '../../extra.ts';
import { textOf } from '../../json-fields.ts';
import { argumentsOf } from '../../gateway/tool-input.ts';

/** No response calls more functions than this; a stream of empty calls must not fill the memory. */
const CALLS_MAX = 1_000;
const ID_CHARS = 24;
const CALL_MEMBERS: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function']);
const FUNCTION_MEMBERS: ReadonlySet<string> = new Set(['name', 'arguments']);

/** One call as far as it has come. */
interface Call {
  id: string;
  name: string;
  input: string;
  /** Index of its block; `undefined`: not opened, because more of the name may come. */
  block: number | undefined;
  ended: boolean;
  rest: JsonObject | undefined;
}

interface PieceTexts {
  readonly id: string;
  readonly name: string;
  readonly input: string;
}

/**
 * Puts tool calls together from pieces, however an upstream labels them: with interleaved indexes, with none, with index
 * 0 for all of them and different ids, with names in fragments or repeated, with arguments as an object. A call's block
 * opens once its name is complete. @spec translate-31
 */
export class ToolCalls {
  readonly #blocks: ResponseBlocks;
  /** Absent: no call has come, as in most responses. */
  #bySlot: Map<number, Call> | undefined;
  #open: Call[] = [];
  #taken = 0;
  #opened = 0;

  constructor(blocks: ResponseBlocks) {
    this.#blocks = blocks;
  }

  /** Whether a call has come that is not ended. */
  get isOpen(): boolean {
    return this.#open.length > 0;
  }

  /** Whether any call has been given on. */
  get any(): boolean {
    return this.#opened > 0;
  }

  /** Whether the arguments of every open call are complete. */
  areComplete(): boolean {
    return this.#open.every((call) => call.block !== undefined && isComplete(call));
  }

  /**
   * @param position of the piece in its chunk, for upstreams that give no index
   * @returns false when the piece belongs to a call that has ended
   */
  take(piece: JsonObject, position: number): boolean {
    const definition = isJsonObject(piece['function']) ? piece['function'] : {};
    const texts: PieceTexts = {
      id: textOf(piece['id']) ?? '',
      name: textOf(definition['name']) ?? '',
      input: argumentsOf(definition['arguments']),
    };
    const slot = typeof piece['index'] === 'number' ? piece['index'] : position;
    const found = this.#find(slot, texts);
    if (found?.ended === true || (found === undefined && this.#taken >= CALLS_MAX)) return false;
    const call = found ?? this.#create(slot);
    if (call.id === '') call.id = texts.id;
    // A name that is repeated is no fragment of a longer one.
    if (texts.name !== call.name && call.block === undefined) call.name += texts.name;
    this.#add(
      call,
      texts.input,
      nestRest(restOf(piece, CALL_MEMBERS), 'function', restOf(definition, FUNCTION_MEMBERS)),
    );
    return true;
  }

  /** Ends all open calls. Gives the number of those that never got a name. */
  endAll(): number {
    let nameless = 0;
    for (const call of this.#open) {
      this.#give(call);
      call.ended = true;
      if (call.block === undefined) nameless += 1;
      else this.#blocks.end(call.block);
    }
    this.#open = [];
    return nameless;
  }

  #find(slot: number, texts: PieceTexts): Call | undefined {
    const same = texts.id === '' ? undefined : this.#open.find((call) => call.id === texts.id);
    if (same !== undefined) return same;
    const call = this.#bySlot?.get(slot);
    return call !== undefined && !startsAnother(call, texts) ? call : undefined;
  }

  #create(slot: number): Call {
    // Calls open in their order: nothing more comes for the names of the earlier ones.
    for (const earlier of this.#open) this.#give(earlier);
    const call: Call = { id: '', name: '', input: '', block: undefined, ended: false, rest: undefined };
    this.#bySlot = (this.#bySlot ?? new Map<number, Call>()).set(slot, call);
    this.#open.push(call);
    this.#taken += 1;
    return call;
  }

  #add(call: Call, input: string, rest: JsonObject | undefined): void {
    call.input += input;
    if (call.block !== undefined) {
      if (input !== '' || rest !== undefined) this.#blocks.addDelta(call.block, input, asExtra('chat', rest).extra);
      return;
    }
    if (rest !== undefined) call.rest = withExtra(rest, call.rest);
    if (call.input !== '') this.#give(call);
  }

  /** Opens the block of a call whose name is known, with the input that has come. */
  #give(call: Call): void {
    if (call.block !== undefined || call.name === '') return;
    if (call.id === '') call.id = `call_${randomText(ID_CHARS)}`;
    const { id, name, input } = call;
    call.block = this.#blocks.open({
      type: 'tool-call',
      id,
      name,
      input: '',
      runBy: 'caller',
      ...asExtra('chat', call.rest),
    });
    this.#opened += 1;
    if (input !== '') this.#blocks.addDelta(call.block, input, undefined);
  }
}

/** Whether a piece for a used slot begins a call of its own. */
function startsAnother(call: Call, { id, name, input }: PieceTexts): boolean {
  const otherId = id !== '' && call.id !== '' && id !== call.id;
  if (otherId) return name !== '' || isComplete(call);
  // Without ids only a name after complete arguments shows a new call; before them it is a fragment or a repetition. What has no name
  // yet gets one.
  const renamed = name !== '' && call.name !== '' && (name !== call.name || input !== '');
  return id === '' && renamed && isComplete(call);
}

/** Arguments are an object, so nothing can follow its end. */
function isComplete({ input }: Call): boolean {
  return input.trimEnd().endsWith('}') && parseJson(input) !== undefined;
}
