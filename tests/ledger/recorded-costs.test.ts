import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { readRecordings, skipWithoutRecordings } from '../support/recordings/recordings.ts';
import { ASKS, startReplay, type Replay } from '../support/recordings/replay.ts';
import { playerOf } from '../translation/providers.ts';

/**
 * A price for each kind, all different, so that a token in the wrong place shows. In nano-USD: a fresh prompt token costs
 * 3,000, one read from the cache 500, one written 4,000, one of the answer 7,000, one of reasoning 11,000, a search
 * 10,000,000, and the request itself 2,000,000.
 */
const PRICE = {
  prompt: 3,
  cache_read: 0.5,
  cache_write: 4,
  completion: 7,
  reasoning: 11,
  audio: 13,
  audio_output: 17,
  image_output: 19,
  web_search: 0.01,
  request: 0.002,
};

/** What was read in the recording by eye, and what it costs by pencil; nano-USD. */
type Row = readonly [
  name: string,
  fresh: number,
  read: number,
  written: number,
  answer: number,
  reasoning: number,
  searches: number,
  costNanoUsd: number,
];

const ROWS: readonly Row[] = [
  ['anthropic/code-execution-stream', 4_714, 0, 0, 304, 0, 0, 18_270_000],
  ['anthropic/document-citations-stream', 672, 0, 0, 39, 0, 0, 4_289_000],
  ['anthropic/duplicate-message-start', 17, 0, 0, 227, 0, 0, 3_640_000],
  ['anthropic/noarg-tool-stream', 579, 0, 0, 41, 0, 0, 4_024_000],
  ['anthropic/parallel-tools', 423, 0, 0, 202, 0, 0, 4_683_000],
  ['anthropic/redacted-thinking-stream', 92, 0, 0, 189, 0, 0, 3_599_000],
  ['anthropic/refusal-stream', 18, 0, 0, 5, 0, 0, 2_089_000],
  ['anthropic/thinking-stream', 43, 0, 0, 282, 0, 0, 4_103_000],
  ['anthropic/tool-search-stream', 1_591, 0, 0, 175, 0, 0, 7_998_000],
  ['anthropic/tool-stream', 633, 0, 0, 75, 0, 0, 4_424_000],
  ['anthropic/tool-with-thinking', 398, 0, 0, 155, 0, 0, 4_279_000],
  ['anthropic/web-search-citations-stream', 22_397, 0, 0, 637, 0, 2, 93_650_000],
  ['azure/grok-noarg-tool-stream', 46, 159, 0, 18, 0, 0, 2_343_500],
  ['bedrock/cache-read', 2, 1_322, 0, 5, 0, 0, 2_702_000],
  ['bedrock/claude-citations-stream', 670, 0, 0, 28, 0, 0, 4_206_000],
  ['bedrock/claude-thinking-stream', 36, 0, 0, 73, 0, 0, 2_619_000],
  ['bedrock/claude-tool-with-thinking', 397, 0, 0, 130, 0, 0, 4_101_000],
  ['bedrock/gptoss-empty-text-delta-stream', 70, 0, 0, 43, 0, 0, 2_511_000],
  ['bedrock/guardrail', 13, 0, 0, 69, 0, 0, 2_522_000],
  ['bedrock/nova-tool-stream', 471, 0, 0, 91, 0, 0, 4_050_000],
  ['deepseek/reasoner-stream', 6, 0, 0, 14, 198, 0, 4_294_000],
  ['deepseek/responses-tool-stream', 110, 256, 0, 45, 14, 0, 2_927_000],
  ['deepseek/tool-stream', 348, 0, 0, 65, 0, 0, 3_499_000],
  ['gemini/function-call-stream', 52, 0, 0, 5, 0, 0, 2_191_000],
  ['gemini/grounding-stream', 119, 0, 0, 241, 412, 1, 18_576_000],
  ['gemini/partial-args-missing-end', 54, 0, 0, 74, 121, 0, 4_011_000],
  ['gemini/thinking-stream', 34, 0, 0, 469, 787, 0, 14_042_000],
  ['gemini/thoughts-token-count-stream', 13, 0, 0, 71, 137, 0, 4_043_000],
  ['gemini/tool-thought-signature-stream', 29, 0, 0, 10, 202, 0, 4_379_000],
  ['mistral/hybrid-reasoning-stream', 31, 0, 0, 66, 0, 0, 2_555_000],
  ['mistral/incremental-tool-call', 43, 128, 0, 14, 0, 0, 2_291_000],
  ['mistral/magistral-thinking-stream', 10, 0, 0, 232, 0, 0, 3_654_000],
  ['mistral/prompt-cache', 44, 224, 0, 5, 0, 0, 2_279_000],
  ['mistral/tool-stream', 31, 128, 0, 28, 0, 0, 2_353_000],
  ['openai-compatible/alibaba-tool-stream', 295, 0, 0, 22, 0, 0, 3_039_000],
  ['openai-compatible/gpustack-qwen3-stream', 15, 0, 0, 11, 160, 0, 3_882_000],
  ['openai-compatible/ollama-gptoss-tool-stream', 169, 0, 0, 55, 0, 0, 2_892_000],
  ['openai/compat-tool-call-without-id', 35, 0, 0, 12, 62, 0, 2_871_000],
  ['openai/gpt4o-tool-call-stream', 364, 0, 0, 40, 0, 0, 3_372_000],
  ['openai/gpt4omini-tool-stream', 53, 0, 0, 15, 0, 0, 2_264_000],
  ['openai/resp-client-tool-search-stream', 234, 0, 0, 36, 0, 0, 2_954_000],
  ['openai/resp-custom-tool-stream', 50, 0, 0, 20, 0, 0, 2_290_000],
  ['openai/resp-function-call-stream', 255, 0, 0, 16, 0, 0, 2_877_000],
  ['openai/resp-gpt5nano-tool-encrypted-stream', 87, 0, 0, 83, 256, 0, 5_658_000],
  ['openai/resp-reasoning-summary-stream', 13, 0, 0, 272, 1_408, 0, 19_431_000],
  ['openai/resp-web-search-stream', 1_143, 8_320, 0, 70, 512, 1, 25_711_000],
  ['openrouter/cache-read', 3, 3_211, 115, 53, 0, 0, 4_445_500],
  ['openrouter/claude-reasoning-stream', 43, 0, 0, 23, 13, 0, 2_433_000],
  ['openrouter/reasoning-details-tool-stream', 626, 0, 0, 52, 54, 0, 4_836_000],
  ['openrouter/responses-raw-reasoning-stream', 78, 0, 0, 15, 22, 0, 2_581_000],
  ['openrouter/web-search-stream', 2_317, 0, 0, 53, 0, 1, 19_322_000],
  ['perplexity/sonar-stream', 8, 0, 0, 5, 0, 0, 2_059_000],
  ['xai/responses-tool-stream', 20, 320, 0, 22, 83, 0, 3_287_000],
  ['xai/text-stream', 1, 11, 0, 2, 340, 0, 5_762_500],
  ['zai/glm-thinking-stream', 13, 0, 0, 3, 561, 0, 8_231_000],
];

/** Cohere bills other counts than those of what the model read and wrote: [billed prompt, billed completion, of it reasoning]. */
const BILLED_APART: readonly (readonly [
  name: string,
  prompt: number,
  completion: number,
  cached: number,
  billed: readonly [prompt: number, completion: number, reasoning: number],
  costNanoUsd: number,
])[] = [
  // 65 x 3,000 + (63 - 28) x 7,000 + 28 x 11,000 + 2,000,000
  ['cohere/citations-stream', 508, 86, 144, [65, 63, 28], 2_748_000],
  // 46 x 3,000 + 14 x 7,000 + 2,000,000
  ['cohere/empty-tool-call', 1_445, 43, 704, [46, 14, 0], 2_236_000],
  // 98 x 3,000 + 35 x 7,000 + 2,000,000
  ['cohere/tool-stream', 1_508, 67, 1_472, [98, 35, 0], 2_539_000],
];

/** An error ended them: nothing is owed, whatever was counted. @spec money-12 */
const FREE = ['groq/error-mid-stream', 'openai/resp-error-event-stream'] as const;

/**
 * Its error (the context is full) is a plain `length` after output, and is charged. It reports 11 tokens of reasoning in a
 * completion of 10: at most 10 are charged as reasoning. 43 x 3,000 + 10 x 11,000 + 2,000,000
 */
const MORE_REASONING_THAN_ANSWER = 'openrouter/error-mid-stream';
const MORE_REASONING_NANO_USD = 2_239_000;

/** The host counts nothing: 11 tokens of prompt and 7 of answer by our own estimate, and the request. */
const ESTIMATED = 'openai-compatible/anthropic-fallback-tool-call';
const ESTIMATED_NANO_USD = 2_082_000;

/** Usage as the caller reads it, in the words of either format. */
function usageIn(text: string): JsonObject | undefined {
  const whole = parseJsonObject(text);
  if (whole !== undefined) return isJsonObject(whole['usage']) ? whole['usage'] : undefined;
  let last: JsonObject | undefined;
  for (const line of text.split('\n')) {
    const { usage } = line.startsWith('data: {') ? (parseJsonObject(line.slice('data: '.length)) ?? {}) : {};
    if (isJsonObject(usage) && 'cost' in usage) last = usage;
  }
  return last;
}

const recordings = skipWithoutRecordings() ? [] : readRecordings();
const answered = recordings.filter(({ status }) => status === 200);

if (answered.length > 0)
  // @spec money-1, money-12
  suite('the cost of recorded responses', () => {
    let replay: Replay;
    before(async () => {
      replay = await startReplay(answered, playerOf, Number.POSITIVE_INFINITY, PRICE);
    });
    after(() => replay.close());

    /** Asks in both formats, whole and streamed, and holds each record and each answer against what is expected. */
    async function check(name: string, expected: JsonObject): Promise<void> {
      const recording = answered.find((one) => one.name === name);
      assert.ok(recording !== undefined, `${name} is among the recordings`);
      for (const ask of ASKS) {
        const { record, text } = await replay.ask(recording, ask);
        const of = `${ask.format}, ${ask.stream ? 'streamed' : 'whole'}`;
        assert.ok(record !== undefined, of);
        const kept = Object.fromEntries(Object.keys(expected).map((member) => [member, record[member] ?? null]));
        assert.deepEqual(kept, expected, of);
        const usage = usageIn(text);
        if (usage !== undefined) assert.equal(usage['cost'], expected['total_cost'], `${of}: as the caller reads it`);
      }
    }

    for (const [name, fresh, read, written, answer, reasoning, searches, costNanoUsd] of ROWS)
      test(`is ${costNanoUsd} nano-USD for ${name}`, () =>
        check(name, {
          native_tokens_prompt: fresh + read + written,
          native_tokens_cached: read,
          native_tokens_completion: answer + reasoning,
          usage_source: 'upstream',
          total_cost: costNanoUsd / 1e9,
          ...(reasoning > 0 && { native_tokens_reasoning: reasoning }),
          ...(searches > 0 && { num_searches: searches }),
        }));

    for (const [name, prompt, completion, cached, billed, costNanoUsd] of BILLED_APART)
      test(`is ${costNanoUsd} nano-USD for ${name}, of ${billed[0]} and ${billed[1]} billed tokens`, () =>
        check(name, {
          native_tokens_prompt: prompt,
          native_tokens_cached: cached,
          native_tokens_completion: completion,
          usage_source: 'upstream',
          total_cost: costNanoUsd / 1e9,
        }));

    for (const name of FREE) test(`is zero for ${name}, which an error ended`, () => check(name, { total_cost: 0 }));

    test(`counts no token of ${MORE_REASONING_THAN_ANSWER} twice`, () =>
      check(MORE_REASONING_THAN_ANSWER, {
        native_tokens_completion: 10,
        finish_reason: 'length',
        total_cost: MORE_REASONING_NANO_USD / 1e9,
      }));

    test(`is a marked estimate for ${ESTIMATED}, whose host counts nothing`, () =>
      check(ESTIMATED, { usage_source: 'estimated', total_cost: ESTIMATED_NANO_USD / 1e9 }));

    test('covers every recording', () => {
      const priced = new Set<string>([...ROWS.map(([name]) => name), ...BILLED_APART.map(([name]) => name), ...FREE]);
      priced.add(ESTIMATED).add(MORE_REASONING_THAN_ANSWER);
      assert.deepEqual(
        answered.map(({ name }) => name).filter((name) => !priced.has(name)),
        [],
      );
    });
  });
