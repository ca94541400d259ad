import type { Block, ReasoningBlock } from '../../../canonical/blocks.ts';
import type { Extra } from '../../../canonical/extra.ts';
import { unreachable } from '../../../lib/assert.ts';
import { randomText } from '../../../lib/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { itemsOf, nameOf, objectOf, objectsOf, textOf } from '../../json-fields.ts';
import { asExtra, restOf } from '../../extra.ts';
import { decodeAnnotation } from './citations.ts';
import { missingText, partOf, type Item, type Part } from './items.ts';
import type { BlockLanes, Lane } from './blocks-in.ts';
import { callKindOf, calledName, type CallKind } from './tool-calls.ts';
import type { ResponsesDialect } from '../dialect.ts';
import { decodeLogprobs } from './logprobs.ts';

/** What an item of text is made of. Each part becomes a block of its own. */
export type PartKind = 'text' | 'refusal' | 'summary' | 'thought';

const INPUT = 'input';
/** Of a response that is longer, only the deltas of the rest count: nothing is made good when it is done. */
const RECEIVED_CHARS_MAX = 16 * 1_024 * 1_024;
const ID_CHARS = 24;
const CALL_MEMBERS: ReadonlySet<string> = new Set([
  'type',
  'id',
  'call_id',
  'name',
  'namespace',
  'status',
  'arguments',
  'input',
]);
const PICTURE_MEMBERS: ReadonlySet<string> = new Set(['type', 'result', 'status']);
const ADDRESS = /^https?:\/\//;

/** Items about the upstream's own setup, which are no part of the response. */
const QUIET_ITEMS: ReadonlySet<string> = new Set([
  'mcp_list_tools',
  'tool_search_output',
  'additional_tools',
  'compaction',
  'configuration_update',
]);

/** Turns output items into blocks, from their deltas or from the items themselves. @spec reasoning-22 */
export class ItemReader {
  readonly #lanes: BlockLanes;
  readonly #dialect: ResponsesDialect;
  readonly #skip: (what: string) => void;
  /** Some call is the caller's to run. */
  calledTools = false;
  refused = false;
  /** Characters that all parts have received. */
  #received = 0;

  constructor(lanes: BlockLanes, dialect: ResponsesDialect, skip: (what: string) => void) {
    this.#lanes = lanes;
    this.#dialect = dialect;
    this.#skip = skip;
  }

  /** The item begins. Calls are shown at once; the others with their first content. */
  open(item: Item, wire: JsonObject): void {
    const kind = this.#callKindOf(item);
    const part = kind && partOf(item, INPUT);
    if (kind !== undefined && part !== undefined) this.#openCall(item, part, kind, wire);
  }

  growText(item: Item, kind: PartKind, index: number, delta: string, logprobs: Json | undefined): void {
    const part = this.#partOf(item, `${kind} ${index}`);
    const extra = logprobs === undefined ? undefined : decodeLogprobs(logprobs);
    if (part !== undefined) this.#write(item, kind, part, delta, extra);
  }

  /** @param wire with all of the `text`, and maybe with `annotations` and `logprobs` */
  endText(item: Item, kind: PartKind, index: number, wire: JsonObject): void {
    const part = this.#partOf(item, `${kind} ${index}`);
    if (part === undefined) return;
    const late = part.hasLogprobs ? undefined : decodeLogprobs(wire['logprobs']);
    this.#write(item, kind, part, missingText(part, textOf(wire['text']) ?? ''), late);
    for (const annotation of objectsOf(wire['annotations']).slice(part.citations)) this.#cite(part, annotation);
    if (part.lane !== undefined && !part.lane.ended) this.#lanes.complete(part.lane);
  }

  /** @param wire one entry of an item's `content` */
  endPart(item: Item, index: number, wire: JsonObject): void {
    switch (textOf(wire['type']) ?? '') {
      case 'output_text':
      case 'text':
        this.endText(item, 'text', index, wire);
        return;
      case 'refusal':
        this.endText(item, 'refusal', index, { text: wire['refusal'] });
        return;
      case 'reasoning_text':
        this.endText(item, 'thought', index, { text: wire['text'] });
        return;
      default:
        this.#skip(`a content part of type ${nameOf(wire['type'])}`);
    }
  }

  annotate(item: Item, index: number, annotation: JsonObject): void {
    const part = this.#partOf(item, `text ${index}`);
    if (part !== undefined) this.#cite(part, annotation);
  }

  growInput(item: Item, delta: string): void {
    const kind = this.#callKindOf(item);
    const part = this.#partOf(item, INPUT);
    if (kind === undefined || part === undefined || delta === '') return;
    if (part.lane === undefined) this.#receive(part, delta);
    else this.#writeInput(part, part.lane, kind, delta);
  }

  /**
   * The item is complete. Whatever had not come in deltas is given now; called twice, it gives nothing twice.
   * @param exact gives the same item with its numbers as they were written
   */
  end(item: Item, wire: JsonObject, exact: () => JsonObject): void {
    item.id ??= textOf(wire['id']);
    item.callId ??= textOf(wire['call_id']);
    item.phase ??= textOf(wire['phase']);
    const kind = this.#callKindOf(item);
    if (kind !== undefined) this.#endCall(item, kind, wire, exact);
    else if (item.type === 'message') this.#endMessage(item, wire);
    else if (item.type === 'reasoning') this.#endReasoning(item, wire);
    else if (item.type === 'image_generation_call') this.#givePicture(item, wire);
    else this.#giveClosed(item, wire);
  }

  #endMessage(item: Item, { content }: JsonObject): void {
    const parts = typeof content === 'string' ? [{ type: 'output_text', text: content }] : objectsOf(content);
    for (const [index, part] of parts.entries()) this.endPart(item, index, part);
    this.#endLanes(item);
  }

  /** The encrypted form comes last: that of the item's beginning may be incomplete, by the vendor's SDK. */
  #endReasoning(item: Item, wire: JsonObject): void {
    for (const [index, part] of itemsOf(wire['summary']).entries())
      this.endText(item, 'summary', index, { text: textOf(part) ?? textOf(objectOf(part)?.['text']) });
    for (const [index, part] of objectsOf(wire['content']).entries()) this.endPart(item, index, part);
    const data = wire['encrypted_content'];
    if (typeof data === 'string' && data !== '' && !item.given) {
      item.given = true;
      this.#lanes.end(this.#lanes.open({ ...this.#reasoning(item, 'encrypted'), text: data }));
    }
    this.#endLanes(item);
  }

  #endLanes({ parts }: Item): void {
    for (const { lane } of parts.values()) if (lane !== undefined && !lane.ended) this.#lanes.end(lane);
  }

  #write(item: Item, kind: PartKind, part: Part, text: string, extra: Extra | undefined): void {
    if (text === '' && extra === undefined) return;
    if (part.lane === undefined || part.lane.ended) {
      if (text === '') return;
      part.lane = this.#lanes.open(this.#blockOf(item, kind, extra));
    }
    if (kind === 'refusal') this.refused = true;
    if (extra !== undefined) part.hasLogprobs = true;
    // The block's own extra holds its phase: it cannot hold those of two formats.
    this.#lanes.add(part.lane, text, part.lane.block.extra === undefined ? extra : undefined);
    this.#receive(part, text);
  }

  #receive(part: Part, text: string): void {
    this.#received += text.length;
    if (part.received !== undefined)
      part.received = this.#received > RECEIVED_CHARS_MAX ? undefined : part.received + text;
  }

  #cite(part: Part, annotation: JsonObject): void {
    // One that comes before its text comes again with all of it.
    if (part.lane === undefined) return;
    part.citations += 1;
    this.#lanes.cite(part.lane, decodeAnnotation(annotation));
  }

  #blockOf(item: Item, kind: PartKind, extra: Extra | undefined): Block {
    switch (kind) {
      case 'text':
        return {
          type: 'text',
          text: '',
          ...(item.phase !== undefined && extra === undefined && asExtra('responses', { phase: item.phase })),
        };
      case 'refusal':
        return { type: 'refusal', text: '' };
      case 'summary':
        return this.#reasoning(item, 'summary');
      case 'thought':
        return this.#reasoning(item, 'text');
      default:
        return unreachable(kind);
    }
  }

  #reasoning({ id }: Item, form: ReasoningBlock['form']): ReasoningBlock {
    const family = this.#dialect.reasoningFamily ?? 'openai-responses-v1';
    return { type: 'reasoning', form, text: '', family, ...(id !== undefined && { id }) };
  }

  #partOf(item: Item, key: string): Part | undefined {
    const part = partOf(item, key);
    if (part === undefined) this.#skip('a part of an output item beyond the bound');
    return part;
  }

  #callKindOf({ type }: Item): CallKind | undefined {
    return callKindOf(type, this.#dialect.runsCustomTools === true);
  }

  /** False without a name: it may come with the item's end. */
  #openCall(item: Item, part: Part, kind: CallKind, wire: JsonObject): boolean {
    const name = calledName(wire) || kind.name;
    if (part.lane !== undefined || name === undefined) return part.lane !== undefined;
    const id = (item.callId || item.id) ?? '';
    const runBy = typeof kind.runBy === 'string' ? kind.runBy : kind.runBy(wire);
    if (runBy === 'caller') this.calledTools = true;
    const early = part.received ?? '';
    part.received = '';
    part.lane = this.#lanes.open({
      type: 'tool-call',
      id: id === '' ? `call_${randomText(ID_CHARS)}` : id,
      name,
      input: '',
      runBy,
      // What a caller of this very format sees of it at once.
      ...(runBy === 'upstream' && asExtra('responses', openingOf(item, wire))),
    });
    if (kind.wrap !== undefined) this.#lanes.add(part.lane, `{${JSON.stringify(kind.wrap)}:"`);
    if (early !== '') this.#writeInput(part, part.lane, kind, early);
    return true;
  }

  #writeInput(part: Part, lane: Lane, kind: CallKind, text: string): void {
    if (lane.ended) {
      this.#skip('a piece of a call that has ended');
      return;
    }
    this.#lanes.add(lane, kind.wrap === undefined ? text : JSON.stringify(text).slice(1, -1));
    this.#receive(part, text);
  }

  #endCall(item: Item, kind: CallKind, wire: JsonObject, exact: () => JsonObject): void {
    const part = this.#partOf(item, INPUT);
    if (part === undefined || part.lane?.ended === true) return;
    if (!this.#openCall(item, part, kind, wire) || part.lane === undefined) {
      this.#skip('a tool call without a name');
      return;
    }
    const { lane } = part;
    const rest = missingText(part, inputOf(kind, wire, exact));
    if (rest !== '') this.#writeInput(part, lane, kind, rest);
    if (kind.wrap !== undefined) this.#lanes.add(lane, '"}');
    // The result of a provider-native tool stays on the call, whole, so that it can be sent back.
    const isCaller = lane.block.type === 'tool-call' && lane.block.runBy === 'caller';
    const isStandIn = isCaller && kind.isStandIn === true;
    const { extra } = asExtra('responses', isCaller ? restOf(wire, CALL_MEMBERS) : wire);
    if (extra !== undefined && !isStandIn) this.#lanes.add(lane, '', extra);
    this.#lanes.end(lane);
  }

  #givePicture(item: Item, wire: JsonObject): void {
    const { result, output_format: format } = wire;
    if (item.given) return;
    item.given = true;
    if (typeof result !== 'string' || result === '') {
      this.#skip('a picture that was not made');
      return;
    }
    const mediaType = `image/${typeof format === 'string' ? format : 'png'}`;
    this.#give({
      type: 'media',
      media: 'image',
      source: ADDRESS.test(result) ? { type: 'url', url: result } : { type: 'base64', mediaType, data: result },
      ...asExtra('responses', restOf(wire, PICTURE_MEMBERS)),
    });
  }

  /** An item that no other format knows. */
  #giveClosed(item: Item, wire: JsonObject): void {
    if (item.given) return;
    item.given = true;
    if (!QUIET_ITEMS.has(item.type)) this.#skip(`an output item of type ${nameOf(item.type)} for other formats`);
    this.#give({ type: 'opaque', format: 'responses', value: wire });
  }

  #give(block: Block): void {
    this.#lanes.end(this.#lanes.open(block));
  }
}

/** Members of an item that begins. Lists and objects come again with its end, where they would be added to these. */
function openingOf({ id, type }: Item, wire: JsonObject): JsonObject {
  const plain = Object.entries(wire).filter(([name, value]) => typeof value === 'string' && name !== 'status');
  return { ...(id !== undefined && { id }), type, ...Object.fromEntries(plain) };
}

/** The whole input of a call as text. Numbers of an input that is an object stand as the upstream wrote them. */
function inputOf(kind: CallKind, wire: JsonObject, exact: () => JsonObject): string {
  const member = kind.text ?? 'arguments';
  const text = wire[member];
  if (typeof text === 'string' && text !== '') return text;
  if (kind.input !== undefined) return JSON.stringify(kind.input(exact()));
  return isJsonObject(text) ? JSON.stringify(exact()[member]) : '';
}
