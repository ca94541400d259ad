import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { GenerationResponse } from '../../../canonical/response.ts';
import { classifyStatus } from '../../../canonical/failure/classify-failure.ts';
import { foldEvents } from '../../../canonical/fold.ts';
import { NO_USAGE, type Usage } from '../../../canonical/usage.ts';
import { checkEvents } from '../../../../tests/support/wire/event-grammar.ts';
import { parseJsonObject } from '../../../lib/json.ts';
import { chatChunkSchema, chatResultSchema } from './response-schema.ts';
import { decodeError } from '../../upstream-error.ts';
import { decodeWhole } from './response-in.ts';
import { ChatStreamEncoder } from './stream-out.ts';
import { encodeWhole } from './response-out.ts';
import { objectOf, textOf } from '../../json-fields.ts';
import {
  ERROR_FACTS,
  FACTS,
  RECORDED_IDS,
  type Counts,
  type Fact,
  type Stated,
} from '../../../../tests/support/wire/chat/recording-facts.ts';
import { FINAL_USAGE, decodeStream, IDENTITY, readStream } from '../../../../tests/support/wire/chat/streams.ts';

const DIRECTORY =
  process.env['PROVIDER_STREAMS_DIR'] ??
  fileURLToPath(new URL('../../../../../shared/fixtures/provider-streams', import.meta.url));
/** Mistral's differs in its content lists. */
const WIRE_FORMATS: ReadonlySet<unknown> = new Set(['openai-chat', 'mistral-chat']);

interface Recording {
  readonly name: string;
  readonly status: unknown;
  readonly kind: 'sse' | 'lines' | 'json';
  readonly text: string;
}

function findRecordings(): readonly Recording[] {
  const names = readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.meta.json'))
    .toSorted()
    .flatMap((name) => {
      const meta = parseJsonObject(readFileSync(`${DIRECTORY}/${name}`, 'utf8'));
      if (!WIRE_FORMATS.has(meta?.['wire_format'])) return [];
      const file = `${name.slice(0, name.lastIndexOf('/'))}/${textOf(meta?.['file']) ?? ''}`;
      const kind = file.endsWith('.sse') ? 'sse' : file.endsWith('.json') ? 'json' : 'lines';
      const text = readFileSync(`${DIRECTORY}/${file}`, 'utf8');
      return [{ name: name.replace('.meta.json', ''), status: objectOf(meta?.['response'])?.['status'], kind, text }];
    });
}

/** The bytes as they came; where the recorder took the framing away, it is put back. */
function bytesOf({ kind, text }: Recording): Buffer {
  if (kind === 'sse') return Buffer.from(text);
  const lines = text.split('\n').filter((line) => line !== '');
  return Buffer.from([...lines, '[DONE]'].map((line) => `data: ${line}\n\n`).join(''));
}

function joined(response: GenerationResponse, type: 'text' | 'reasoning'): string {
  return response.blocks.map((block) => (block.type === type ? block.text : '')).join('');
}

function checkFacts(response: GenerationResponse, fact: Fact): void {
  assert.deepEqual([response.id, response.model], fact.from);
  checkText(joined(response, 'text'), fact.text);
  checkText(joined(response, 'reasoning'), fact.reasoning);
  assert.deepEqual(callsOf(response), fact.calls ?? []);
  assert.deepEqual(signaturesOf(response), fact.signatures ?? []);
  const sources = [
    ...response.citations.map(({ citation }) => citation),
    ...response.blocks.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : [])),
  ];
  assert.deepEqual(
    sources.map((source) => (source.type === 'url' ? [source.url, source.title] : [])),
    fact.sources ?? [],
  );
  assert.deepEqual(response.usage && countsOf(response.usage), fact.usage);
  assert.deepEqual(response.end && [response.end.finish, response.end.nativeFinish], fact.finish);
  const { failure } = response;
  assert.deepEqual(failure && [failure.kind, failure.status, failure.providerCode], fact.failure);
  assert.deepEqual(response.warnings, []);
}

function checkText(text: string, stated: Stated | undefined): void {
  if (stated === undefined || typeof stated === 'string') assert.equal(text, stated ?? '');
  else {
    assert.ok(text.startsWith(stated.begins), text.slice(0, 200));
    assert.ok(text.endsWith(stated.ends), text.slice(-200));
    assert.equal(text.length, stated.chars);
  }
}

/** Where an upstream gives no id, one is made up. */
function callsOf({ blocks }: GenerationResponse): readonly string[] {
  return blocks.flatMap((block) =>
    block.type === 'tool-call'
      ? [
          `${block.id.replace(/^call_[A-Za-z0-9_-]{24}$/, (id) => (RECORDED_IDS.has(id) ? id : 'call_made_up'))} ${block.name}(${block.input})`,
        ]
      : [],
  );
}

function signaturesOf({ blocks }: GenerationResponse): readonly string[] {
  return blocks.flatMap((block) =>
    block.type === 'reasoning' && block.signature !== undefined
      ? [`${block.family ?? ''} ${block.signature.slice(0, 24)} ${block.signature.length}`]
      : [],
  );
}

function countsOf(usage: Usage): Counts {
  const { promptTokens, completionTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  for (const count of Object.values(usage)) assert.ok(typeof count !== 'number' || count >= 0);
  return [promptTokens, completionTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens];
}

/** The caller of ours gets the same text, reasoning and calls, however the response is delivered. */
function checkRelay(response: GenerationResponse, frames: string): void {
  for (const entry of readStream(frames)) assert.equal(chatChunkSchema.safeParse(entry).error, undefined);
  const again = foldEvents(decodeStream(Buffer.from(frames)));
  const encoded = encodeWhole(response, IDENTITY, { ...FINAL_USAGE, usage: response.usage ?? NO_USAGE });
  assert.equal(chatResultSchema.safeParse(parseJsonObject(encoded)).error, undefined);
  const whole = foldEvents(decodeWhole(encoded));
  for (const copy of [again, whole]) {
    assert.equal(joined(copy, 'text'), joined(response, 'text'));
    assert.equal(joined(copy, 'reasoning'), joined(response, 'reasoning'));
    assert.deepEqual(
      copy.blocks.filter(({ type }) => type === 'tool-call').map((block) => 'id' in block && block.id),
      response.blocks.filter(({ type }) => type === 'tool-call').map((block) => 'id' in block && block.id),
    );
  }
}

if (!existsSync(DIRECTORY)) {
  test('recorded provider streams are replayed', (context) => {
    const why = `SKIPPED: no recorded provider streams at ${DIRECTORY}; set PROVIDER_STREAMS_DIR`;
    console.log(why);
    context.skip(why);
  });
} else {
  suite('recorded chat responses', () => {
    const recordings = findRecordings();

    test('has a recording for every fact', () => {
      const names = new Set(recordings.map(({ name }) => name));
      assert.deepEqual(
        [...Object.keys(FACTS), ...Object.keys(ERROR_FACTS)].filter((name) => !names.has(name)),
        [],
      );
    });

    for (const recording of recordings) {
      const { name, status, kind, text } = recording;
      if (status !== 200) {
        test(`${name}: the error is understood`, () => {
          const error = decodeError(text);
          const { errorType, providerCode = '' } = classifyStatus(Number(status), error);
          const [expected, code, begins] = ERROR_FACTS[name] ?? assert.fail('the recording has its facts');
          assert.deepEqual([errorType, providerCode], [expected, code]);
          assert.ok(error.message?.startsWith(begins), error.message);
        });
        continue;
      }
      test(`${name}: says what it is known to say`, () => {
        const events = kind === 'json' ? decodeWhole(text) : decodeStream(bytesOf(recording));
        checkEvents(events);
        const response = foldEvents(events);
        checkFacts(response, FACTS[name] ?? assert.fail('the recording has its facts'));
        if (response.failure !== undefined) return;
        const encoder = new ChatStreamEncoder(IDENTITY);
        checkRelay(
          response,
          encoder.encode(events) + encoder.close({ ...FINAL_USAGE, usage: response.usage ?? NO_USAGE }),
        );
      });

      if (kind === 'json') continue;
      test(`${name}: is the same however it is cut`, () => {
        const bytes = bytesOf(recording);
        const whole = decodeStream(bytes);
        for (const size of [1, 7, 1_000]) {
          const cuts = Array.from({ length: Math.floor(bytes.length / size) }, (_, index) => index * size);
          assert.deepEqual(decodeStream(bytes, cuts), whole);
        }
      });
    }
  });
}
