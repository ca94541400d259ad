import assert from 'node:assert/strict';
import { isJsonObject, parseJsonObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import { readChatStream, readMessagesStream } from './http/read-stream.ts';
import type { Ask, Replayed } from './recordings/replay.ts';

/** A call as a caller reads it, its arguments as the very characters that came. */
export interface ReportedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** What a caller knows after an answer, however it was delivered. */
export interface Reported {
  readonly text: string;
  readonly reasoning: string;
  /** Signatures and encrypted reasoning, in order. */
  readonly seals: readonly string[];
  /** Calls for the caller to run. */
  readonly calls: readonly ReportedCall[];
  /** `finish_reason` or `stop_reason`. */
  readonly finish: Json;
  readonly usage: JsonObject;
  readonly error: JsonObject | undefined;
  /** The message that a client has put together: what else it holds must be the same in both deliveries as well. */
  readonly message: JsonObject;
}

/** Puts an answer together as a client does. */
export function readReported({ text, contentType }: Replayed, ask: Ask): Reported {
  const streamed = contentType.startsWith('text/event-stream');
  assert.equal(streamed, ask.stream, `delivered as requested: ${text.slice(0, 300)}`);
  if (ask.format === 'chat') {
    return streamed
      ? reportedInChunks(readChatStream(text).chunks as readonly JsonObject[])
      : reportedInCompletion(text);
  }
  return streamed
    ? reportedInEvents(readMessagesStream(text).events as readonly JsonObject[])
    : reportedInMessage(text);
}

function reportedInCompletion(text: string): Reported {
  const body = objectOf(parseJsonObject(text));
  const choice = objectOf(listOf(body['choices'])[0]);
  const message = objectOf(choice['message']);
  const { tool_calls: calls, ...rest } = message;
  return {
    ...reportedInChatMessage(rest, callsOf(calls)),
    finish: choice['finish_reason'] ?? null,
    usage: objectOf(body['usage']),
    error: isJsonObject(choice['error']) ? choice['error'] : undefined,
    message: { ...rest, native_finish_reason: choice['native_finish_reason'] ?? null, logprobs: choice['logprobs'] },
  };
}

function reportedInChunks(chunks: readonly JsonObject[]): Reported {
  const message: Record<string, Json> = { role: 'assistant', content: null, refusal: null };
  const details: Record<string, Json>[] = [];
  const calls: { id: string; name: string; arguments: string }[] = [];
  let finish: Json = null;
  let native: Json = null;
  for (const chunk of chunks) {
    const choice = objectOf(listOf(chunk['choices'])[0]);
    const delta = objectOf(choice['delta']);
    for (const member of ['content', 'reasoning', 'refusal']) addText(message, member, delta[member]);
    for (const member of ['annotations', 'images']) {
      if (Array.isArray(delta[member])) message[member] = [...listOf(message[member]), ...listOf(delta[member])];
    }
    for (const detail of listOf(delta['reasoning_details'])) addDetail(details, objectOf(detail));
    for (const call of listOf(delta['tool_calls'])) addCall(calls, objectOf(call));
    finish = choice['finish_reason'] ?? finish;
    native = choice['native_finish_reason'] ?? native;
  }
  if (details.length > 0) message['reasoning_details'] = details;
  // A client starts with nothing; an empty text is never sent.
  if (message['content'] === '' && (calls.length > 0 || message['refusal'] !== null)) message['content'] = null;
  if (message['refusal'] === '') message['refusal'] = null;
  const error = chunks.find((chunk) => isJsonObject(chunk['error']))?.['error'];
  return {
    ...reportedInChatMessage(message, calls),
    finish,
    usage: objectOf(chunks.findLast((chunk) => isJsonObject(chunk['usage']))?.['usage']),
    error: isJsonObject(error) ? error : undefined,
    message: { ...message, native_finish_reason: native },
  };
}

function reportedInChatMessage(message: JsonObject, calls: readonly ReportedCall[]) {
  const details = listOf(message['reasoning_details']).map((detail) => objectOf(detail));
  return {
    text: textOf(message['content']),
    reasoning: textOf(message['reasoning']),
    seals: details.flatMap(({ signature, data }) => [data, signature].filter((seal) => typeof seal === 'string')),
    calls,
  };
}

function callsOf(calls: Json | undefined): readonly ReportedCall[] {
  return listOf(calls).map((call) => {
    const { id, function: definition } = objectOf(call);
    const { name, arguments: given } = objectOf(definition);
    return { id: textOf(id), name: textOf(name), arguments: textOf(given) };
  });
}

function addText(message: Record<string, Json>, member: string, text: Json | undefined): void {
  if (typeof text === 'string') message[member] = textOf(message[member]) + text;
}

/** Pieces of one block share `index` and `type`. @spec stream-17 */
function addDetail(details: Record<string, Json>[], piece: JsonObject): void {
  const same = details.find(
    ({ index, type }) => index !== undefined && index === piece['index'] && type === piece['type'],
  );
  if (same === undefined) {
    details.push({ ...(piece as Record<string, Json>) });
    return;
  }
  for (const [member, value] of Object.entries(piece)) {
    if (member === 'text' || member === 'summary' || member === 'data') addText(same, member, value);
    else if (value !== null && value !== undefined) same[member] = value;
  }
}

function addCall(calls: { id: string; name: string; arguments: string }[], piece: JsonObject): void {
  const index = Number(piece['index']);
  const { name, arguments: more } = objectOf(piece['function']);
  const known = calls[index];
  if (known === undefined) {
    assert.equal(index, calls.length, 'calls are numbered from 0');
    calls.push({ id: textOf(piece['id']), name: textOf(name), arguments: textOf(more) });
  } else {
    known.arguments += textOf(more);
  }
}

function reportedInMessage(text: string): Reported {
  const body = objectOf(parseJsonObject(text));
  const content = listOf(body['content']).map((block) => objectOf(block));
  const inputs = rawInputs(text);
  const { usage, stop_reason: stop, ...rest } = body;
  return {
    ...reportedInContent(content, inputs),
    finish: stop ?? null,
    usage: objectOf(usage),
    error: isJsonObject(body['error']) ? body['error'] : undefined,
    message: { ...rest, content },
  };
}

function reportedInEvents(events: readonly JsonObject[]): Reported {
  const content: Record<string, Json>[] = [];
  const inputs = new Map<number, string>();
  let message: JsonObject = {};
  let closing: JsonObject = {};
  let error: JsonObject | undefined;
  for (const event of events) {
    const index = Number(event['index']);
    if (event['type'] === 'message_start') message = objectOf(event['message']);
    if (event['type'] === 'content_block_start') content[index] = { ...(objectOf(event['content_block']) as object) };
    if (event['type'] === 'content_block_delta')
      addDelta(content[index] ?? {}, objectOf(event['delta']), inputs, index);
    if (event['type'] === 'message_delta') closing = event;
    if (event['type'] === 'error') error = objectOf(event['error']);
  }
  const texts: string[] = [];
  for (const [index, block] of content.entries()) {
    if (!('input' in block)) continue;
    // The empty text stands for no arguments. @spec stream-25
    const input = inputs.get(index) ?? '';
    texts.push(input === '' ? '{}' : input);
    block['input'] = JSON.parse(input === '' ? '{}' : input) as Json;
  }
  const { stop_reason: stop, ...delta } = objectOf(closing['delta']);
  const { usage: atStart, stop_reason: _none, ...start } = message;
  return {
    ...reportedInContent(content, texts),
    finish: stop ?? null,
    // What the end does not repeat remains as the start reported it.
    usage: { ...objectOf(atStart), ...objectOf(closing['usage']) },
    error,
    message: { ...start, ...delta, content },
  };
}

function addDelta(block: Record<string, Json>, delta: JsonObject, inputs: Map<number, string>, index: number): void {
  const { type, ...members } = delta;
  switch (textOf(type)) {
    case 'text_delta':
      return addText(block, 'text', members['text']);
    case 'thinking_delta':
      return addText(block, 'thinking', members['thinking']);
    case 'signature_delta':
      block['signature'] = members['signature'] ?? null;
      return;
    case 'input_json_delta':
      inputs.set(index, (inputs.get(index) ?? '') + textOf(members['partial_json']));
      return;
    case 'citations_delta':
      block['citations'] = [...listOf(block['citations']), members['citation'] ?? null];
      return;
    default:
      Object.assign(block, members);
  }
}

function reportedInContent(content: readonly JsonObject[], inputs: readonly string[]) {
  const withInput = content.filter((block) => 'input' in block);
  return {
    text: content.map((block) => (block['type'] === 'text' ? textOf(block['text']) : '')).join(''),
    reasoning: content.map((block) => (block['type'] === 'thinking' ? textOf(block['thinking']) : '')).join(''),
    seals: content.flatMap(({ signature, data }) =>
      [data, signature].filter((seal) => typeof seal === 'string' && seal !== ''),
    ) as readonly string[],
    calls: withInput.flatMap(({ type, id, name }, at) =>
      type === 'tool_use' ? [{ id: textOf(id), name: textOf(name), arguments: inputs[at] ?? '' }] : [],
    ),
  };
}

/** The characters of each `input` in a message's content: parsing would hide a lost `1.0`. */
function rawInputs(text: string): readonly string[] {
  const inputs: string[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      // message > content > block
      if (depth === 3 && text.slice(at, end + 2) === '"input":') {
        const last = endOfValue(text, end + 2);
        inputs.push(text.slice(end + 2, last));
        at = last - 1;
      } else {
        at = end;
      }
    } else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
  }
  return inputs;
}

/** Where the string that starts here has its closing quote. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

/** One past the value that starts here. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? '';
    if (character === '"') at = endOfString(text, at);
    else if ('{['.includes(character)) depth++;
    else if ('}]'.includes(character) && depth-- === 0) return at;
    else if (character === ',' && depth === 0) return at;
  }
  return text.length;
}

export function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
