import type { JsonObject } from '../../../lib/json.ts';
import { objectsOf, textOf } from '../../json-fields.ts';
import { EventFrames } from '../output/event-frames.ts';

/**
 * The stream of a response that ended before, made of the object that is left of it: the same events in the same order,
 * with each text in one piece. What an event of a hosted tool reports of its progress is over, and left out.
 */
export function encodeStoredStream(stored: JsonObject): string {
  const { output_text: _text, ...response } = stored;
  const { status } = response;
  const frames = new EventFrames(0, false);
  const begun = { ...response, status: 'in_progress', output: [], usage: null, error: null, incomplete_details: null };
  // As in the stream itself, only the last event repeats what the request can be long in.
  const opening = { response: { ...begun, completed_at: null, instructions: null, tools: [] } };
  const endsAll = status === 'completed' || status === 'incomplete';
  const terminal = endsAll ? status : 'failed';
  // In the order of the events: each takes the next number.
  return [
    frames.event('created', opening),
    frames.event('in_progress', opening),
    ...objectsOf(response['output']).map((item, at) => encodeItem(frames, item, at, endsAll)),
    frames.event(terminal, { response }),
    'data: [DONE]\n\n',
  ].join('');
}

/** @param endsAll whether an unfinished text is closed, as in a response that did not fail */
function encodeItem(frames: EventFrames, item: JsonObject, index: number, endsAll: boolean): string {
  const at = { item_id: item['id'], output_index: index };
  const isCall = CALL_TEXTS[textOf(item['type']) ?? ''] !== undefined;
  const isCut = item['status'] === 'incomplete' && (isCall || !endsAll);
  return (
    frames.event('output_item.added', { output_index: index, item: beginningOf(item) }) +
    encodeParts(frames, item, at, isCut) +
    encodeCall(frames, item, at, isCut) +
    (isCut ? '' : frames.event('output_item.done', { output_index: index, item }))
  );
}

/** The item before its texts came. */
function beginningOf(item: JsonObject): JsonObject {
  const type = textOf(item['type']) ?? '';
  const { encrypted_content: _sealed, ...begun } = item;
  const call = CALL_TEXTS[type];
  return {
    ...begun,
    status: 'in_progress',
    ...(item['content'] !== undefined && { content: [] }),
    ...(item['summary'] !== undefined && { summary: [] }),
    ...(call !== undefined && { [call.member]: '' }),
  };
}

interface PartEvents {
  readonly part: string;
  readonly text: string;
  /** The member that holds the text. */
  readonly member: string;
}

const PARTS: Readonly<Record<string, PartEvents>> = {
  output_text: { part: 'content_part', text: 'output_text', member: 'text' },
  refusal: { part: 'content_part', text: 'refusal', member: 'refusal' },
  reasoning_text: { part: 'content_part', text: 'reasoning_text', member: 'text' },
  summary_text: { part: 'reasoning_summary_part', text: 'reasoning_summary_text', member: 'text' },
};

function encodeParts(frames: EventFrames, item: JsonObject, at: JsonObject, isCut: boolean): string {
  const summary = objectsOf(item['summary']).map((part, index) =>
    encodePart(frames, part, { ...at, summary_index: index }, isCut),
  );
  const content = objectsOf(item['content']).map((part, index) =>
    encodePart(frames, part, { ...at, content_index: index }, isCut),
  );
  return [...summary, ...content].join('');
}

function encodePart(frames: EventFrames, part: JsonObject, at: JsonObject, isCut: boolean): string {
  const known = PARTS[textOf(part['type']) ?? ''];
  if (known === undefined) return '';
  const text = textOf(part[known.member]) ?? '';
  const isOutput = known.text === 'output_text';
  const logprobs = isOutput && { logprobs: part['logprobs'] ?? [] };
  const begun = { ...part, [known.member]: '', ...(isOutput && { annotations: [], logprobs: [] }) };
  return [
    frames.event(`${known.part}.added`, { ...at, part: begun }),
    text === '' ? '' : frames.event(`${known.text}.delta`, { ...at, delta: text, ...logprobs }),
    ...objectsOf(part['annotations']).map((annotation, index) =>
      frames.event('output_text.annotation.added', { ...at, annotation_index: index, annotation }),
    ),
    isCut ? '' : frames.event(`${known.text}.done`, { ...at, [known.member]: text, ...logprobs }),
    isCut ? '' : frames.event(`${known.part}.done`, { ...at, part }),
  ].join('');
}

/** Calls whose input comes in deltas. */
const CALL_TEXTS: Readonly<Record<string, { readonly member: string; readonly event: string }>> = {
  function_call: { member: 'arguments', event: 'function_call_arguments' },
  custom_tool_call: { member: 'input', event: 'custom_tool_call_input' },
};

function encodeCall(frames: EventFrames, item: JsonObject, at: JsonObject, isCut: boolean): string {
  const known = CALL_TEXTS[textOf(item['type']) ?? ''];
  if (known === undefined) return '';
  const text = textOf(item[known.member]) ?? '';
  const name = known.member === 'arguments' && { name: item['name'] };
  return (
    (text === '' ? '' : frames.event(`${known.event}.delta`, { ...at, delta: text })) +
    (isCut ? '' : frames.event(`${known.event}.done`, { ...at, [known.member]: text, ...name }))
  );
}
