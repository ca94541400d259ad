import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { foldEvents } from '../../../canonical/fold.ts';
import { NO_USAGE } from '../../../canonical/usage.ts';
import { isJsonObject, parseJson, parseJsonObject } from '../../../lib/json.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { createSseParser } from '../../../lib/net/sse.ts';
import { decodeWhole } from './response-in.ts';
import { encodeWhole } from './response-out.ts';
import { checkStream, foldContent } from '../../../../tests/support/wire/messages/stream-checker.ts';
import type { SeenEvent } from '../../../../tests/support/wire/messages/stream-checker.ts';
import { clientFormat } from '../../../../tests/support/wire/messages/request.ts';
import { frames, readBytes } from '../../../../tests/support/wire/messages/streams.ts';
import { decodeError } from './error-in.ts';

/** Recorded responses of real providers, where the checkout has them beside it. */
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const DIRECTORY = join(
  process.env['PROVIDER_STREAMS_DIR'] ?? join(ROOT, '../shared/fixtures/provider-streams'),
  'anthropic',
);
const IDENTITY = { id: 'gen-1', createdS: 1, model: 'acme/one' };

/** What each recording is known to hold. */
interface Facts {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly end: string;
  readonly kinds: string;
  /** Pieces of the response's text or of its tools' inputs. */
  readonly holds?: readonly string[];
}

const STREAMS: Readonly<Record<string, Facts>> = {
  'code-execution-stream.sse': {
    promptTokens: 4_714,
    completionTokens: 304,
    end: 'end_turn',
    kinds: 'reasoning text tool-call/upstream opaque text',
    holds: ['-428330955.97745'],
  },
  'document-citations-stream.sse': { promptTokens: 672, completionTokens: 39, end: 'end_turn', kinds: 'text' },
  'duplicate-message-start.chunks.txt': {
    promptTokens: 17,
    completionTokens: 227,
    end: 'end_turn',
    kinds: 'text',
    holds: ['Hello, World!'],
  },
  'noarg-tool-stream.sse': {
    promptTokens: 579,
    completionTokens: 41,
    end: 'tool_use',
    kinds: 'tool-call',
    holds: ['{}'],
  },
  'redacted-thinking-stream.sse': {
    promptTokens: 92,
    completionTokens: 189,
    end: 'end_turn',
    kinds: 'reasoning reasoning text',
  },
  'refusal-stream.chunks.txt': { promptTokens: 18, completionTokens: 5, end: 'refusal', kinds: '' },
  'thinking-stream.sse': { promptTokens: 43, completionTokens: 282, end: 'end_turn', kinds: 'reasoning text' },
  'tool-search-stream.sse': {
    promptTokens: 1_591,
    completionTokens: 175,
    end: 'tool_use',
    kinds: 'text tool-call/upstream opaque text tool-call',
  },
  'tool-stream.sse': {
    promptTokens: 633,
    completionTokens: 75,
    end: 'tool_use',
    kinds: 'tool-call',
    holds: ['13.4050'],
  },
  'web-search-citations-stream.sse': {
    promptTokens: 22_397,
    completionTokens: 637,
    end: 'end_turn',
    kinds: 'reasoning tool-call/upstream opaque',
  },
};

if (!existsSync(DIRECTORY)) {
  test(
    'recorded answers',
    { skip: `NO RECORDINGS at ${DIRECTORY}: set PROVIDER_STREAMS_DIR to replay them` },
    () => undefined,
  );
} else {
  test('covers every recording of the vendor', () => {
    const streams = readdirSync(DIRECTORY).filter((file) => /\.(sse|chunks\.txt)$/.test(file));
    assert.deepEqual(streams.toSorted(), Object.keys(STREAMS).toSorted());
  });
  for (const [file, facts] of Object.entries(STREAMS))
    test(`recorded ${file} is read and passed on`, () => replay(file, facts));
  for (const file of ['parallel-tools.json', 'tool-with-thinking.json'])
    test(`recorded ${file} is read and passed on`, () => replayWhole(file));
  test('decodes a recorded refusal of credentials', () => {
    assert.deepEqual(decodeError(read('auth-401.json').toString()), {
      message: 'invalid x-api-key',
      type: 'authentication_error',
    });
  });
}

function read(file: string): Buffer {
  const bytes = readFileSync(join(DIRECTORY, file));
  if (!file.endsWith('.chunks.txt')) return bytes;
  const lines = bytes
    .toString()
    .split('\n')
    .filter((line) => line !== '');
  return Buffer.from(frames(lines.map((line) => parseJson(line))));
}

function replay(file: string, facts: Facts): void {
  const bytes = read(file);
  const events = readBytes([bytes]);
  const response = foldEvents(events);
  assert.equal(response.failure, undefined);
  assert.deepEqual(response.warnings, []);
  assert.equal(response.end?.nativeFinish, facts.end);
  assert.equal(response.usage?.promptTokens, facts.promptTokens);
  assert.equal(response.usage.completionTokens, facts.completionTokens);
  const kinds = response.blocks.map((block) =>
    block.type === 'tool-call' && block.runBy === 'upstream' ? 'tool-call/upstream' : block.type,
  );
  assert.ok(kinds.join(' ').startsWith(facts.kinds), kinds.join(' '));
  for (const piece of facts.holds ?? []) assert.ok(JSON.stringify(response.blocks).includes(piece), piece);

  const encoder = clientFormat.createStreamEncoder(IDENTITY);
  const finalUsage = { usage: response.usage, charge: undefined, isByok: false, serviceMetadata: undefined };
  const sent = checkStream(encoder.encode(events) + encoder.close(finalUsage));
  const original = foldContent(readEvents(bytes));
  assert.deepEqual(foldContent(sent).map(withoutDefaults), original.map(withoutDefaults));
  const whole = parseJsonObject(encodeWhole(response, IDENTITY, finalUsage));
  assert.deepEqual(contentOf(whole).map(withoutDefaults), original.map(withoutDefaults));
}

function replayWhole(file: string): void {
  const text = read(file).toString();
  const response = foldEvents(decodeWhole(text));
  assert.ok(response.usage !== undefined && response.usage.promptTokens > 0);
  const finalUsage = {
    usage: response.usage ?? NO_USAGE,
    charge: undefined,
    isByok: false,
    serviceMetadata: undefined,
  };
  const sent = parseJsonObject(encodeWhole(response, IDENTITY, finalUsage));
  const given = parseJsonObject(text);
  assert.deepEqual(contentOf(sent).map(withoutDefaults), contentOf(given).map(withoutDefaults));
  assert.equal(sent?.['stop_reason'], given?.['stop_reason']);
}

function readEvents(bytes: Uint8Array): readonly SeenEvent[] {
  const events: SeenEvent[] = [];
  const parser = createSseParser({
    onEvent: (data, name) => events.push({ name: name ?? '', data: parseJsonObject(data) ?? {} }),
  });
  parser.push(bytes);
  parser.end();
  return events;
}

function contentOf(message: JsonObject | undefined): readonly JsonObject[] {
  const content: Json | undefined = message?.['content'];
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

/** Members that answers of older dates lack. */
function withoutDefaults(block: JsonObject): JsonObject {
  const { citations, caller: _caller, ...rest } = block;
  return { ...rest, ...(Array.isArray(citations) && citations.length > 0 && { citations }) };
}
