import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Citation } from '../../../canonical/blocks.ts';
import { foldEvents } from '../../../canonical/fold.ts';
import { checkEvents } from '../../../../tests/support/wire/event-grammar.ts';
import type { Usage } from '../../../canonical/usage.ts';
import { parseJsonObject } from '../../../lib/json.ts';
import { textOf } from '../../json-fields.ts';
import { callsOf, decodeStream, textOfBlocks } from '../../../../tests/support/wire/cohere/streams.ts';

const DIRECTORY =
  process.env['PROVIDER_STREAMS_DIR'] ??
  fileURLToPath(new URL('../../../../../shared/fixtures/provider-streams', import.meta.url));

/** What a recording says, as its file shows when it is read. */
interface Fact {
  readonly id: string;
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly string[];
  readonly citations: readonly Citation[];
  readonly usage: Usage;
  readonly finish: string;
  readonly nativeFinish: string;
}

const COUNTED = { cacheWriteTokens: 0, cacheWrite1hTokens: 0, estimated: false };

const FACTS_TXT =
  'The Ruby programming language was created by Yukihiro Matsumoto in 1993. Ruby was designed to make programmers happy ' +
  'and productive. Ruby on Rails is a popular web framework built with Ruby. RubyLLM is a Ruby library for working with ' +
  'large language models.\n';

const FACTS: Readonly<Record<string, Fact>> = {
  'cohere/citations-stream': {
    id: 'dd27c8d3-34cf-419f-8d3a-0d1247feafc3',
    text:
      'According to the document, Ruby was created by **Yukihiro Matsumoto** in 1993. The document also mentions that ' +
      'Ruby was designed to make programmers happy and productive.',
    reasoning:
      'The document clearly states that Ruby was created by Yukihiro Matsumoto in 1993. I can directly answer the ' +
      "user's question using this information.",
    calls: [],
    citations: [
      { type: 'url', url: 'doc:0', title: 'facts.txt', start: 49, end: 67, excerpt: FACTS_TXT },
      { type: 'url', url: 'doc:0', title: 'facts.txt', start: 73, end: 78, excerpt: FACTS_TXT },
    ],
    usage: {
      ...COUNTED,
      promptTokens: 508,
      completionTokens: 86,
      cacheReadTokens: 144,
      reasoningTokens: 28,
      billed: { promptTokens: 65, completionTokens: 63 },
    },
    finish: 'stop',
    nativeFinish: 'COMPLETE',
  },
  'cohere/tool-stream': {
    id: 'a0790929-b18f-4399-ae12-09b9659922bd',
    text: '',
    reasoning: 'I will use the weather tool to find the weather in Berlin.',
    calls: ['weather_vvavrb8p34fk weather({"latitude": "52.5200", "longitude": "13.4050"})'],
    citations: [],
    usage: {
      ...COUNTED,
      promptTokens: 1508,
      completionTokens: 67,
      cacheReadTokens: 1472,
      billed: { promptTokens: 98, completionTokens: 35 },
    },
    finish: 'tool_calls',
    nativeFinish: 'TOOL_CALL',
  },
  'cohere/empty-tool-call': {
    id: '66dec7d7-45e6-427c-8fd9-7d6375d12046',
    text: '',
    reasoning: 'I will use the currentTime tool to find the current time.',
    calls: ['currentTime_y46ar19t5gvw currentTime({})'],
    citations: [],
    usage: {
      ...COUNTED,
      promptTokens: 1445,
      completionTokens: 43,
      cacheReadTokens: 704,
      billed: { promptTokens: 46, completionTokens: 14 },
    },
    finish: 'tool_calls',
    nativeFinish: 'TOOL_CALL',
  },
};

/** The bytes as they came; where the recorder took the framing away, it is put back. */
function readRecordings(): readonly { readonly name: string; readonly bytes: Buffer }[] {
  return readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.meta.json'))
    .toSorted()
    .flatMap((name) => {
      const meta = parseJsonObject(readFileSync(`${DIRECTORY}/${name}`, 'utf8'));
      if (meta?.['wire_format'] !== 'cohere-v2-chat') return [];
      const file = textOf(meta['file']) ?? '';
      const text = readFileSync(`${DIRECTORY}/${name.slice(0, name.lastIndexOf('/'))}/${file}`, 'utf8');
      const framed = file.endsWith('.sse') ? text : text.trim().replaceAll(/^(.*)$/gm, 'data: $1\n');
      return [{ name: name.replace('.meta.json', ''), bytes: Buffer.from(framed) }];
    });
}

if (!existsSync(DIRECTORY)) {
  test('recorded cohere streams are replayed', (context) => {
    const why = `SKIPPED: no recorded provider streams at ${DIRECTORY}; set PROVIDER_STREAMS_DIR`;
    console.log(why);
    context.skip(why);
  });
} else {
  suite('recorded cohere responses', () => {
    const recordings = readRecordings();

    test('has facts for every recording, and a recording for every fact', () => {
      assert.deepEqual(recordings.map(({ name }) => name).toSorted(), Object.keys(FACTS).toSorted());
    });

    for (const { name, bytes } of recordings) {
      test(`${name}: says what it is known to say`, () => {
        const events = decodeStream(bytes);
        checkEvents(events);
        const response = foldEvents(events);
        const stated: Fact = {
          id: response.id ?? '',
          text: textOfBlocks(response, 'text'),
          reasoning: textOfBlocks(response, 'reasoning'),
          calls: callsOf(response),
          citations: response.blocks.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : [])),
          usage: response.usage ?? assert.fail('the answer tells its usage'),
          finish: response.end?.finish ?? '',
          nativeFinish: response.end?.nativeFinish ?? '',
        };
        assert.deepEqual(stated, FACTS[name]);
        assert.deepEqual(response.warnings, []);
      });

      test(`${name}: is the same however it is cut`, () => {
        const whole = decodeStream(bytes);
        for (const size of [1, 7, 1_000]) {
          const cuts = Array.from({ length: Math.floor(bytes.length / size) }, (_, index) => index * size);
          assert.deepEqual(decodeStream(bytes, cuts), whole);
        }
      });
    }
  });
}
