import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Answer } from '../../canonical/answer.ts';
import { foldEvents } from '../../canonical/fold.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import { parseJsonObject } from '../../lib/json.ts';
import { chatChunkSchema, chatResultSchema } from './answer-schema.ts';
import { decodeError } from './decode-error.ts';
import { decodeWhole } from './decode-whole.ts';
import { ChatStreamEncoder } from './encode-stream.ts';
import { encodeWhole } from './encode-whole.ts';
import { objectOf, textOf } from './members.ts';
import { checkEvents, CLOSING, decodeStream, IDENTITY, readStream } from './test-streams.ts';

const DIRECTORY =
  process.env['PROVIDER_STREAMS_DIR'] ??
  fileURLToPath(new URL('../../../../shared/fixtures/provider-streams', import.meta.url));
/** Mistral's differs in its content lists. */
const WIRE_FORMATS: ReadonlySet<unknown> = new Set(['openai-chat', 'mistral-chat']);

interface Recording {
  readonly name: string;
  readonly status: unknown;
  readonly kind: 'sse' | 'lines' | 'json';
  readonly text: string;
}

/** What a recording says, as its files show when they are read. */
interface Fact {
  readonly text?: RegExp;
  readonly reasoning?: RegExp;
  readonly calls?: readonly string[];
  readonly completionTokens?: number;
  readonly cacheReadTokens?: number;
  readonly failure?: number;
}

const FACTS: Readonly<Record<string, Fact>> = {
  'azure/grok-noarg-tool-stream': { calls: ['best_language_to_learn({})'], cacheReadTokens: 159 },
  'deepseek/reasoner-stream': { text: /^Hello there! 😊 How/, reasoning: /^Hmm, the user/, completionTokens: 212 },
  'deepseek/tool-stream': { calls: ['weather({"latitude": "52.5200", "longitude": "13.4050"})'] },
  'groq/error-mid-stream': { reasoning: /^We need to call/, failure: 400 },
  'mistral/hybrid-reasoning-stream': { text: /^144$/, reasoning: /the answer is 144\.$/ },
  'mistral/incremental-tool-call': { calls: ['webSearchTool({"query": "current Berlin weather"})'] },
  'mistral/magistral-thinking-stream': { text: /^To cross the street/, reasoning: /^Okay, the user is asking/ },
  'mistral/prompt-cache': { text: /^cache probe two\.$/, cacheReadTokens: 224 },
  'mistral/tool-stream': { calls: ['weather({"latitude": "52.5200", "longitude": "13.4050"})'], cacheReadTokens: 128 },
  'openai/compat-tool-call-without-id': { calls: ['get_current_time({})'] },
  'openai/gpt4o-tool-call-stream': { calls: ['get_country({})', 'get_product_name({})'], completionTokens: 40 },
  'openai/gpt4omini-tool-stream': { calls: ['get_capital({"country":"UK"})'] },
  'openai-compatible/alibaba-tool-stream': { calls: ['weather({"location": "San Francisco"})'] },
  'openai-compatible/anthropic-fallback-tool-call': { text: /^Reading it\.$/, calls: ['read_file({"path": "a.txt"})'] },
  'openai-compatible/gpustack-qwen3-stream': { text: /^\n\n1, 2, 3\.$/, reasoning: /count from 1 to 3/ },
  'openai-compatible/ollama-gptoss-tool-stream': {
    reasoning: /^We need to call weather/,
    calls: ['weather({"latitude":"52.5200","longitude":"13.4050"})'],
  },
  'openrouter/cache-read': { text: /^Distributed database/, cacheReadTokens: 3211 },
  'openrouter/claude-reasoning-stream': { text: /^2 \+ 2 = 4$/, reasoning: /2\+2 equals 4\.$/, completionTokens: 36 },
  'openrouter/error-mid-stream': { reasoning: /^We need to respond/, failure: 400 },
  'openrouter/reasoning-details-tool-stream': {
    reasoning: /this parameter\.$/,
    calls: ['reasoning_weather({"city": "Berlin"})'],
  },
  'openrouter/web-search-stream': { text: /github\.com\/pydantic\/pydantic-ai$/ },
  'perplexity/sonar-stream': { text: /^1 2 3$/, completionTokens: 5 },
  // Completion and reasoning tokens are counted side by side there: 2 and 340 of a total of 354.
  'xai/text-stream': { text: /^Grok$/, reasoning: /Response: Grok$/, completionTokens: 342 },
  'zai/glm-thinking-stream': { text: /^4$/, reasoning: /response:\*\* "4"\.$/, completionTokens: 564 },
};

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

function joined(answer: Answer, type: 'text' | 'reasoning'): string {
  return answer.blocks.map((block) => (block.type === type ? block.text : '')).join('');
}

function checkFacts(answer: Answer, fact: Fact): void {
  const calls = answer.blocks.flatMap((block) => (block.type === 'tool-call' ? [`${block.name}(${block.input})`] : []));
  assert.deepEqual(calls, fact.calls ?? []);
  assert.match(joined(answer, 'text'), fact.text ?? /^$/);
  assert.match(joined(answer, 'reasoning'), fact.reasoning ?? /^$/);
  assert.equal(answer.failure?.status, fact.failure);
  if (fact.completionTokens !== undefined) assert.equal(answer.usage?.completionTokens, fact.completionTokens);
  if (fact.cacheReadTokens !== undefined) assert.equal(answer.usage?.cacheReadTokens, fact.cacheReadTokens);
}

/** The caller of ours gets the same text, reasoning and calls, however the answer is delivered. */
function checkRelay(answer: Answer, frames: string): void {
  for (const entry of readStream(frames)) assert.equal(chatChunkSchema.safeParse(entry).error, undefined);
  const again = foldEvents(decodeStream(Buffer.from(frames)));
  const drawn = encodeWhole(answer, IDENTITY, { ...CLOSING, usage: answer.usage ?? NO_USAGE });
  assert.equal(chatResultSchema.safeParse(parseJsonObject(drawn)).error, undefined);
  const whole = foldEvents(decodeWhole(drawn));
  for (const copy of [again, whole]) {
    assert.equal(joined(copy, 'text'), joined(answer, 'text'));
    assert.equal(joined(copy, 'reasoning'), joined(answer, 'reasoning'));
    assert.deepEqual(
      copy.blocks.filter(({ type }) => type === 'tool-call').map((block) => 'id' in block && block.id),
      answer.blocks.filter(({ type }) => type === 'tool-call').map((block) => 'id' in block && block.id),
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
  suite('recorded chat answers', () => {
    const recordings = findRecordings();

    test('every fact has its recording', () => {
      const names = new Set(recordings.map(({ name }) => name));
      assert.deepEqual(
        Object.keys(FACTS).filter((name) => !names.has(name)),
        [],
      );
    });

    for (const recording of recordings) {
      const { name, status, kind, text } = recording;
      if (status !== 200) {
        test(`${name}: the error is understood`, () => {
          assert.ok((decodeError(text).message ?? '').length > 10, JSON.stringify(decodeError(text)));
        });
        continue;
      }
      test(`${name}: says what it is known to say`, () => {
        const events = kind === 'json' ? decodeWhole(text) : decodeStream(bytesOf(recording));
        checkEvents(events);
        const answer = foldEvents(events);
        checkFacts(answer, FACTS[name] ?? assert.fail('the recording has its facts'));
        for (const count of Object.values(answer.usage ?? {})) assert.ok(typeof count !== 'number' || count >= 0);
        if (answer.failure !== undefined) return;
        const encoder = new ChatStreamEncoder(IDENTITY);
        checkRelay(answer, encoder.encode(events) + encoder.close({ ...CLOSING, usage: answer.usage ?? NO_USAGE }));
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
