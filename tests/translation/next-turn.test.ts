import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { foldEvents } from '../../src/canonical/fold.ts';
import { NO_USAGE } from '../../src/canonical/usage.ts';
import { isJsonObject, parseJsonObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import { UPSTREAM_FORMATS } from '../../src/app/upstream-formats.ts';
import type { Dialect } from '../../src/wire/format.ts';
import { CLIENT_FORMATS, dialectOf, prepareRequest } from '../support/prepare-request.ts';
import { readFacts } from '../support/recordings/recorded-facts.ts';
import { readOwnRecordings, readRecordings, type Recording } from '../support/recordings/recordings.ts';
import { listOf, objectOf, textOf } from '../support/reported.ts';
import { decodeInPieces } from '../support/wire/decode-in-pieces.ts';
import { BEYOND } from './check-facts.ts';
import { playerOf } from './providers.ts';

const IDENTITY = { id: 'gen-1', createdS: 1_760_000_000, model: 'acme/one', provider: 'Acme' };

/** The answer as a caller gets it whole. */
function answerTo(caller: 'chat' | 'messages', { format, body, streamed }: Recording, dialect: Dialect): JsonObject {
  const events = streamed
    ? decodeInPieces(format, body, [], dialect)
    : UPSTREAM_FORMATS[format].decodeWhole(body.toString('utf8'), dialect);
  const answer = foldEvents(events);
  const finalUsage = { usage: NO_USAGE, charge: undefined, isByok: false, serviceMetadata: undefined };
  return parseJsonObject(CLIENT_FORMATS[caller].encodeWhole(answer, IDENTITY, finalUsage)) ?? {};
}

/** The caller's next request: the answer as it came, the results of its calls, and a further word. */
function nextRequest(caller: 'chat' | 'messages', answer: JsonObject): JsonObject {
  const requested = { role: 'user', content: 'Play.' };
  if (caller === 'chat') {
    const message = objectOf(objectOf(listOf(answer['choices'])[0])['message']);
    const calls = listOf(message['tool_calls']).map((call) => objectOf(call));
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'done' }));
    const tools = calls.map((call) => ({ type: 'function', function: { name: objectOf(call['function'])['name'] } }));
    return {
      model: 'acme/one',
      messages: [requested, message, ...results, { role: 'user', content: 'Go on.' }] as Json[],
      ...(tools.length > 0 && { tools: withoutTwins(tools) }),
    };
  }
  const content = listOf(answer['content']);
  const calls = content.map((block) => objectOf(block)).filter(({ type }) => type === 'tool_use');
  const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'done' }));
  const tools = calls.map(({ name }) => ({ name, input_schema: { type: 'object' } }));
  return {
    model: 'acme/one',
    max_tokens: 8_000,
    messages: [
      requested,
      { role: 'assistant', content },
      { role: 'user', content: [...results, { type: 'text', text: 'Go on.' }] },
    ] as Json[],
    ...(tools.length > 0 && { tools: withoutTwins(tools) }),
  };
}

function withoutTwins(tools: readonly JsonObject[]): readonly JsonObject[] {
  return [...new Map(tools.map((tool) => [JSON.stringify(tool), tool])).values()];
}

/** Members that hold what was said; Cohere has a member of its own for what is said before calls. */
const STATED: ReadonlySet<string> = new Set(['text', 'content', 'tool_plan']);

/** What stands in a body, wherever it stands. */
interface Standing {
  readonly strings: Set<string>;
  readonly objects: Set<string>;
  /** What the members that hold text say, one after the other. */
  text: string;
}

function lookThrough(value: Json | undefined, member: string, standing: Standing): void {
  if (typeof value === 'string') {
    standing.strings.add(value);
    if (STATED.has(member)) standing.text += value;
  } else if (Array.isArray(value)) {
    for (const item of value) lookThrough(item, member, standing);
  } else if (isJsonObject(value)) {
    standing.objects.add(JSON.stringify(value));
    for (const [name, inner] of Object.entries(value)) lookThrough(inner, name, standing);
  }
}

/** Formats whose models demand their reasoning back. The plain chat wire has no place for it. */
const KEEPS_SEALS: ReadonlySet<string> = new Set(['messages', 'gemini', 'converse', 'responses']);

function checkNextTurn(caller: 'chat' | 'messages', recording: Recording): void {
  const player = playerOf(recording);
  const target = {
    adapter: player.adapter,
    model: player.model ?? recording.model ?? 'model',
    format: recording.format,
  };
  const dialect = dialectOf(target);
  const answer = answerTo(caller, recording, dialect);
  const sent = prepareRequest(caller, nextRequest(caller, answer), target);
  assert.equal(sent['refused'], undefined, JSON.stringify(sent));
  const standing: Standing = { strings: new Set(), objects: new Set(), text: '' };
  lookThrough(sent['body'], '', standing);
  const { strings, objects } = standing;
  const facts = readFacts(recording);
  // Mistral accepts only ids of nine letters, but sends longer ones of hosts behind it.
  const isRewritten = 'callIds' in dialect && dialect.callIds === 'nine';
  const stated = standing.text.replaceAll(/\s/g, '');
  for (const text of facts.texts)
    assert.ok(stated.includes(text.replaceAll(/\s/g, '')), `the text ${text.slice(0, 60)}`);
  for (const seal of KEEPS_SEALS.has(recording.format) ? facts.seals : [])
    assert.ok(strings.has(seal), `${seal.slice(0, 20)} comes back to its author`);
  for (const { id, name, arguments: given } of BEYOND.get(recording.name)?.includes('calls') ? [] : facts.calls) {
    assert.ok(id === '' || strings.has(id) || isRewritten, `the id ${id}`);
    assert.ok(strings.has(name), `the name ${name}`);
    const object = typeof given === 'string' ? parseJsonObject(given) : given;
    assert.ok(
      strings.has(textOf(given)) || strings.has(JSON.stringify(object)) || objects.has(JSON.stringify(object)),
      `the arguments ${JSON.stringify(given)}`,
    );
  }
}

suite('a response that comes back with the next request', () => {
  const played = [...readOwnRecordings(), ...readRecordings()].filter(
    (recording) =>
      recording.status === 200 && !recording.name.startsWith('pains/') && readFacts(recording).finish !== undefined,
  );
  for (const recording of played)
    for (const caller of ['chat', 'messages'] as const)
      test(`keeps text, calls and signatures: ${recording.name} from a ${caller} caller`, () =>
        checkNextTurn(caller, recording));
});
