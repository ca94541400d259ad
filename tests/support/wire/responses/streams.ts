import type { GenerationResponse } from '../../../../src/canonical/response.ts';
import type { Block } from '../../../../src/canonical/blocks.ts';
import type { EventBatch, GenerationEvent } from '../../../../src/canonical/events.ts';
import { foldEvents } from '../../../../src/canonical/fold.ts';
import { checkEvents } from '../event-grammar.ts';
import type { JsonObject } from '../../../../src/lib/json.ts';
import { textOf } from '../../../../src/wire/json-fields.ts';
import type { Dialect } from '../../../../src/wire/format.ts';
import { createStreamDecoder } from '../../../../src/wire/responses/response/stream-in.ts';

/** Test support: events of a stream, in the wire's own words. */
export const CREATED: JsonObject = {
  type: 'response.created',
  response: { id: 'resp_1', model: 'gpt-5.4', status: 'in_progress', output: [] },
};

export function added(output_index: number, item: JsonObject): JsonObject {
  return { type: 'response.output_item.added', output_index, item };
}

export function done(output_index: number, item: JsonObject): JsonObject {
  return { type: 'response.output_item.done', output_index, item };
}

/** A piece of the text of a message. */
export function stated(output_index: number, delta: string, more: JsonObject = {}): JsonObject {
  return { type: 'response.output_text.delta', output_index, content_index: 0, delta, ...more };
}

export function summed(output_index: number, summary_index: number, delta: string): JsonObject {
  return { type: 'response.reasoning_summary_text.delta', output_index, summary_index, delta };
}

export function thought(output_index: number, delta: string): JsonObject {
  return { type: 'response.reasoning_text.delta', output_index, content_index: 0, delta };
}

export function argued(output_index: number, delta: string): JsonObject {
  return { type: 'response.function_call_arguments.delta', output_index, delta };
}

export function cited(output_index: number, annotation: JsonObject, content_index = 0): JsonObject {
  return { type: 'response.output_text.annotation.added', output_index, content_index, annotation };
}

/** The finished response, as the last event of a stream holds it. */
export function response(output: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return { id: 'resp_1', object: 'response', model: 'gpt-5.4', status: 'completed', output, usage: USAGE, ...more };
}

export function completed(output: readonly JsonObject[] = [], more: JsonObject = {}): JsonObject {
  return { type: 'response.completed', response: response(output, more) };
}

const USAGE: JsonObject = {
  input_tokens: 120,
  input_tokens_details: { cached_tokens: 64 },
  output_tokens: 45,
  output_tokens_details: { reasoning_tokens: 20 },
  total_tokens: 165,
};

export function message(id: string, ...content: readonly JsonObject[]): JsonObject {
  return { type: 'message', id, role: 'assistant', status: 'completed', content };
}

export function outputText(text: string, more: JsonObject = {}): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [], ...more };
}

export function call(id: string, name: string, args: string, more: JsonObject = {}): JsonObject {
  return { type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: args, status: 'completed', ...more };
}

export function summaries(id: string, texts: readonly string[], encrypted?: string): JsonObject {
  const summary = texts.map((text) => ({ type: 'summary_text', text }));
  return { type: 'reasoning', id, summary, ...(encrypted !== undefined && { encrypted_content: encrypted }) };
}

const THOUGHT = summaries('rs_1', ['**Weather** first.', '**Time** next — 🕐.'], 'gAAAA-sealed');
const BERLIN = call('call_a', 'weather', '{"city": "Berlin", "days": 1.0}');
const TOKYO = call('call_b', 'now', '{"zone":"Asia/Tōkyō","id":12345678901234567890}');
const THINKS_AND_CALLS_OUTPUT = [THOUGHT, BERLIN, TOKYO];

/** A reasoning model with two paragraphs of summary and two calls, whose arguments come side by side. */
export const THINKS_AND_CALLS: readonly JsonObject[] = [
  CREATED,
  { type: 'response.in_progress', response: CREATED['response'] },
  added(0, { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA-not-yet' }),
  { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 0 },
  summed(0, 0, '**Weather**'),
  summed(0, 0, ' first.'),
  { type: 'response.reasoning_summary_text.done', output_index: 0, summary_index: 0, text: '**Weather** first.' },
  { type: 'response.reasoning_summary_part.done', output_index: 0, summary_index: 0 },
  summed(0, 1, '**Time** next — 🕐.'),
  done(0, THOUGHT),
  added(1, { ...BERLIN, arguments: '', status: 'in_progress' }),
  argued(1, '{"city": "Ber'),
  added(2, { ...TOKYO, arguments: '', status: 'in_progress' }),
  argued(2, '{"zone":"Asia/Tō'),
  argued(1, 'lin", "days": 1.0}'),
  argued(2, 'kyō","id":12345678901234567890}'),
  { type: 'response.function_call_arguments.done', output_index: 2, arguments: TOKYO['arguments'] },
  done(2, TOKYO),
  { type: 'response.function_call_arguments.done', output_index: 1, arguments: BERLIN['arguments'] },
  done(1, BERLIN),
  completed(THINKS_AND_CALLS_OUTPUT),
];
export const WHOLE_THINKS_AND_CALLS: JsonObject = response(THINKS_AND_CALLS_OUTPUT);

const SEARCH: JsonObject = {
  type: 'web_search_call',
  id: 'ws_1',
  status: 'completed',
  action: { type: 'search', query: 'tides', sources: [{ type: 'url', url: 'https://sea.test/' }] },
};
const FIRST = 'Ebb und Flut kommen vom Mond 🌊.';
const SECOND = 'Und von der Sonne.';
const MOON: JsonObject = {
  type: 'url_citation',
  url: 'https://moon.test/',
  title: 'Mond',
  start_index: 24,
  end_index: 28,
};
const SUN: JsonObject = {
  type: 'url_citation',
  url: 'https://sun.test/',
  title: 'Sonne',
  start_index: 12,
  end_index: 17,
};
const LOOKED_UP = message(
  'msg_1',
  outputText(FIRST, { annotations: [MOON] }),
  outputText(SECOND, { annotations: [SUN] }),
);

/** A search of the upstream's own, and an answer in two texts that cite what was found. */
export const SEARCHES_AND_CITES: readonly JsonObject[] = [
  CREATED,
  added(0, { ...SEARCH, status: 'in_progress', action: undefined }),
  { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws_1' },
  { type: 'response.web_search_call.completed', output_index: 0, item_id: 'ws_1' },
  done(0, SEARCH),
  added(1, { ...LOOKED_UP, content: [], status: 'in_progress' }),
  { type: 'response.content_part.added', output_index: 1, content_index: 0, part: outputText('') },
  stated(1, 'Ebb und Flut '),
  stated(1, 'kommen vom Mond 🌊.'),
  cited(1, MOON),
  { type: 'response.output_text.done', output_index: 1, content_index: 0, text: FIRST },
  {
    type: 'response.content_part.done',
    output_index: 1,
    content_index: 0,
    part: outputText(FIRST, { annotations: [MOON] }),
  },
  stated(1, SECOND, { content_index: 1 }),
  cited(1, SUN, 1),
  done(1, LOOKED_UP),
  completed([SEARCH, LOOKED_UP]),
];
export const WHOLE_SEARCHES_AND_CITES: JsonObject = response([SEARCH, LOOKED_UP]);

const PICTURE: JsonObject = {
  type: 'image_generation_call',
  id: 'ig_1',
  status: 'completed',
  result: 'aVZCT1I=',
  output_format: 'webp',
};
const DECLINED = message('msg_2', { type: 'refusal', refusal: 'No second one.' });

/** A picture, of which sketches come before, and a refusal. */
export const DRAWS_AND_REFUSES: readonly JsonObject[] = [
  CREATED,
  added(0, { ...PICTURE, status: 'in_progress', result: null }),
  {
    type: 'response.image_generation_call.partial_image',
    output_index: 0,
    partial_image_index: 0,
    partial_image_b64: 'eA==',
  },
  done(0, PICTURE),
  added(1, { ...DECLINED, content: [] }),
  { type: 'response.refusal.delta', output_index: 1, content_index: 0, delta: 'No second' },
  { type: 'response.refusal.delta', output_index: 1, content_index: 0, delta: ' one.' },
  { type: 'response.refusal.done', output_index: 1, content_index: 0, refusal: 'No second one.' },
  done(1, DECLINED),
  completed([PICTURE, DECLINED]),
];
export const WHOLE_DRAWS_AND_REFUSES: JsonObject = response([PICTURE, DECLINED]);

/** The bytes of a stream. */
export function stream(events: readonly JsonObject[]): Buffer {
  return Buffer.from(
    events.map((event) => `event: ${textOf(event['type']) ?? ''}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  );
}

/** What a stream says when its bytes come cut at these places. */
export function decodeStream(bytes: Uint8Array, cuts: readonly number[] = [], dialect: Dialect = {}): EventBatch {
  const decoder = createStreamDecoder(dialect);
  const events: GenerationEvent[] = [];
  for (const [index, cut] of [0, ...cuts].entries()) events.push(...decoder.push(bytes.subarray(cut, cuts[index])));
  events.push(...decoder.end());
  checkEvents(events);
  return events;
}

export function foldStream(events: readonly JsonObject[], dialect: Dialect = {}): GenerationResponse {
  return foldEvents(decodeStream(stream(events), [], dialect));
}

/** Its calls as `id name(input)`, with a mark on those that the upstream ran. */
export function callsOf({ blocks }: GenerationResponse): readonly string[] {
  return blocks.flatMap((block) => {
    if (block.type !== 'tool-call') return [];
    return [`${block.runBy === 'upstream' ? 'ran ' : ''}${block.id} ${block.name}(${block.input})`];
  });
}

/** Its blocks of text, refusal and reasoning as `type: text`, in order; of others the type. */
export function linesOf({ blocks }: GenerationResponse): readonly string[] {
  return blocks.map(lineOf);
}

function lineOf(block: Block): string {
  if (block.type === 'reasoning') return `${block.form}: ${block.text}`;
  return block.type === 'text' || block.type === 'refusal' ? `${block.type}: ${block.text}` : block.type;
}
