import type { GenerationResponse } from '../../../../src/canonical/response.ts';
import type { EventBatch, GenerationEvent } from '../../../../src/canonical/events.ts';
import { foldEvents } from '../../../../src/canonical/fold.ts';
import { checkEvents } from '../event-grammar.ts';
import type { Json, JsonObject } from '../../../../src/lib/json.ts';
import { createStreamDecoder } from '../../../../src/wire/gemini/response/stream.ts';

/** Signatures as the vendor writes them: base64, here much shorter. */
export const SIGNATURE = 'EpwICpkIAXLI2nxlGqp+/w==';
export const OTHER_SIGNATURE = 'CiIB0e2Kb6Syj1a961_-aQ';

/** One chunk of an upstream. */
export function chunk(parts: readonly Json[], candidate: JsonObject = {}, members: JsonObject = {}): JsonObject {
  return {
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...candidate }],
    modelVersion: 'gemini-3-flash-preview',
    responseId: 'pZ2xaOfUEcGjqtsP',
    ...members,
  };
}

export const USAGE: JsonObject = {
  promptTokenCount: 29,
  candidatesTokenCount: 10,
  thoughtsTokenCount: 202,
  totalTokenCount: 241,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 29 }],
};

export function finish(word: string, parts: readonly Json[] = [], candidate: JsonObject = {}): JsonObject {
  return chunk(parts, { finishReason: word, ...candidate }, { usageMetadata: USAGE });
}

export function call(name: string, args: Json, more: JsonObject = {}): JsonObject {
  return { functionCall: { name, args, ...more } };
}

/** A thought, and two calls at once, of which only the first is signed. */
export const THOUGHT_AND_CALLS: readonly JsonObject[] = [
  chunk([{ text: '**Looking up** ', thought: true }], {}, { usageMetadata: { promptTokenCount: 29 } }),
  chunk([{ text: 'both cities — müde.', thought: true }]),
  chunk([
    { ...call('weather', { city: 'Zürich', days: 2 }, { id: 'fc_1' }), thoughtSignature: SIGNATURE },
    call('weather', { city: 'Berlin' }, { id: 'fc_2' }),
  ]),
  finish('STOP', [{ text: '' }]),
];

export const WHOLE_THOUGHT_AND_CALLS: JsonObject = finish('STOP', [
  { text: '**Looking up** both cities — müde.', thought: true },
  { ...call('weather', { city: 'Zürich', days: 2 }, { id: 'fc_1' }), thoughtSignature: SIGNATURE },
  call('weather', { city: 'Berlin' }, { id: 'fc_2' }),
]);

/** Places in UTF-8: the wave takes 4 bytes there and the dash 3. */
const TIDES = '🌊 Tides come — twice a day — from the moon.';
const place = (quote: string): JsonObject => {
  const startIndex = Buffer.byteLength(TIDES.slice(0, TIDES.indexOf(quote)));
  return { startIndex, endIndex: startIndex + Buffer.byteLength(quote), text: quote };
};

const GROUNDING: JsonObject = {
  webSearchQueries: ['tides moon', 'tides', 'tides'],
  searchEntryPoint: { renderedContent: '<div></div>' },
  groundingChunks: [
    { web: { uri: 'https://sea.example/', title: 'sea.example' } },
    { web: { uri: 'https://moon.example/', title: 'moon.example' } },
  ],
  groundingSupports: [
    { segment: place('Tides come'), groundingChunkIndices: [0] },
    { segment: place('from the moon'), groundingChunkIndices: [0, 1] },
  ],
};

/** A text with sources, whose signature comes last and alone. */
export const GROUNDED: readonly JsonObject[] = [
  chunk([{ text: TIDES.slice(0, 15) }], { groundingMetadata: {} }),
  chunk([{ text: TIDES.slice(15) }]),
  finish('STOP', [{ text: '', thoughtSignature: OTHER_SIGNATURE }], { groundingMetadata: GROUNDING }),
];

export const WHOLE_GROUNDED: JsonObject = finish(
  'STOP',
  [{ text: TIDES }, { text: '', thoughtSignature: OTHER_SIGNATURE }],
  { groundingMetadata: GROUNDING },
);

export const TIDES_TEXT = TIDES;

/** Code that the vendor runs itself, a text, and the picture that came of it. */
export const CODE_AND_PICTURE: readonly JsonObject[] = [
  chunk([{ executableCode: { id: 'exec_1', language: 'PYTHON', code: 'print(6 * 7)' } }]),
  chunk([{ codeExecutionResult: { id: 'exec_1', outcome: 'OUTCOME_OK', output: '42\n' } }]),
  chunk([{ text: 'It is ' }]),
  chunk([{ text: '42.' }]),
  chunk([{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }]),
  finish('MAX_TOKENS', []),
];

export const WHOLE_CODE_AND_PICTURE: JsonObject = finish('MAX_TOKENS', [
  { executableCode: { id: 'exec_1', language: 'PYTHON', code: 'print(6 * 7)' } },
  { codeExecutionResult: { id: 'exec_1', outcome: 'OUTCOME_OK', output: '42\n' } },
  { text: 'It is 42.' },
  { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
]);

/** One call whose arguments come by path. */
export const PARTIAL_CALL: readonly JsonObject[] = [
  chunk([{ functionCall: { id: 'fc_9', name: 'save', willContinue: true }, thoughtSignature: SIGNATURE }]),
  chunk([partial({ jsonPath: '$.items[0].name', stringValue: 'App', willContinue: true })]),
  chunk([partial({ jsonPath: '$.items[0].name', stringValue: 'le "Ü"', willContinue: true })]),
  chunk([partial({ jsonPath: '$.items[0].name', stringValue: '' })]),
  chunk([partial({ jsonPath: '$.items[0].price', numberValue: 0.5 })]),
  chunk([partial({ jsonPath: '$.done', boolValue: true })]),
  chunk([{ functionCall: {} }]),
  finish('STOP'),
];

export function partial(piece: JsonObject): JsonObject {
  return { functionCall: { partialArgs: [piece], willContinue: true } };
}

/** An event stream of these chunks, with the vendor's line ends; a string stands as it is. */
export function stream(chunks: readonly (JsonObject | string)[]): Buffer {
  const frames = chunks.map((entry) => `data: ${typeof entry === 'string' ? entry : JSON.stringify(entry)}\r\n\r\n`);
  return Buffer.from(frames.join(''));
}

/** All events of a stream, read in pieces that end at these places. */
export function decodeStream(bytes: Uint8Array, cuts: readonly number[] = []): EventBatch {
  const decoder = createStreamDecoder();
  const events: GenerationEvent[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    events.push(...decoder.push(bytes.subarray(from, cut)));
    from = cut;
  }
  events.push(...decoder.end());
  return events;
}

/** Counts come once a network read: only the last one is the same for every way in which the bytes are cut. */
export function withLastCount(events: EventBatch): EventBatch {
  const last = events.findLastIndex(({ type }) => type === 'usage');
  return events.filter(({ type }, at) => type !== 'usage' || at === last);
}

export function foldStream(chunks: readonly (JsonObject | string)[]): GenerationResponse {
  const events = decodeStream(stream(chunks));
  checkEvents(events);
  return foldEvents(events);
}

/** The same with the ids that were made up numbered, because they differ each time. */
export function withCountedIds<T>(value: T): T {
  const text = JSON.stringify(value);
  const ids = new Map<string, string>();
  const counted = text.replaceAll(/call_[A-Za-z0-9_-]{24}/g, (id) => {
    const known = ids.get(id) ?? `call_${ids.size + 1}`;
    ids.set(id, known);
    return known;
  });
  return JSON.parse(counted);
}

/** `weather({"city": "Berlin"})` */
export function callsOf(response: GenerationResponse): readonly string[] {
  return response.blocks.flatMap((block) =>
    block.type === 'tool-call' && block.runBy === 'caller' ? [`${block.name}(${block.input})`] : [],
  );
}

/** `text`, `text.signed`, `encrypted(fc_1)`: what blocks there are, in order. */
export function kindsOf(response: GenerationResponse): readonly string[] {
  return response.blocks.map((block) => {
    if (block.type !== 'reasoning') return block.type;
    return `${block.form}${block.signature === undefined ? '' : '.signed'}${block.id === undefined ? '' : `(${block.id})`}`;
  });
}

export function textOfBlocks(response: GenerationResponse, type: 'text' | 'reasoning'): string {
  return response.blocks
    .map((block) => (block.type === type && (type === 'text' || isReadable(block)) ? block.text : ''))
    .join('');
}

function isReadable(block: GenerationResponse['blocks'][number]): boolean {
  return block.type === 'reasoning' && block.form !== 'encrypted';
}
