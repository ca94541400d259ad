import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { GenerationResponse } from '../../../canonical/response.ts';
import type { Block } from '../../../canonical/blocks.ts';
import { foldEvents } from '../../../canonical/fold.ts';
import { parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { objectOf, textOf } from '../../json-fields.ts';
import { decodeWhole } from './response-in.ts';
import { responsesUpstreamFormat } from '../format.ts';
import { FACTS, shorten, type Fact } from '../../../../tests/support/wire/responses/recording-facts.ts';
import { decodeStream } from '../../../../tests/support/wire/responses/streams.ts';

const DIRECTORY =
  process.env['PROVIDER_STREAMS_DIR'] ??
  fileURLToPath(new URL('../../../../../shared/fixtures/provider-streams', import.meta.url));

interface Recording {
  readonly name: string;
  /** The bytes as they came; where the recorder took the framing away, it is put back. */
  readonly bytes: Buffer;
  readonly streamed: boolean;
}

function readRecordings(): readonly Recording[] {
  return readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.meta.json'))
    .toSorted()
    .flatMap((name) => {
      const meta = parseJsonObject(readFileSync(`${DIRECTORY}/${name}`, 'utf8'));
      if (meta?.['wire_format'] !== 'openai-responses') return [];
      const file = textOf(meta['file']) ?? '';
      const text = readFileSync(`${DIRECTORY}/${name.slice(0, name.lastIndexOf('/'))}/${file}`, 'utf8');
      const framed = file.endsWith('.chunks.txt') ? text.trim().replaceAll(/^(.*)$/gm, 'data: $1\n') : text;
      return [{ name: name.replace('.meta.json', ''), bytes: Buffer.from(framed), streamed: !file.endsWith('.json') }];
    });
}

function lineOf(block: Block): string {
  if (block.type === 'tool-call')
    return `${block.runBy === 'caller' ? 'call' : 'ran'}: ${block.id} ${block.name}(${block.input})`;
  if (block.type === 'reasoning') return `${block.form}: ${shorten(block.text)}`;
  return block.type === 'text' || block.type === 'refusal' ? `${block.type}: ${shorten(block.text)}` : block.type;
}

function factOf({ id, model, blocks, usage, end }: GenerationResponse): Fact {
  const reasoning = blocks.flatMap((block) => (block.type === 'reasoning' ? [block] : []));
  const ids = [...new Set(reasoning.map((block) => block.id ?? ''))];
  const families = [...new Set(reasoning.map((block) => block.family))];
  return {
    from: [id ?? '', model ?? ''],
    ...(families.length > 0 && families[0] !== 'openai-responses-v1' && { family: families[0] ?? 'unknown' }),
    blocks: blocks.map(lineOf),
    ...(ids.length > 0 && { reasoningIds: ids }),
    ...(usage !== undefined && {
      usage: [
        usage.promptTokens,
        usage.cacheReadTokens,
        usage.completionTokens,
        usage.reasoningTokens ?? 0,
        usage.webSearchRequests,
      ] as const,
    }),
    ...(end !== undefined && { finish: end.finish }),
  };
}

/** The finished response that the last event of a recording holds. */
function responseIn(bytes: Buffer): JsonObject | undefined {
  const last = bytes
    .toString('utf8')
    .split('\n')
    .findLast((line) => line.startsWith('data: {') && line.includes('"response.completed"'));
  return last === undefined ? undefined : objectOf(parseJsonObject(last.slice('data: '.length))?.['response']);
}

/** What a response says, in any order; the vendor seals the same reasoning anew each time that it writes it. */
function statements(answer: GenerationResponse): readonly string[] {
  return answer.blocks
    .map((block) =>
      block.type === 'reasoning' && block.form === 'encrypted' ? `sealed ${block.text.length}` : lineOf(block),
    )
    .toSorted();
}

if (!existsSync(DIRECTORY)) {
  test('recorded streams of the responses format are replayed', (context) => {
    const why = `SKIPPED: no recorded provider streams at ${DIRECTORY}; set PROVIDER_STREAMS_DIR`;
    console.log(why);
    context.skip(why);
  });
} else {
  suite('recorded responses of the responses format', () => {
    const recordings = readRecordings();
    const streams = recordings.filter(({ streamed }) => streamed);

    test('has facts for every recording, and a recording for every fact', () => {
      assert.deepEqual(streams.map(({ name }) => name).toSorted(), Object.keys(FACTS).toSorted());
    });

    for (const { name, bytes } of streams) {
      const family = FACTS[name]?.family;
      const dialect = family === undefined ? {} : { reasoningFamily: family };

      test(`${name}: says what it is known to say`, () => {
        const answer = foldEvents(decodeStream(bytes, [], dialect));
        assert.deepEqual(factOf(answer), FACTS[name]);
        assert.deepEqual(answer.warnings, []);
        assert.equal(answer.failure !== undefined, name === 'openai/resp-error-event-stream');
      });

      test(`${name}: is the same however it is cut`, () => {
        const whole = decodeStream(bytes, [], dialect);
        for (const size of [1, 7, 1_000]) {
          const cuts = Array.from({ length: Math.floor((bytes.length - 1) / size) }, (_, index) => (index + 1) * size);
          assert.deepEqual(decodeStream(bytes, cuts, dialect), whole);
        }
      });

      test(`${name}: is the same whole`, () => {
        const response = responseIn(bytes);
        if (response === undefined) return;
        const whole = foldEvents(decodeWhole(JSON.stringify(response), dialect));
        const streamed = foldEvents(decodeStream(bytes, [], dialect));
        assert.deepEqual(statements(whole), statements(streamed));
        assert.deepEqual([whole.usage, whole.end], [streamed.usage, streamed.end]);
      });
    }

    test('fails an exhausted account with a status that allows fallback', () => {
      const bytes = streams.find(({ name }) => name === 'openai/resp-error-event-stream')?.bytes;
      const { failure } = foldEvents(decodeStream(bytes ?? assert.fail('the recording is there')));
      assert.deepEqual(
        [failure?.kind, failure?.status, failure?.upstreamStatus, failure?.providerCode, failure?.mayTry],
        ['error-event', 502, 429, 'insufficient_quota', 'next-endpoint'],
      );
    });

    test('decodes an error with a status of its own', () => {
      const body = recordings.find(({ name }) => name === 'openai/resp-model-not-found-400')?.bytes.toString('utf8');
      assert.deepEqual(responsesUpstreamFormat.decodeError(body ?? assert.fail('the recording is there')), {
        message: "The requested model 'gpt-5.2-proo' does not exist.",
        code: 'model_not_found',
        type: 'invalid_request_error',
        param: 'model',
      });
    });
  });
}
