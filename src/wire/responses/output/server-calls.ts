import type { OpaqueBlock, ToolCallBlock } from '../../../canonical/blocks.ts';
import type { ToolProgressEvent } from '../../../canonical/events.ts';
import type { GenerationRequest, Tool } from '../../../canonical/request.ts';
import type { McpToolName } from '../../../canonical/tools/server-call.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { fieldsOf } from '../../extra.ts';
import { objectsOf, textOf } from '../../json-fields.ts';
import { parseToolInputObject } from '../../gateway/tool-input.ts';
import { encodeMcpCall, encodeRunningCall, MCP_ENTRY, PICTURE_TYPE, SEARCH_TYPE } from '../server-tools.ts';
import type { BlockAddition, BlockTarget } from './block-target.ts';
import { HostedItem, pictureOf, searchAction } from './hosted-items.ts';
import type { Output } from './output.ts';

/** How the caller named the tools that the gateway runs, and what of them it wants to see. */
export interface ServerToolNames {
  /** Vendor names: the item is the vendor's. */
  readonly namesSearch: boolean;
  readonly namesPictures: boolean;
  /** Of MCP. */
  readonly namedServers: ReadonlySet<string>;
  readonly wantsSources: boolean;
  readonly wantsResults: boolean;
}

export function serverToolNamesOf(request: GenerationRequest | undefined): ServerToolNames {
  const entries = (request?.tools ?? []).map(entryOf);
  const types = entries.map((entry) => textOf(entry['type']) ?? '');
  const include = request?.response?.include;
  return {
    namesSearch: types.some((type) => type.startsWith('web_search')),
    namesPictures: types.includes('image_generation'),
    namedServers: new Set(
      entries.flatMap(({ type, server_label: server }) => (type === MCP_ENTRY ? (textOf(server) ?? []) : [])),
    ),
    wantsSources: include?.has('web_search_call.action.sources') === true,
    wantsResults: include?.has('web_search_call.results') === true,
  };
}

/** As the caller's entry has it; a search of a vendor's name has become the gateway's, and holds its entry. */
function entryOf(tool: Tool): JsonObject {
  if (tool.type === 'opaque') return tool.format === 'responses' ? tool.value : {};
  return fieldsOf(tool, 'responses') ?? {};
}

/** Calls of tools that the gateway runs. Their items begin in the order of the calls, and end with the results. */
export class ServerCalls {
  readonly #output: Output;
  readonly #names: ServerToolNames;
  readonly #running: ServerCallTarget[] = [];

  constructor(output: Output, names: ServerToolNames) {
    this.#output = output;
    this.#names = names;
  }

  /** A call has no result yet: what the model wrote behind it waits. */
  get isRunning(): boolean {
    return this.#running.length > 0;
  }

  start(block: ToolCallBlock): ServerCallTarget {
    const target = new ServerCallTarget(block, () => this.#beginComplete());
    this.#running.push(target);
    return target;
  }

  /** What a running call reports of itself. */
  report({ callId, step, fields }: ToolProgressEvent): string {
    return this.#running.find((running) => running.callId === callId)?.item?.report(step, fields) ?? '';
  }

  /** @returns `undefined` for an item that is no result of a running call */
  finish({ value }: OpaqueBlock): string | undefined {
    const callId = textOf(value['call_id']);
    const at = this.#running.findIndex((running) => running.callId === callId && running.type === value['type']);
    const [call] = at < 0 ? [] : this.#running.splice(at, 1);
    if (call === undefined) return undefined;
    const begun = call.item === undefined ? this.#begin(call) : '';
    return begun + (call.item?.end(this.#shown(value, call)) ?? '') + this.#beginComplete();
  }

  #beginComplete(): string {
    let frames = '';
    for (const call of this.#running) {
      if (!call.isComplete) break;
      frames += call.item === undefined ? this.#begin(call) : '';
    }
    return frames;
  }

  #begin(call: ServerCallTarget): string {
    const item = this.#shown(encodeRunningCall(call.type, call.callId, call.input), call);
    const isMcpCall = item['type'] !== call.type && call.mcp !== undefined;
    // Its arguments come in events of their own.
    call.item = new HostedItem(this.#output, isMcpCall ? { ...item, arguments: '' } : item);
    return call.item.begin() + (isMcpCall ? call.item.write(textOf(item['arguments']) ?? '') : '');
  }

  #shown(value: JsonObject, { mcp }: ServerCallTarget): JsonObject {
    const { namesSearch, namesPictures, namedServers } = this.#names;
    if (mcp !== undefined && namedServers.has(mcp.server)) return encodeMcpCall(mcp, value);
    if (value['type'] === SEARCH_TYPE && namesSearch) return this.#vendorSearch(value);
    return value['type'] === PICTURE_TYPE && namesPictures ? vendorPicture(value) : value;
  }

  #vendorSearch(value: JsonObject): JsonObject {
    const { wantsSources, wantsResults } = this.#names;
    const { call_id, arguments: input, action, result } = value;
    const { query, sources } = isJsonObject(action) ? action : {};
    const hits = typeof result === 'string' ? parseHits(result) : undefined;
    return {
      type: 'web_search_call',
      action: { ...searchAction(textOf(query) ?? ''), ...(wantsSources && sources !== undefined && { sources }) },
      // Both come back with them, so that the model reads the very same again.
      ...(wantsResults && hits !== undefined && { results: hits, call_id, arguments: input }),
    };
  }
}

function parseHits(result: string): readonly JsonObject[] | undefined {
  const hits: unknown = JSON.parse(result);
  return Array.isArray(hits) ? objectsOf(hits) : undefined;
}

/** Clients demand a text in `result`, even where there is no picture. */
function vendorPicture({ arguments: input, imageUrl, revisedPrompt, prompt }: JsonObject): JsonObject {
  const { data, format } = pictureOf(textOf(imageUrl) ?? '');
  const { size, quality, background } = parseToolInputObject(textOf(input) ?? '');
  return {
    type: 'image_generation_call',
    result: data,
    ...(prompt !== undefined && { prompt }),
    ...(revisedPrompt !== undefined && { revised_prompt: revisedPrompt }),
    ...(format !== undefined && { output_format: format }),
    ...(size !== undefined && { size }),
    ...(quality !== undefined && { quality }),
    ...(background !== undefined && { background }),
  };
}

/** One call, while its arguments come. */
export class ServerCallTarget implements BlockTarget {
  readonly callId: string;
  readonly type: string;
  readonly mcp: McpToolName | undefined;
  readonly #onComplete: () => string;
  input: string;
  isComplete = false;
  item: HostedItem | undefined;

  constructor({ id, name, input, mcp }: ToolCallBlock, onComplete: () => string) {
    this.callId = id;
    this.type = name;
    this.mcp = mcp;
    this.input = input;
    this.#onComplete = onComplete;
  }

  add({ text }: BlockAddition): string {
    this.input += text ?? '';
    return '';
  }

  end(): string {
    this.isComplete = true;
    return this.#onComplete();
  }
}
