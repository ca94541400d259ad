import type { MediaBlock, OpaqueBlock, ToolCallBlock } from '../../../canonical/blocks.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { splitDataUrl } from '../../../lib/net/data-url.ts';
import { fieldsOf } from '../../extra.ts';
import { textOf } from '../../json-fields.ts';
import { parseToolInputObject } from '../../gateway/tool-input.ts';
import type { BlockAddition, BlockTarget } from './block-target.ts';
import type { DeltaFrames } from './event-frames.ts';
import type { ItemStatus, Output, OutputItem } from './output.ts';

/** Events about how far an item of a tool at the provider is. */
interface Progress {
  readonly begin: readonly string[];
  readonly end?: string;
  /** Where the tool failed. */
  readonly failed?: string;
  /** The member that comes in deltas, and the events that bring it. */
  readonly text?: { readonly member: string; readonly event: string };
  /** How its events begin, where that is not the type of the item: clients know them only if they ask for them. */
  readonly extended?: string;
}

const PROGRESS: Readonly<Record<string, Progress>> = {
  web_search_call: { begin: ['in_progress', 'searching'], end: 'completed' },
  file_search_call: { begin: ['in_progress', 'searching'], end: 'completed' },
  image_generation_call: { begin: ['in_progress', 'generating'], end: 'completed' },
  'service:fusion': { begin: ['in_progress'], end: 'completed', extended: 'fusion_call' },
  mcp_list_tools: { begin: ['in_progress'], end: 'completed', failed: 'failed' },
  mcp_call: {
    begin: ['in_progress'],
    end: 'completed',
    failed: 'failed',
    text: { member: 'arguments', event: 'mcp_call_arguments' },
  },
  code_interpreter_call: {
    begin: ['in_progress', 'interpreting'],
    end: 'completed',
    text: { member: 'code', event: 'code_interpreter_call_code' },
  },
};

/** The item that stands for a search of another vendor's, which callers know by this name. */
const WEB_SEARCH = 'web_search';

/** Whether a call that ran at the provider can be shown. */
export function isHostedCall(block: ToolCallBlock): boolean {
  return block.runBy === 'upstream' && (block.extra?.format === 'responses' || block.name === WEB_SEARCH);
}

/** An item of a tool that the provider or the gateway runs, with what is reported of its progress. */
export class HostedItem {
  readonly #item: OutputItem;
  readonly #progress: Progress;
  readonly #deltas: DeltaFrames | undefined;
  readonly #type: string;
  /** How the names of its events begin. */
  readonly #stem: string;
  /** Vendors refuse members that they do not know when an item comes back. */
  readonly #hasStatus: boolean;
  #value: JsonObject;
  #text = '';

  /** @param value the item as it begins, without `status` @param hasStatus its kind has one */
  constructor(output: Output, value: JsonObject, hasStatus = true) {
    this.#hasStatus = hasStatus;
    const type = textOf(value['type']) ?? '';
    this.#type = type;
    this.#value = value;
    this.#progress = progressOf(type, output);
    this.#stem = this.#progress.extended ?? type;
    const isSealed = value['encrypted_content'] !== undefined;
    const id = output.idFor(type, textOf(value['id']), isSealed);
    this.#item = output.add(id, (status, itemId) => this.#format(status, itemId));
    const { text } = this.#progress;
    const at = { item_id: id, output_index: this.#item.index };
    this.#deltas = text && output.frames.deltas(`${text.event}.delta`, at, '');
  }

  begin(): string {
    return this.#item.begin() + this.#progress.begin.map((step) => this.#event(step)).join('');
  }

  /** More of the code or the arguments. */
  write(text: string): string {
    if (text === '' || this.#deltas === undefined) return '';
    this.#text += text;
    return this.#deltas(text);
  }

  /** @param value the item as it ended; its `status` counts, `completed` where there is none */
  end(value: JsonObject): string {
    const { text, end, failed } = this.#progress;
    const whole = text && textOf(value[text.member]);
    this.#value = value;
    let frames = '';
    if (text !== undefined && whole !== undefined) {
      if (whole.startsWith(this.#text)) frames += this.write(whole.slice(this.#text.length));
      frames += this.#item.event(`${text.event}.done`, { [text.member]: whole });
    }
    const hasFailed = value['status'] === 'failed' || (failed !== undefined && typeof value['error'] === 'string');
    const step = hasFailed ? failed : end;
    if (step !== undefined) frames += this.#event(step);
    return frames + this.#item.end('completed');
  }

  /** What the tool itself reports, for callers that ask for such events. */
  report(step: string, fields: JsonObject): string {
    return this.#progress.extended === undefined ? '' : this.#event(step, fields);
  }

  #event(step: string, fields: JsonObject = {}): string {
    return this.#item.event(`${this.#stem}.${step}`, fields);
  }

  /** The vendor's own status stands where it has one: some items know others. */
  #format(status: ItemStatus, id: string): JsonObject {
    const { id: _id, type: _type, status: own, ...members } = this.#value;
    return {
      id,
      type: this.#type,
      ...members,
      ...(this.#hasStatus && { status: status === 'completed' && typeof own === 'string' ? own : status }),
    };
  }
}

const NO_PROGRESS: Progress = { begin: [] };

function progressOf(type: string, { isExtended }: Output): Progress {
  const progress = Object.hasOwn(PROGRESS, type) ? PROGRESS[type] : undefined;
  return progress === undefined || (progress.extended !== undefined && !isExtended) ? NO_PROGRESS : progress;
}

/** A call of a tool that the provider runs. */
export class HostedCall implements BlockTarget {
  readonly #block: ToolCallBlock;
  readonly #item: HostedItem;
  readonly #isNative: boolean;
  #input = '';
  #wire: JsonObject;

  constructor(output: Output, block: ToolCallBlock) {
    this.#block = block;
    this.#wire = fieldsOf(block, 'responses') ?? {};
    this.#isNative = block.extra?.format === 'responses';
    const { id, type, ...members } = this.#wire;
    const opening = this.#isNative
      ? { id, type: type ?? `${block.name}_call`, ...members }
      : { type: 'web_search_call' };
    this.#item = new HostedItem(output, opening);
  }

  begin(): string {
    return this.#item.begin();
  }

  add({ text, extra }: BlockAddition): string {
    this.#input += text ?? '';
    if (extra?.format === 'responses') this.#wire = { ...this.#wire, ...extra.fields };
    return '';
  }

  end(): string {
    return this.#item.end(this.#isNative ? this.#wire : { action: this.#searchAction() });
  }

  #searchAction(): JsonObject {
    const { query } = parseToolInputObject(this.#block.input + this.#input);
    return searchAction(textOf(query) ?? '');
  }
}

export function searchAction(query: string): JsonObject {
  return { type: 'search', query, queries: [query] };
}

/** An item that only this format knows, whole. */
export function encodeOpaqueItem(output: Output, { value }: OpaqueBlock): string {
  const { status, encrypted_content: sealed, ...members } = value;
  const opening = { ...members, ...(sealed !== undefined && { encrypted_content: '' }) };
  const item = new HostedItem(output, opening, status !== undefined);
  return item.begin() + item.end(value);
}

/** A picture that the model made itself. */
export class PictureTarget implements BlockTarget {
  readonly #output: Output;
  readonly #block: MediaBlock;
  #data = '';

  constructor(output: Output, block: MediaBlock) {
    this.#output = output;
    this.#block = block;
  }

  add({ text }: BlockAddition): string {
    this.#data += text ?? '';
    return '';
  }

  end(): string {
    const { source } = this.#block;
    const result =
      source.type === 'base64' ? source.data + this.#data : source.type === 'url' ? pictureOf(source.url).data : '';
    const format = source.type === 'base64' ? source.mediaType.replace(/^image\//, '') : undefined;
    const known = fieldsOf(this.#block, 'responses') ?? {};
    const item = new HostedItem(this.#output, { type: 'image_generation_call', id: known['id'], result: '' });
    const { id: _id, ...members } = known;
    return item.begin() + item.end({ ...(format !== undefined && { output_format: format }), ...members, result });
  }
}

/** The picture at an address that holds it; another address stands as it is. */
export function pictureOf(url: string): { readonly data: string; readonly format?: string } {
  const held = splitDataUrl(url);
  return held === undefined ? { data: url } : { data: held.data, format: held.mediaType.replace(/^image\//, '') };
}
