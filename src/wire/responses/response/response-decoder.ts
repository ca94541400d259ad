import { classifyErrorEvent, transportFailure } from '../../../canonical/failure/classify-failure.ts';
import type { EventBatch } from '../../../canonical/events.ts';
import type { UpstreamFailure } from '../../../canonical/failure/failure.ts';
import { hasFragileNumbers, isJsonObject, parseKeepingNumbers, type JsonObject } from '../../../lib/json.ts';
import { objectOf, objectsOf, textOf } from '../../json-fields.ts';
import { ResponseItems, type Item } from './items.ts';
import { BlockLanes } from './blocks-in.ts';
import { INPUT_EVENTS } from './tool-calls.ts';
import type { ResponsesDialect } from '../dialect.ts';
import { decodeEnd } from './finish-reason.ts';
import { ItemReader, type PartKind } from './item-decoder.ts';
import { failureOfError } from './error-in.ts';
import { decodeUsage } from './usage-in.ts';

const WARNINGS_MAX = 20;

interface TextEvent {
  readonly type: string;
  readonly kind: PartKind;
  /** The member that counts the parts. */
  readonly at: string;
  /** The member of the done event that holds it all. */
  readonly member: string;
}

/** @spec stream-8 */
const TEXT_EVENTS: ReadonlyMap<string, TextEvent> = new Map([
  ['response.output_text', { type: 'message', kind: 'text', at: 'content_index', member: 'text' }],
  ['response.refusal', { type: 'message', kind: 'refusal', at: 'content_index', member: 'refusal' }],
  ['response.reasoning_summary_text', { type: 'reasoning', kind: 'summary', at: 'summary_index', member: 'text' }],
  ['response.reasoning_text', { type: 'reasoning', kind: 'thought', at: 'content_index', member: 'text' }],
]);

/** What the end of a response is called. `response.done` is xAI's. */
const TERMINAL_EVENTS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.done',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
]);
/** Some servers have the second name, and some no name at all. */
const ERROR_EVENTS: ReadonlySet<string> = new Set(['error', 'response.error']);
const BEGINNING_EVENTS: ReadonlySet<string> = new Set(['response.created', 'response.queued', 'response.in_progress']);

/** Members of a delta that say nothing beside its place and its text. */
const PLAIN_DELTA_MEMBERS: ReadonlySet<string> = new Set([
  'type',
  'sequence_number',
  'item_id',
  'output_index',
  'content_index',
  'summary_index',
  'delta',
  'logprobs',
  'obfuscation',
]);

/** A text that the latest event has added to, and nothing else. */
interface LatestText {
  readonly item: Item;
  readonly kind: PartKind;
  readonly index: number;
  readonly text: string;
}

/** Turns the events of one response into events of the gateway. A whole response is the last of its events. */
export class ResponseDecoder {
  readonly #lanes = new BlockLanes();
  readonly #items = new ResponseItems();
  readonly #reader: ItemReader;
  #started = false;
  #over = false;
  #warnings = 0;
  #latest: LatestText | undefined;

  constructor(dialect: ResponsesDialect) {
    this.#reader = new ItemReader(this.#lanes, dialect, (what) => this.skip(what));
  }

  /** Nothing more is read after an end or a failure. */
  get over(): boolean {
    return this.#over;
  }

  take(): EventBatch {
    return this.#lanes.take();
  }

  /** What the latest event has added to a text; `undefined` where it held anything else. */
  get latestText(): string | undefined {
    return this.#latest?.text;
  }

  /** Adds to the text that the latest event has added to. False where it held anything else: then the event is parsed. */
  growLatest(text: string): boolean {
    if (this.#latest === undefined) return false;
    const { item, kind, index } = this.#latest;
    this.#reader.growText(item, kind, index, text, undefined);
    return true;
  }

  /** @param name of the event where the data names none @param data the text that it was parsed from */
  takeEvent(event: JsonObject, name: string | undefined, data: string): void {
    if (this.#over) return;
    this.#latest = undefined;
    const type = textOf(event['type']) ?? name ?? '';
    if (TERMINAL_EVENTS.has(type)) this.#finish(type, event, data);
    else if (ERROR_EVENTS.has(type) || (type === '' && isJsonObject(event['error']))) this.#takeError(event);
    else if (BEGINNING_EVENTS.has(type)) this.#start(objectOf(event['response']) ?? {});
    else this.#takeContent(type, event, data);
  }

  /** A response that is complete, or as complete as it will be. */
  takeResponse(response: JsonObject, text: string): void {
    const status = textOf(response['status']) || undefined;
    if (status === 'queued' || status === 'in_progress') this.fail(transportFailure('early-end'));
    else this.#finish(status === undefined ? '' : `response.${status}`, { response }, text);
  }

  /** Notes what could not be read and was left out. */
  skip(what: string): void {
    if (++this.#warnings > WARNINGS_MAX) return;
    this.#start({});
    const message = `left out: ${what}`;
    this.#lanes.emit({ type: 'warning', warning: { code: 'event-skipped', path: 'stream', message } });
  }

  fail(failure: UpstreamFailure): void {
    if (this.#over) return;
    this.#over = true;
    this.#lanes.emit({ type: 'failed', failure });
  }

  #start(response: JsonObject): void {
    if (this.#started) return;
    this.#started = true;
    const { id, model } = response;
    this.#lanes.emit({
      type: 'start',
      format: 'responses',
      ...(typeof id === 'string' && id !== '' && { id }),
      ...(typeof model === 'string' && model !== '' && { model }),
    });
  }

  #takeError(event: JsonObject): void {
    const { type: _type, ...error } = event;
    this.fail(failureOfError(isJsonObject(event['error']) ? event['error'] : error));
  }

  /** Events about the progress of an item hold nothing that its end does not, so most types are skipped. */
  #takeContent(type: string, event: JsonObject, data: string): void {
    this.#start({});
    const dot = type.lastIndexOf('.');
    const stem = type.slice(0, dot);
    const step = type.slice(dot + 1);
    const text = TEXT_EVENTS.get(stem);
    if (text !== undefined) {
      this.#takeText(text, step, event);
      return;
    }
    const input = INPUT_EVENTS.get(stem);
    if (input !== undefined) {
      const item = this.#itemOf(input.type, event);
      const piece = textOf(event[step === 'done' ? input.member : 'delta']);
      if (item === undefined || piece === undefined) return;
      if (step === 'delta') this.#reader.growInput(item, piece);
      return;
    }
    switch (type) {
      case 'response.output_item.added':
        this.#addItem(event);
        return;
      case 'response.output_item.done':
        this.#endItem(event, data);
        return;
      case 'response.content_part.done':
        this.#endPart(event);
        return;
      case 'response.output_text.annotation.added':
        this.#annotate(event);
        return;
      case '':
        this.skip('an event without a type');
        return;
      default:
    }
  }

  #takeText({ type, kind, at, member }: TextEvent, step: string, event: JsonObject): void {
    const item = this.#itemOf(type, event);
    if (item === undefined) return;
    const index = indexOf(event, at);
    if (step === 'delta') {
      const delta = textOf(event['delta']);
      if (delta === undefined) return;
      this.#reader.growText(item, kind, index, delta, event['logprobs']);
      if (isPlainDelta(event)) this.#latest = { item, kind, index, text: delta };
    } else if (step === 'done' && typeof event[member] === 'string') {
      this.#reader.endText(item, kind, index, { ...event, text: event[member] });
    }
  }

  /** Hosts may leave the opening of an item out. */
  #itemOf(type: string, event: JsonObject): Item | undefined {
    const item = this.#items.find(event);
    return item?.type === type ? item : this.#create(type, event, {});
  }

  #create(type: string, event: JsonObject, wire: JsonObject): Item | undefined {
    const item = this.#items.create(type, event, wire);
    if (item === undefined) this.skip('an output item beyond the bound');
    return item;
  }

  #addItem(event: JsonObject): void {
    const wire = objectOf(event['item']);
    const type = textOf(wire?.['type']);
    if (wire === undefined || type === undefined) {
      this.skip('an output item without a type');
      return;
    }
    const known = this.#items.find(event);
    const repeated = known?.type === type && known.id !== undefined && known.id === textOf(wire['id']);
    const item = repeated ? known : this.#create(type, event, wire);
    if (item !== undefined) this.#reader.open(item, wire);
  }

  #endItem(event: JsonObject, data: string): void {
    const wire = objectOf(event['item']);
    const type = textOf(wire?.['type']);
    if (wire === undefined || type === undefined) return;
    const item = this.#itemOf(type, { item_id: wire['id'], ...event });
    if (item !== undefined) this.#reader.end(item, wire, () => objectOf(exactly(event, data)['item']) ?? wire);
  }

  #endPart(event: JsonObject): void {
    const item = this.#items.find(event);
    const part = objectOf(event['part']);
    if (item !== undefined && part !== undefined) this.#reader.endPart(item, indexOf(event, 'content_index'), part);
  }

  #annotate(event: JsonObject): void {
    const item = this.#items.find(event);
    const annotation = objectOf(event['annotation']);
    if (item?.type === 'message' && annotation !== undefined)
      this.#reader.annotate(item, indexOf(event, 'content_index'), annotation);
  }

  /** What was never streamed is made good from what the finished response lists. @param type `''`: no event ended the response */
  #finish(type: string, event: JsonObject, data: string): void {
    const response = objectOf(event['response']) ?? {};
    this.#start(response);
    let exact: readonly JsonObject[] | undefined;
    const exactItem = (position: number): JsonObject | undefined => {
      const whole = exact === undefined ? exactly(event, data) : undefined;
      exact ??= objectsOf((objectOf(whole?.['response']) ?? whole)?.['output']);
      return exact[position];
    };
    for (const [position, wire] of objectsOf(response['output']).entries()) {
      const item =
        this.#items.match(wire, position) ?? this.#create(textOf(wire['type']) ?? '', { output_index: position }, wire);
      if (item === undefined) break;
      item.listed = true;
      this.#reader.end(item, wire, () => exactItem(position) ?? wire);
    }
    const usage = decodeUsage(response);
    if (usage !== undefined) this.#lanes.emit({ type: 'usage', usage });
    // A host may send the one as its event and the other as the status.
    const status = textOf(response['status']);
    if (type === 'response.failed' || status === 'failed') {
      this.fail(failureOfError(response['error'] ?? event['error']));
    } else if (type === 'response.cancelled' || status === 'cancelled') {
      this.fail(classifyErrorEvent(STATUS_CANCELLED, { code: 'cancelled' }));
    } else {
      this.#lanes.endAll();
      this.#over = true;
      const incomplete = type === 'response.incomplete' || status === 'incomplete';
      const reported = type === '' ? undefined : 'completed';
      this.#lanes.emit(decodeEnd(response, incomplete ? 'incomplete' : reported, this.#reader));
    }
  }
}

const STATUS_CANCELLED = 500;

/** Whether another text in its place is all that the next event may differ in. */
function isPlainDelta(event: JsonObject): boolean {
  for (const member in event) if (!PLAIN_DELTA_MEMBERS.has(member)) return false;
  const { type, logprobs } = event;
  return typeof type === 'string' && (logprobs === undefined || (Array.isArray(logprobs) && logprobs.length === 0));
}

/** The event again, with its numbers as they were written. */
function exactly(event: JsonObject, data: string): JsonObject {
  return hasFragileNumbers(data) ? (objectOf(parseKeepingNumbers(data)) ?? event) : event;
}

function indexOf(event: JsonObject, member: string): number {
  const index = event[member];
  return typeof index === 'number' ? index : 0;
}
