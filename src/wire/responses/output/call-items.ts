import type { ToolCallBlock } from '../../../canonical/blocks.ts';
import type { FunctionTool } from '../../../canonical/request.ts';
import { randomText } from '../../../lib/ids.ts';
import { parseJson, type Json, type JsonObject } from '../../../lib/json.ts';
import { callItemOf, type NamelessKind } from '../caller-tools.ts';
import { CustomInputDecoder } from '../../gateway/custom-tools/custom-input.ts';
import type { BlockAddition, BlockTarget } from './block-target.ts';
import type { DeltaFrames } from './event-frames.ts';
import type { ItemStatus, Output, OutputItem } from './output.ts';

const CALL_ID_CHARS = 24;
const NO_ARGUMENTS = '{}';
const DIFF_EVENT = 'apply_patch_call_operation_diff';

/**
 * A call for the caller to run. Its end on the wire waits until the response goes on or ends well: a client runs what has
 * ended, and a call that was cut short must not be run.
 */
export interface CallItem extends BlockTarget {
  begin(): string;
  /** All of the block has come. */
  readonly isComplete: boolean;
  /** The model wrote the arguments to their end. */
  readonly isWhole: boolean;
  /** What follows must wait until the block is complete, because only then the kind of the item is known. */
  readonly isExclusive: boolean;
  /** The end on the wire. */
  settle(): string;
  heartbeat(): string;
}

/** How the caller knows the tool of a call. */
export type NamedTool = Pick<FunctionTool, 'kind' | 'namespaced'>;

export function createCallItem(output: Output, block: ToolCallBlock, tool: NamedTool | undefined): CallItem {
  const { kind, namespaced } = tool ?? {};
  const call: Call = {
    callId: block.id === '' ? `call_${randomText(CALL_ID_CHARS)}` : block.id,
    name: namespaced?.name ?? block.name,
    namespace: namespaced?.namespace,
  };
  if (kind === undefined) return new FunctionCallItem(output, call);
  return kind === 'custom' ? new CustomCallItem(output, call) : new BuiltCallItem(output, call, kind);
}

interface Call {
  readonly callId: string;
  readonly name: string;
  readonly namespace: string | undefined;
}

class FunctionCallItem implements CallItem {
  readonly isExclusive = false;
  readonly #output: Output;
  readonly #call: Call;
  #item: OutputItem | undefined;
  #deltas: DeltaFrames | undefined;
  #input = '';
  isComplete = false;

  constructor(output: Output, call: Call) {
    this.#output = output;
    this.#call = call;
  }

  get isWhole(): boolean {
    return isWholeJson(this.#input);
  }

  begin(): string {
    this.#item = this.#output.add(this.#output.idFor('function_call'), (status, id) => this.#format(status, id));
    const { id, index } = this.#item;
    this.#deltas = this.#output.frames.deltas(
      'function_call_arguments.delta',
      { item_id: id, output_index: index },
      '',
    );
    return this.#item.begin();
  }

  add({ text }: BlockAddition): string {
    if (text === undefined || text === '') return '';
    this.#input += text;
    return this.#deltas?.(text) ?? '';
  }

  end(): string {
    this.isComplete = true;
    return '';
  }

  settle(): string {
    if (this.#item === undefined) return '';
    if (this.#input === '') this.#input = NO_ARGUMENTS;
    const { name } = this.#call;
    const done = this.#item.event('function_call_arguments.done', { arguments: this.#input, name });
    return done + this.#item.end('completed');
  }

  heartbeat(): string {
    return this.isComplete ? '' : (this.#deltas?.('') ?? '');
  }

  #format(status: ItemStatus, id: string): JsonObject {
    return { id, type: 'function_call', ...encodeName(this.#call), arguments: this.#input, status };
  }
}

/** A custom tool, whose input is a text. The model wrote it inside of JSON. */
class CustomCallItem implements CallItem {
  readonly isExclusive = false;
  readonly #output: Output;
  readonly #call: Call;
  readonly #decoder = new CustomInputDecoder();
  #item: OutputItem | undefined;
  #deltas: DeltaFrames | undefined;
  #json = '';
  #input = '';
  isComplete = false;

  constructor(output: Output, call: Call) {
    this.#output = output;
    this.#call = call;
  }

  get isWhole(): boolean {
    return isWholeJson(this.#json);
  }

  begin(): string {
    this.#item = this.#output.add(this.#output.idFor('custom_tool_call'), (status, id) => this.#format(status, id));
    const { id, index } = this.#item;
    this.#deltas = this.#output.frames.deltas('custom_tool_call_input.delta', { item_id: id, output_index: index }, '');
    return this.#item.begin();
  }

  add({ text }: BlockAddition): string {
    if (text === undefined || text === '') return '';
    this.#json += text;
    return this.#write(this.#decoder.push(text));
  }

  end(): string {
    if (this.isComplete) return '';
    this.isComplete = true;
    return this.#write(this.#decoder.end());
  }

  settle(): string {
    if (this.#item === undefined) return '';
    const last = this.end();
    const done = this.#item.event('custom_tool_call_input.done', { input: this.#input });
    return last + done + this.#item.end('completed');
  }

  heartbeat(): string {
    return this.isComplete ? '' : (this.#deltas?.('') ?? '');
  }

  #write(text: string): string {
    if (text === '') return '';
    this.#input += text;
    return this.#deltas?.(text) ?? '';
  }

  #format(status: ItemStatus, id: string): JsonObject {
    return { id, type: 'custom_tool_call', ...encodeName(this.#call), input: this.#input, status };
  }
}

/** A tool that has an item of its own kind, which is made of the arguments when they are complete. */
class BuiltCallItem implements CallItem {
  readonly #output: Output;
  readonly #call: Call;
  readonly #kind: NamelessKind;
  #item: OutputItem | undefined;
  /** Arguments that do not fit: the client refuses the call with a result. */
  #plain: FunctionCallItem | undefined;
  #input = '';
  isComplete = false;

  constructor(output: Output, call: Call, kind: NamelessKind) {
    this.#output = output;
    this.#call = call;
    this.#kind = kind;
  }

  get isExclusive(): boolean {
    return !this.isComplete;
  }

  get isWhole(): boolean {
    return isWholeJson(this.#input);
  }

  begin(): string {
    return '';
  }

  add({ text }: BlockAddition): string {
    this.#input += text ?? '';
    return '';
  }

  end(): string {
    if (this.isComplete) return '';
    this.isComplete = true;
    const built = callItemOf(this.#kind, { ...this.#call, input: this.#input });
    if (built === undefined) return this.#fallBack();
    const { type, ...members } = built;
    this.#item = this.#output.add(this.#output.idFor(`${this.#kind}_call`), (status, id) => ({
      id,
      type,
      ...(status === 'in_progress' ? withoutArguments(members) : members),
      status,
    }));
    return this.#item.begin() + this.#writeDiff(members['operation']);
  }

  /** Callers that ask for it get the diff of a patch as an event of its own, too. */
  #writeDiff(operation: Json | undefined): string {
    const diff = isObject(operation) ? operation['diff'] : undefined;
    if (!this.#output.isExtended || this.#item === undefined || typeof diff !== 'string') return '';
    const delta = diff === '' ? '' : this.#item.event(`${DIFF_EVENT}.delta`, { delta: diff });
    return delta + this.#item.event(`${DIFF_EVENT}.done`, { diff });
  }

  settle(): string {
    const frames = this.end();
    return frames + (this.#plain?.settle() ?? this.#item?.end('completed') ?? '');
  }

  heartbeat(): string {
    return '';
  }

  #fallBack(): string {
    this.#plain = new FunctionCallItem(this.#output, this.#call);
    return this.#plain.begin() + this.#plain.add({ text: this.#input });
  }
}

/** The item as it begins: nothing may be run of it yet. */
function withoutArguments(members: JsonObject): JsonObject {
  const { action, operation, arguments: given, ...rest } = members;
  const emptied = { ...rest } as Record<string, JsonObject[string]>;
  if (isObject(action)) emptied['action'] = emptyLists(action);
  if (isObject(operation))
    emptied['operation'] = { ...operation, ...(operation['diff'] !== undefined && { diff: '' }) };
  if (given !== undefined) emptied['arguments'] = {};
  return emptied;
}

function emptyLists(action: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(action).map(([name, value]) => [name, Array.isArray(value) ? [] : value]));
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function encodeName({ callId, name, namespace }: Call): JsonObject {
  return { call_id: callId, name, ...(namespace !== undefined && { namespace }) };
}

/** A call without arguments is whole, too. */
function isWholeJson(text: string): boolean {
  return text === '' || parseJson(text) !== undefined;
}
