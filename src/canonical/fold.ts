import { assert, unreachable } from '../lib/assert.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import type { GenerationResponse, ResponseCitation } from './response.ts';
import type { Block, Citation } from './blocks.ts';
import type { BlockDeltaEvent, EndEvent, EventBatch, GenerationEvent } from './events.ts';
import type { Extra, FormatId, Warning } from './extra.ts';
import type { UpstreamFailure } from './failure/failure.ts';
import type { Usage } from './usage.ts';

interface OpenBlock {
  readonly block: Block;
  readonly texts: string[];
  signature: string | undefined;
  readonly values: JsonObject[];
  readonly citations: Citation[];
  readonly extras: Extra[];
}

/** Adds up the events of one response. */
export interface Fold {
  push(events: EventBatch): void;
  /** What has come so far; callable at any time. */
  response(): GenerationResponse;
}

/** @source docs/decisions/0005: a whole response decodes to the same events as a stream, and both fold to the same response */
export function createFold(): Fold {
  return new EventFold();
}

class EventFold implements Fold {
  readonly #open: OpenBlock[] = [];
  readonly #citations: ResponseCitation[] = [];
  readonly #extras: Extra[] = [];
  readonly #warnings: Warning[] = [];
  #format: FormatId | undefined;
  #id: string | undefined;
  #model: string | undefined;
  #usage: Usage | undefined;
  #end: EndEvent | undefined;
  #failure: UpstreamFailure | undefined;

  push(events: EventBatch): void {
    for (const event of events) this.#take(event);
  }

  response(): GenerationResponse {
    return {
      format: this.#format,
      id: this.#id,
      model: this.#model,
      blocks: this.#open.map(closeBlock),
      citations: this.#citations,
      usage: this.#usage,
      end: this.#end,
      failure: this.#failure,
      extras: this.#extras,
      warnings: this.#warnings,
    };
  }

  #take(event: GenerationEvent): void {
    switch (event.type) {
      case 'start':
        this.#format = event.format;
        this.#id = event.id;
        this.#model = event.model;
        if (event.extra !== undefined) this.#extras.push(event.extra);
        return;
      case 'block-start':
        assert(event.index === this.#open.length, `block ${event.index} is the next one`);
        this.#open.push({ block: event.block, texts: [], signature: undefined, values: [], citations: [], extras: [] });
        return;
      case 'block-delta':
        takeDelta(this.#blockAt(event.index), event);
        return;
      case 'citation':
        if (event.index >= 0) this.#blockAt(event.index).citations.push(event.citation);
        else this.#citations.push({ citation: event.citation, afterBlocks: this.#open.length });
        return;
      case 'usage':
        this.#usage = event.usage;
        return;
      case 'warning':
        this.#warnings.push(event.warning);
        return;
      case 'extra':
        this.#extras.push(event.extra);
        return;
      case 'end':
        this.#end = event;
        return;
      case 'failed':
        this.#failure = event.failure;
        return;
      case 'block-end':
      case 'tool-progress':
        return;
      default:
        unreachable(event);
    }
  }

  #blockAt(index: number): OpenBlock {
    const entry = this.#open[index];
    assert(entry !== undefined, `block ${index} was started before it was used`);
    return entry;
  }
}

/** Folds a complete list of events. */
export function foldEvents(events: EventBatch): GenerationResponse {
  const fold = createFold();
  fold.push(events);
  return fold.response();
}

function takeDelta(entry: OpenBlock, event: BlockDeltaEvent): void {
  if (event.text !== undefined) entry.texts.push(event.text);
  if (event.signature !== undefined) entry.signature = (entry.signature ?? '') + event.signature;
  if (event.value !== undefined) entry.values.push(event.value);
  if (event.extra !== undefined) entry.extras.push(event.extra);
}

function closeBlock(entry: OpenBlock): Block {
  const added = entry.texts.join('');
  const extra = mergeExtras(entry);
  const block = extra === entry.block.extra ? entry.block : { ...entry.block, ...(extra !== undefined && { extra }) };
  switch (block.type) {
    case 'text':
      return {
        ...block,
        text: block.text + added,
        ...(entry.citations.length > 0 && { citations: [...(block.citations ?? []), ...entry.citations] }),
      };
    case 'refusal':
      return { ...block, text: block.text + added };
    case 'reasoning': {
      const signature = entry.signature === undefined ? block.signature : (block.signature ?? '') + entry.signature;
      return { ...block, text: block.text + added, ...(signature !== undefined && { signature }) };
    }
    case 'tool-call':
      return { ...block, input: block.input + added };
    case 'media':
      return block.source.type === 'base64' && added !== ''
        ? { ...block, source: { ...block.source, data: block.source.data + added } }
        : block;
    case 'opaque':
      return entry.values.length === 0 ? block : { ...block, deltas: entry.values };
    case 'tool-result':
      return block;
    default:
      return unreachable(block);
  }
}

/** Later members win, and arrays of the same member are joined: that is how log probabilities arrive. */
function mergeExtras({ block, extras }: OpenBlock): Extra | undefined {
  return extras.reduce<Extra | undefined>(
    (merged, extra) =>
      merged === undefined ? extra : { format: merged.format, fields: mergeFields(merged.fields, extra.fields) },
    block.extra,
  );
}

/**
 * Members that came one after the other: later ones win, objects are merged, and lists are joined. Entries rather than
 * assignments: a member named `__proto__` is a member like any other.
 */
export function mergeFields(left: JsonObject, right: JsonObject): JsonObject {
  const added = Object.entries(right).map(
    ([member, value]) => [member, Object.hasOwn(left, member) ? mergeValue(left[member], value) : value] as const,
  );
  return Object.fromEntries([...Object.entries(left), ...added]);
}

function mergeValue(before: JsonObject[string], value: JsonObject[string]): JsonObject[string] {
  if (Array.isArray(before) && Array.isArray(value)) return [...before, ...value];
  return isJsonObject(before) && isJsonObject(value) ? mergeFields(before, value) : value;
}
