import { assert, unreachable } from '../lib/assert.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Answer } from './answer.ts';
import type { Block, Citation } from './blocks.ts';
import type { BlockDeltaEvent, EndEvent, EventBatch, GenerationEvent } from './events.ts';
import type { Extra, FormatId, Warning } from './extra.ts';
import type { UpstreamFailure } from './failure.ts';
import type { Usage } from './usage.ts';

interface OpenBlock {
  readonly block: Block;
  readonly texts: string[];
  signature: string | undefined;
  readonly values: JsonObject[];
  readonly citations: Citation[];
  readonly extras: Extra[];
}

/** Adds up the events of one answer. */
export interface Fold {
  push(events: EventBatch): void;
  /** What has come so far; callable at any time. */
  answer(): Answer;
}

/** @source house.md 4: a whole answer decodes to the same events as a stream, and both fold to the same answer */
export function createFold(): Fold {
  const open: OpenBlock[] = [];
  const citations: Citation[] = [];
  const extras: Extra[] = [];
  const warnings: Warning[] = [];
  let format: FormatId | undefined;
  let id: string | undefined;
  let model: string | undefined;
  let usage: Usage | undefined;
  let end: EndEvent | undefined;
  let failure: UpstreamFailure | undefined;

  function blockAt(index: number): OpenBlock {
    const entry = open[index];
    assert(entry !== undefined, `block ${index} was started before it was used`);
    return entry;
  }

  function take(event: GenerationEvent): void {
    switch (event.type) {
      case 'start':
        ({ format, id, model } = { id: undefined, model: undefined, ...event });
        if (event.extra !== undefined) extras.push(event.extra);
        return;
      case 'block-start':
        open[event.index] = {
          block: event.block,
          texts: [],
          signature: undefined,
          values: [],
          citations: [],
          extras: [],
        };
        return;
      case 'block-delta':
        takeDelta(blockAt(event.index), event);
        return;
      case 'block-end':
        return;
      case 'citation':
        (event.index < 0 ? citations : blockAt(event.index).citations).push(event.citation);
        return;
      case 'usage':
        usage = event.usage;
        return;
      case 'warning':
        warnings.push(event.warning);
        return;
      case 'extra':
        extras.push(event.extra);
        return;
      case 'end':
        end = event;
        return;
      case 'failed':
        failure = event.failure;
        return;
      default:
        unreachable(event);
    }
  }

  return {
    push: (events) => {
      for (const event of events) take(event);
    },
    answer: () => ({
      format,
      id,
      model,
      blocks: open.filter((entry) => entry !== undefined).map(closeBlock),
      citations,
      usage,
      end,
      failure,
      extras,
      warnings,
    }),
  };
}

/** Folds a complete list of events. */
export function foldEvents(events: EventBatch): Answer {
  const fold = createFold();
  fold.push(events);
  return fold.answer();
}

function takeDelta(entry: OpenBlock, event: BlockDeltaEvent): void {
  if (event.text !== undefined) entry.texts.push(event.text);
  if (event.signature !== undefined) entry.signature = (entry.signature ?? '') + event.signature;
  if (event.value !== undefined) entry.values.push(event.value);
  if (event.extra !== undefined) entry.extras.push(event.extra);
}

function closeBlock(entry: OpenBlock): Block {
  const added = entry.texts.join('');
  const block = entry.extras.length === 0 ? entry.block : { ...entry.block, extra: mergeExtras(entry) };
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
function mergeExtras(entry: OpenBlock): Extra {
  const parts = [...(entry.block.extra === undefined ? [] : [entry.block.extra]), ...entry.extras];
  const format = (parts[0] as Extra).format;
  return { format, fields: parts.map((part) => part.fields).reduce(mergeFields) };
}

function mergeFields(left: JsonObject, right: JsonObject): JsonObject {
  const merged: Record<string, JsonObject[string]> = { ...left };
  for (const [member, value] of Object.entries(right)) {
    const before = merged[member];
    merged[member] = mergeValue(before, value);
  }
  return merged;
}

function mergeValue(before: JsonObject[string], value: JsonObject[string]): JsonObject[string] {
  if (Array.isArray(before) && Array.isArray(value)) return [...before, ...value];
  const bothObjects = isPlain(before) && isPlain(value);
  return bothObjects ? mergeFields(before, value) : value;
}

function isPlain(value: JsonObject[string]): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
