import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { GenerationResponse } from '../../../canonical/response.ts';
import { classifyStatus } from '../../../canonical/failure/classify-failure.ts';
import type { EventBatch } from '../../../canonical/events.ts';
import { foldEvents } from '../../../canonical/fold.ts';
import { checkEvents } from '../../../../tests/support/wire/event-grammar.ts';
import { NO_USAGE, type Usage } from '../../../canonical/usage.ts';
import { isJsonObject, parseJson, parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { ChatStreamEncoder } from '../../chat/response/stream-out.ts';
import { encodeWhole as encodeChat } from '../../chat/response/response-out.ts';
import { objectOf, objectsOf, textOf } from '../../json-fields.ts';
import { FINAL_USAGE, deltasOf, IDENTITY, readStream } from '../../../../tests/support/wire/chat/streams.ts';
import { MessagesStreamEncoder } from '../../messages/response/stream-out.ts';
import { encodeWhole as encodeMessages } from '../../messages/response/response-out.ts';
import { openSeal } from '../../messages/reasoning-seal.ts';
import { checkStream, foldContent } from '../../../../tests/support/wire/messages/stream-checker.ts';
import { decodeError } from './error.ts';
import { ERROR_FACTS, FACTS, type Fact, type LongText } from '../../../../tests/support/wire/gemini/recording-facts.ts';
import {
  callsOf,
  decodeStream,
  textOfBlocks,
  withCountedIds,
  withLastCount,
} from '../../../../tests/support/wire/gemini/streams.ts';

const DIRECTORY =
  process.env['PROVIDER_STREAMS_DIR'] ??
  fileURLToPath(new URL('../../../../../shared/fixtures/provider-streams', import.meta.url));

interface Recording {
  readonly name: string;
  readonly text: string;
  /** Framed again where the recorder took the framing away; `undefined` of an error's body. */
  readonly stream: Buffer | undefined;
}

function readRecordings(): readonly Recording[] {
  return readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.meta.json'))
    .toSorted()
    .flatMap((name) => {
      const meta = parseJsonObject(readFileSync(`${DIRECTORY}/${name}`, 'utf8'));
      if (meta?.['wire_format'] !== 'gemini-generatecontent') return [];
      const file = textOf(meta['file']) ?? '';
      const text = readFileSync(`${DIRECTORY}/${name.slice(0, name.lastIndexOf('/'))}/${file}`, 'utf8');
      const framed = file.endsWith('.sse') ? text : text.trim().replaceAll(/^(.*)$/gm, 'data: $1\n');
      const stream = file.endsWith('.json') ? undefined : Buffer.from(framed);
      return [{ name: name.replace('.meta.json', ''), text, stream }];
    });
}

/** A long text by what tells it from any other. */
function brief(text: string): LongText | string {
  if (text.length <= 40) return text;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { chars: text.length, begins: text.slice(0, 20), digest };
}

function signaturesOf({ blocks }: GenerationResponse): readonly (LongText | string)[] {
  return blocks.flatMap((block) =>
    block.type === 'reasoning' && block.form === 'encrypted' ? [brief(block.text)] : [],
  );
}

function sourcesOf({ blocks }: GenerationResponse): Fact['sources'] {
  return blocks
    .flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : []))
    .map((citation) =>
      citation.type === 'url'
        ? ([citation.start ?? -1, citation.end ?? -1, citation.title ?? ''] as const)
        : assert.fail(),
    );
}

function finalUsage({ usage }: GenerationResponse): typeof FINAL_USAGE {
  return { ...FINAL_USAGE, usage: usage ?? NO_USAGE };
}

/** What a chat caller reads, streamed: the deltas added up. */
function streamedToChat(events: EventBatch, response: GenerationResponse): JsonObject {
  const encoder = new ChatStreamEncoder(IDENTITY);
  const chunks = readStream(encoder.encode(events) + encoder.close(finalUsage(response)));
  const deltas = deltasOf(chunks);
  const joined = (member: string): string => deltas.map((delta) => textOf(delta[member]) ?? '').join('');
  const all = (member: string): readonly JsonObject[] => deltas.flatMap((delta) => objectsOf(delta[member]));
  const pieces = all('tool_calls').map((piece) => objectOf(piece['function']));
  return {
    content: joined('content'),
    reasoning: joined('reasoning'),
    names: pieces.flatMap((piece) => textOf(piece?.['name']) ?? []).join(' '),
    arguments: pieces.map((piece) => textOf(piece?.['arguments']) ?? '').join(''),
    data: all('reasoning_details').flatMap((detail) => textOf(detail['data']) ?? []),
    sources: all('annotations').length,
    finish:
      chunks.flatMap(({ choices }) => objectsOf(choices)).findLast(({ finish_reason: word }) => word !== null)?.[
        'finish_reason'
      ] ?? null,
    usage: usageOf(chunks.findLast(({ usage }) => isJsonObject(usage))?.['usage']),
  };
}

/** The same, from the whole response. */
function wholeToChat(response: GenerationResponse): JsonObject {
  const encoded = parseJsonObject(encodeChat(response, IDENTITY, finalUsage(response))) ?? {};
  const choice = objectsOf(encoded['choices'])[0];
  const message = objectOf(choice?.['message']) ?? {};
  const calls = objectsOf(message['tool_calls']).map((call) => objectOf(call['function']));
  return {
    content: message['content'] ?? '',
    reasoning: message['reasoning'] ?? '',
    names: calls.map((call) => textOf(call?.['name']) ?? '').join(' '),
    arguments: calls.map((call) => textOf(call?.['arguments']) ?? '').join(''),
    data: objectsOf(message['reasoning_details']).flatMap((detail) => textOf(detail['data']) ?? []),
    sources: objectsOf(message['annotations']).length,
    finish: choice?.['finish_reason'] ?? null,
    usage: usageOf(encoded['usage']),
  };
}

function usageOf(usage: unknown): JsonObject {
  const { prompt_tokens: prompt, completion_tokens: completion } = isJsonObject(usage) ? usage : {};
  return { prompt: prompt ?? null, completion: completion ?? null };
}

/** Blocks of a messages caller, their input parsed: it is an object there. */
function streamedToMessages(events: EventBatch, response: GenerationResponse): readonly JsonObject[] {
  const encoder = new MessagesStreamEncoder(IDENTITY);
  return foldContent(checkStream(encoder.encode(events) + encoder.close(finalUsage(response))));
}

function wholeToMessages(response: GenerationResponse): readonly JsonObject[] {
  return objectsOf(parseJsonObject(encodeMessages(response, IDENTITY, finalUsage(response)))?.['content']);
}

function checkChat(stated: JsonObject, response: GenerationResponse, usage: Partial<Usage>): void {
  assert.deepEqual(stated, {
    content: textOfBlocks(response, 'text'),
    reasoning: textOfBlocks(response, 'reasoning'),
    names: response.blocks.flatMap((block) => (block.type === 'tool-call' ? [block.name] : [])).join(' '),
    arguments: response.blocks.flatMap((block) => (block.type === 'tool-call' ? [block.input] : [])).join(''),
    data: response.blocks.flatMap((block) =>
      block.type === 'reasoning' && block.form === 'encrypted' ? [block.text] : [],
    ),
    sources: sourcesOf(response).length,
    finish: response.end?.finish ?? null,
    usage: { prompt: usage.promptTokens, completion: usage.completionTokens },
  });
}

function checkMessages(content: readonly JsonObject[], response: GenerationResponse): void {
  const joined = (type: string, member: string): string =>
    content.map((block) => (block['type'] === type ? (textOf(block[member]) ?? '') : '')).join('');
  assert.equal(joined('text', 'text'), textOfBlocks(response, 'text'));
  assert.equal(joined('thinking', 'thinking'), textOfBlocks(response, 'reasoning'));
  const encrypted = response.blocks.filter((block) => block.type === 'reasoning' && block.form === 'encrypted');
  assert.deepEqual(
    content.flatMap(({ type, data }) => (type === 'redacted_thinking' ? [openSeal(textOf(data) ?? '').text] : [])),
    encrypted.map((block) => (block.type === 'reasoning' ? block.text : '')),
  );
  assert.deepEqual(
    content.flatMap((block) => (block['type'] === 'tool_use' ? [[block['name'], block['input']]] : [])),
    response.blocks.flatMap((block) => (block.type === 'tool-call' ? [[block.name, parseJson(block.input)]] : [])),
  );
  const sources = content.flatMap((block) => objectsOf(block['citations']));
  assert.equal(sources.length, sourcesOf(response).length);
}

function replay(name: string, bytes: Buffer, fact: Fact): void {
  const events = decodeStream(bytes);
  const response = foldEvents(events);

  test(`${name}: says what it is known to say`, () => {
    checkEvents(events);
    const stated: Fact = {
      id: response.id ?? '',
      model: response.model ?? '',
      text: brief(textOfBlocks(response, 'text')),
      reasoning: brief(textOfBlocks(response, 'reasoning')),
      signatures: signaturesOf(response),
      calls: callsOf(response),
      sources: sourcesOf(response),
      usage: response.usage ?? assert.fail('the answer tells its usage'),
      finish: response.end?.finish ?? '',
      nativeFinish: response.end?.nativeFinish ?? '',
    };
    assert.deepEqual(stated, fact);
    assert.deepEqual(response.warnings, []);
  });

  test(`${name}: is the same however it is cut`, () => {
    const whole = withCountedIds(withLastCount(events));
    for (const size of [1, 7, 1_000]) {
      const cuts = Array.from({ length: Math.floor(bytes.length / size) }, (_, index) => index * size);
      assert.deepEqual(withCountedIds(withLastCount(decodeStream(bytes, cuts))), whole);
    }
  });

  test(`${name}: says the same to a chat caller, streamed and whole`, () => {
    checkChat(streamedToChat(events, response), response, fact.usage);
    checkChat(wholeToChat(response), response, fact.usage);
  });

  test(`${name}: says the same to a messages caller, streamed and whole`, () => {
    checkMessages(streamedToMessages(events, response), response);
    checkMessages(wholeToMessages(response), response);
  });
}

if (!existsSync(DIRECTORY)) {
  test('recorded gemini streams are replayed', (context) => {
    const why = `SKIPPED: no recorded provider streams at ${DIRECTORY}; set PROVIDER_STREAMS_DIR`;
    console.log(why);
    context.skip(why);
  });
} else {
  suite('recorded gemini responses', () => {
    const recordings = readRecordings();

    test('has facts for every recording, and a recording for every fact', () => {
      const known = [...Object.keys(FACTS), ...Object.keys(ERROR_FACTS)].toSorted();
      assert.deepEqual(recordings.map(({ name }) => name).toSorted(), known);
    });

    for (const { name, text, stream } of recordings) {
      const fact = FACTS[name];
      const error = ERROR_FACTS[name];
      if (stream !== undefined && fact !== undefined) replay(name, stream, fact);
      if (error === undefined) continue;
      test(`${name}: is the error that it is`, () => {
        const body = decodeError(text);
        const { message = '', ...others } = body;
        assert.deepEqual(others, error.body);
        assert.ok(message.startsWith(error.begins));
        const failure = classifyStatus(error.status, body);
        assert.deepEqual([failure.status, failure.errorType, failure.retryAfterMs], error.failure);
      });
    }
  });
}
