import { parseJsonObject, type Json, type JsonObject } from '../../../src/lib/json.ts';
import { formatOfPath, emit, type SpokenFormat } from './speak.ts';
import { listOf, objectOf, textOf } from '../reported.ts';
import { json, type Script } from '../upstream.ts';

/** Says what is wrong with a body, as vendors do in their refusals; `undefined`: nothing. */
export type Fault = (format: SpokenFormat, body: JsonObject) => string | undefined;

/** Answers whatever has none of these faults, and refuses the rest. */
export function refuse(...faults: readonly Fault[]): Script {
  return (arrived, response, request) => {
    const format = formatOfPath(arrived.path);
    const body = parseJsonObject(arrived.text) ?? {};
    const fault = faults.map((find) => find(format, body)).find((found) => found !== undefined);
    const script = fault === undefined ? emit('Done.') : json(400, { error: { message: fault }, message: fault });
    void script(arrived, response, request);
  };
}

/** A turn as far as calls go. */
interface Turn {
  readonly isModel: boolean;
  readonly calls: readonly string[];
  readonly results: readonly string[];
  /** Something else stands before a result. */
  readonly isLate: boolean;
}

const NARROW_IDS: ReadonlySet<SpokenFormat> = new Set(['messages', 'converse', 'gemini']);
const ALTERNATING: ReadonlySet<SpokenFormat> = new Set(['messages', 'converse', 'gemini']);

/** What each format's vendor demands: one result for each call, in the very next turn, before anything else. */
export const unpairedResults: Fault = (format, body) => {
  const turns = TURNS[format](body);
  let owed: readonly string[] = [];
  for (const [at, { isModel, calls, results, isLate }] of turns.entries()) {
    const ids = [...calls, ...results];
    if (NARROW_IDS.has(format) && ids.some((id) => !/^[a-zA-Z0-9_-]{1,64}$/.test(id)))
      return `turn ${at}: ids must match ^[a-zA-Z0-9_-]+$: ${ids.join()}`;
    if (results.toSorted().join() !== owed.toSorted().join())
      return `turn ${at}: results for ${owed.join()} were expected, found ${results.join()}`;
    if (isLate) return `turn ${at}: results must come first`;
    if (new Set(calls).size < calls.length) return `turn ${at}: ids must be unique`;
    owed = calls;
    if (ALTERNATING.has(format) && turns[at - 1]?.isModel === isModel) return `turn ${at}: roles must alternate`;
  }
  return owed.length > 0 ? `calls without results: ${owed.join()}` : undefined;
};

const TURNS: Readonly<Record<SpokenFormat, (body: JsonObject) => readonly Turn[]>> = {
  chat: (body) => inRows(objectsIn(body['messages'])),
  cohere: (body) => inRows(objectsIn(body['messages'])),
  messages: (body) =>
    objectsIn(body['messages']).map(({ role, content }) =>
      turnOf(role === 'assistant', objectsIn(content), ({ type, id, tool_use_id: result }) =>
        type === 'tool_use' ? { call: textOf(id) } : type === 'tool_result' ? { result: textOf(result) } : {},
      ),
    ),
  converse: (body) =>
    objectsIn(body['messages']).map(({ role, content }) =>
      turnOf(role === 'assistant', objectsIn(content), ({ toolUse, toolResult }) => ({
        ...(toolUse !== undefined && { call: textOf(objectOf(toolUse)['toolUseId']) }),
        ...(toolResult !== undefined && { result: textOf(objectOf(toolResult)['toolUseId']) }),
      })),
    ),
  gemini: (body) =>
    objectsIn(body['contents']).map(({ role, parts }) =>
      turnOf(role === 'model', objectsIn(parts), ({ functionCall, functionResponse }) => ({
        ...(functionCall !== undefined && { call: textOf(objectOf(functionCall)['id']) }),
        ...(functionResponse !== undefined && { result: textOf(objectOf(functionResponse)['id']) }),
      })),
    ),
  responses: (body) =>
    inRows(
      objectsIn(body['input']).map(({ type, call_id: id, role }) => {
        if (type === 'function_call') return { role: 'assistant', tool_calls: [{ id }] };
        return type === 'function_call_output' ? { role: 'tool', tool_call_id: id } : { role };
      }) as readonly JsonObject[],
    ),
};

function turnOf(
  isModel: boolean,
  blocks: readonly JsonObject[],
  read: (block: JsonObject) => { readonly call?: string; readonly result?: string },
): Turn {
  const kinds = blocks.map(read);
  const firstOther = kinds.findIndex(({ result }) => result === undefined);
  return {
    isModel,
    calls: kinds.flatMap(({ call }) => call ?? []),
    results: kinds.flatMap(({ result }) => result ?? []),
    isLate: firstOther >= 0 && kinds.slice(firstOther).some(({ result }) => result !== undefined),
  };
}

/** Messages of their own for results, and items of their own for calls, are one turn when they stand in a row. */
function inRows(messages: readonly JsonObject[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const { role, tool_calls: calls, tool_call_id: result } of messages) {
    const isResult = role === 'tool';
    const called = objectsIn(calls).map(({ id }) => textOf(id));
    const last = turns.at(-1);
    if (isResult && last !== undefined && last.results.length > 0)
      turns[turns.length - 1] = { ...last, results: [...last.results, textOf(result)] };
    else if (called.length > 0 && last !== undefined && last.calls.length > 0)
      turns[turns.length - 1] = { ...last, calls: [...last.calls, ...called] };
    else if (isResult || called.length > 0 || (last !== undefined && last.calls.length > 0))
      turns.push({
        isModel: role === 'assistant',
        calls: called,
        results: isResult ? [textOf(result)] : [],
        isLate: false,
      });
  }
  return turns;
}

/** How empty a text may be: Anthropic's models want a visible character, Gemini and Cohere any at all. */
const REFUSED_TEXT: Readonly<Partial<Record<SpokenFormat, RegExp>>> = {
  messages: /^\s*$/,
  converse: /^\s*$/,
  gemini: /^$/,
  cohere: /^$/,
};

/** What vendors refuse: turns without anything in them, and texts without anything to read. */
export const emptyContent: Fault = (format, body) => {
  const refused = REFUSED_TEXT[format];
  const turns = ['messages', 'contents', 'input'].flatMap((member) => objectsIn(body[member]));
  const contents = turns.flatMap(({ content, parts }) => [content, parts]).filter((content) => content !== undefined);
  if (contents.some((content) => Array.isArray(content) && content.length === 0)) return 'a message has no content';
  const instructions = [body['system'], objectOf(body['systemInstruction'])['parts']];
  const texts = [...contents, ...instructions].flatMap(textsIn);
  const fault = refused === undefined ? undefined : texts.find((text) => refused.test(text));
  return fault === undefined ? undefined : `text content must be non-empty: ${JSON.stringify(fault)}`;
};

/** Texts of a content, and of the content of results inside it where those are blocks. */
function textsIn(content: Json | undefined): readonly string[] {
  if (typeof content === 'string') return [content];
  return objectsIn(content).flatMap(({ text, content: inner, toolResult }) => [
    ...(typeof text === 'string' ? [text] : []),
    ...(Array.isArray(inner) ? textsIn(inner) : []),
    ...textsIn(objectOf(toolResult)['content']),
  ]);
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return listOf(value).map((item) => objectOf(item));
}
