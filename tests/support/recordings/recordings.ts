import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { encodeMessage } from '../wire/aws-event-stream.ts';
import { parseJsonObject, isJsonObject, type JsonObject } from '../../../src/lib/json.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Recorded traffic of real providers. It is not part of the repository: CI and most checkouts have it beside them. */
const DIRECTORY = process.env['PROVIDER_STREAMS_DIR'] ?? join(ROOT, '../shared/fixtures/provider-streams');
/** Short answers that were written for this repository, so that a clone alone tests every format. */
const OWN_DIRECTORY = join(ROOT, 'tests/golden/own');

const WIRE_FORMATS = {
  'openai-chat': 'chat',
  'mistral-chat': 'chat',
  'anthropic-messages': 'messages',
  'openai-responses': 'responses',
  'gemini-generatecontent': 'gemini',
  'bedrock-converse': 'converse',
  'cohere-v2-chat': 'cohere',
} as const;

export type RecordedFormat = (typeof WIRE_FORMATS)[keyof typeof WIRE_FORMATS];

/** One answer of a provider, as it goes over the wire. */
export interface Recording {
  /** `anthropic/thinking-stream`. */
  readonly name: string;
  /** With what it holds: `anthropic/thinking-stream.sse`. */
  readonly file: string;
  readonly provider: string;
  readonly format: RecordedFormat;
  readonly status: number;
  readonly contentType: string;
  /** Further headers that mean something. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** A stream of events, not one JSON object. */
  readonly streamed: boolean;
  /** The model of the request, if the recording has it. */
  readonly model: string | undefined;
}

/** What a recording without its framing gets back, by format. */
const NAMED_EVENTS: ReadonlySet<RecordedFormat> = new Set(['messages', 'responses', 'cohere']);

/** Answers of real providers; without them nothing is replayed, and the run says so. */
export function readRecordings(): readonly Recording[] {
  return existsSync(DIRECTORY) ? readFrom(DIRECTORY) : [];
}

/** Declares the test that is skipped, loudly, where there are no recordings. */
export function skipWithoutRecordings(): boolean {
  if (existsSync(DIRECTORY)) return false;
  const why = `NO RECORDINGS at ${DIRECTORY}: set PROVIDER_STREAMS_DIR to replay them`;
  console.error(why);
  test('recorded responses of providers', { skip: why }, () => undefined);
  return true;
}

export function readOwnRecordings(): readonly Recording[] {
  return readFrom(OWN_DIRECTORY);
}

function readFrom(directory: string): readonly Recording[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.meta.json'))
    .toSorted()
    .map((name) => readRecording(directory, name));
}

function readRecording(directory: string, metaName: string): Recording {
  const meta = parseJsonObject(readFileSync(join(directory, metaName), 'utf8')) ?? {};
  const { provider, wire_format: wireFormat, file } = meta;
  if (typeof provider !== 'string' || typeof file !== 'string' || !isWireFormat(wireFormat))
    throw new Error(`${metaName} is not the meta of a recording`);
  const format = WIRE_FORMATS[wireFormat];
  const response = objectAt(meta, 'response');
  const headers = objectAt(response, 'headers');
  const { 'content-type': contentType, 'retry-after': retryAfter } = headers;
  return {
    name: metaName.replace('.meta.json', ''),
    file: join(dirname(metaName), file),
    provider,
    format,
    status: Number(response['status']),
    contentType: typeof contentType === 'string' ? contentType : 'application/json',
    headers: typeof retryAfter === 'string' ? { 'retry-after': retryAfter } : {},
    body: readBody(join(directory, dirname(metaName), file), format),
    streamed: !file.endsWith('.json'),
    model: modelOf(objectAt(meta, 'request')),
  };
}

function readBody(path: string, format: RecordedFormat): Buffer {
  const bytes = readFileSync(path);
  if (path.endsWith('.frames.txt')) return frameBinary(bytes.toString('utf8'));
  if (!path.endsWith('.chunks.txt')) return bytes;
  const frames = bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => frameLine(line, format));
  const done = format === 'chat' ? 'data: [DONE]\n\n' : '';
  return Buffer.from(frames.join('') + done);
}

/** Lines of `event {json}`, or `!exception {json}`, as the binary messages that they stand for. */
function frameBinary(text: string): Buffer {
  const messages = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const space = line.indexOf(' ');
      const [name, payload] = [line.slice(0, space), line.slice(space + 1)];
      const headers = name.startsWith('!')
        ? { ':message-type': 'exception', ':exception-type': name.slice(1) }
        : { ':message-type': 'event', ':event-type': name };
      return encodeMessage({ ...headers, ':content-type': 'application/json' }, payload);
    });
  return Buffer.concat(messages);
}

function frameLine(line: string, format: RecordedFormat): string {
  const type = NAMED_EVENTS.has(format) ? parseJsonObject(line)?.['type'] : undefined;
  return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${line}\n\n`;
}

/** In the body, or in the path: `/v1beta/models/gemini-2.5-pro:streamGenerateContent`, `/model/us.amazon.nova/converse`. */
function modelOf(request: JsonObject): string | undefined {
  const { model } = objectAt(request, 'body');
  if (typeof model === 'string') return model;
  const path = typeof request['path'] === 'string' ? request['path'] : '';
  const inPath = /\/models\/([^/:]+):|\/model\/([^/]+)\/converse/.exec(path);
  const found = decodeURIComponent(inPath?.[1] ?? inPath?.[2] ?? '');
  return found === '' || found === 'MODEL' ? undefined : found;
}

function isWireFormat(value: unknown): value is keyof typeof WIRE_FORMATS {
  return typeof value === 'string' && Object.hasOwn(WIRE_FORMATS, value);
}

function objectAt(object: JsonObject, member: string): JsonObject {
  const value = object[member];
  return isJsonObject(value) ? value : {};
}
