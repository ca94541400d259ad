import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import type { GenerationEvent } from '../../src/canonical/events.ts';
import { foldEvents } from '../../src/canonical/fold.ts';
import { checkEvents } from '../support/wire/event-grammar.ts';
import { NO_USAGE, type Usage } from '../../src/canonical/usage.ts';
import { costOf, priceTableOf } from '../../src/catalog/price.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { UPSTREAM_FORMATS } from '../../src/app/upstream-formats.ts';
import type { FinalUsage } from '../../src/wire/format.ts';
import { arbitraryAnswer } from '../support/fuzz/arbitrary-answer.ts';
import { CLIENT_FORMATS } from '../support/prepare-request.ts';
import {
  readOwnRecordings,
  readRecordings,
  type RecordedFormat,
  type Recording,
} from '../support/recordings/recordings.ts';
import { listOf, objectOf, readReported, type Reported } from '../support/reported.ts';
import { decodeInPieces } from '../support/wire/decode-in-pieces.ts';
import { withoutSpaces } from './check-facts.ts';

const IDENTITY = { id: 'gen-1', createdS: 1_760_000_000, model: 'acme/one', provider: 'Acme' };
const CALLERS = ['chat', 'messages'] as const;
const SEED = 20_261_121;
const LONG_BYTES = 4_000;

const own = readOwnRecordings();
const recorded = readRecordings();

function finalUsageOf(usage: Usage | undefined): FinalUsage {
  return { usage: usage ?? NO_USAGE, charge: undefined, isByok: false, serviceMetadata: undefined };
}

/**
 * Ids that are made while an answer is read differ from reading to reading, and of the counts that come with every event
 * of some formats only the last one says something.
 */
function comparableEvents(events: readonly GenerationEvent[], recording: Recording): readonly GenerationEvent[] {
  const source = recording.body.toString('latin1');
  const lastUsage = events.findLastIndex(({ type }) => type === 'usage');
  let reported = JSON.stringify(events.filter(({ type }, at) => type !== 'usage' || at === lastUsage));
  for (const event of events)
    if (event.type === 'block-start' && event.block.type === 'tool-call' && !source.includes(event.block.id))
      reported = reported.replaceAll(event.block.id, `made_${event.index}`);
  return JSON.parse(reported) as GenerationEvent[];
}

/** The events as a caller receives them, in one piece or in the pieces that end at these places. */
function notify(
  events: readonly GenerationEvent[],
  caller: (typeof CALLERS)[number],
  cuts?: readonly number[],
): Reported {
  const answer = foldEvents(events);
  const finalUsage = finalUsageOf(answer.usage);
  const client = CLIENT_FORMATS[caller];
  let text: string;
  if (cuts === undefined) {
    text = client.encodeWhole(answer, IDENTITY, finalUsage);
  } else {
    const encoder = client.createStreamEncoder(IDENTITY);
    let from = 0;
    text = '';
    for (const cut of [...cuts, events.length]) {
      text += encoder.encode(events.slice(from, cut));
      from = cut;
    }
    text += encoder.close(finalUsage);
  }
  const stream = cuts !== undefined;
  const contentType = stream ? 'text/event-stream' : 'application/json';
  return readReported({ status: 200, contentType, text, record: undefined }, { format: caller, stream });
}

/**
 * Encrypted reasoning behind the last text stands before it in a whole answer of the messages format, and is left to the
 * gateway's memory in a stream, which can no longer say it there. All else is the same.
 */
function checkMessages(streamed: Reported, whole: Reported): void {
  const others = (reported: Reported): unknown => {
    const content = listOf(reported.message['content']).filter((block) => !isRedacted(block));
    return { ...(comparable(reported) as object), seals: [], blocks: content };
  };
  assert.deepEqual(others(streamed), others(whole));
  const seals = listOf(streamed.message['content']).filter(isRedacted);
  assert.deepEqual(seals, listOf(whole.message['content']).filter(isRedacted).slice(0, seals.length));
}

function isRedacted(block: Json): boolean {
  return objectOf(block)['type'] === 'redacted_thinking';
}

function comparable({ calls, message, ...reported }: Reported): unknown {
  return {
    ...reported,
    calls: calls.map((call) => ({ ...call, arguments: withoutSpaces(call.arguments) })),
    blocks: Array.isArray(message['content']) ? message['content'] : [],
    annotations: message['annotations'],
  };
}

suite('any bytes of an upstream', () => {
  for (const recording of own.filter(({ streamed }) => streamed)) {
    test(`decode to the same events when cut at any byte: ${recording.name}`, () => {
      const { format, body } = recording;
      const whole = comparableEvents(decodeInPieces(format, body, []), recording);
      checkEvents(whole);
      // Every byte of the short ones; the long ones say the same thing over and over.
      const step = body.length > LONG_BYTES ? 5 : 1;
      for (let cut = 1; cut < body.length; cut += step)
        assert.deepEqual(comparableEvents(decodeInPieces(format, body, [cut]), recording), whole, `cut at ${cut}`);
    });
  }
  for (const recording of recorded.filter(({ streamed, status }) => streamed && status === 200)) {
    test(`decode to the same events in pieces of any size: ${recording.name}`, () => {
      const { format, body } = recording;
      const whole = comparableEvents(decodeInPieces(format, body, []), recording);
      checkEvents(whole);
      for (const size of [1, 7, 1_000]) {
        const cuts = Array.from({ length: Math.floor(body.length / size) }, (_, index) => index * size);
        assert.deepEqual(comparableEvents(decodeInPieces(format, body, cuts), recording), whole, `pieces of ${size}`);
      }
    });
  }
});

suite('any response of an upstream', () => {
  for (const caller of CALLERS) {
    test(`becomes a sound ${caller} stream that equals the response without streaming`, () => {
      fc.assert(
        fc.property(arbitraryAnswer(), fc.array(fc.nat({ max: 30 }), { maxLength: 4 }), (events, cuts) => {
          checkEvents(events);
          const places = cuts.filter((cut) => cut < events.length).toSorted((left, right) => left - right);
          const streamed = notify(events, caller, places);
          const whole = notify(events, caller);
          if (caller === 'chat') assert.deepEqual(comparable(streamed), comparable(whole));
          else checkMessages(streamed, whole);
        }),
        { numRuns: 400, seed: SEED },
      );
    });

    test(`reaches a ${caller} caller with all text, reasoning and calls`, () => {
      fc.assert(
        fc.property(arbitraryAnswer(), (events) => {
          const { blocks } = foldEvents(events);
          const reported = notify(events, caller);
          const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
          const thoughts = blocks.flatMap((block) =>
            block.type === 'reasoning' && block.form !== 'encrypted' ? [block.text] : [],
          );
          // Texts with something between them, and summaries, are set apart by a blank line in the one text of chat.
          assert.equal(reported.text.replaceAll('\n\n', ''), texts.join('').replaceAll('\n\n', ''));
          assert.equal(reported.reasoning.replaceAll('\n\n', ''), thoughts.join('').replaceAll('\n\n', ''));
          const calls = blocks.flatMap((block) =>
            block.type === 'tool-call' && block.runBy === 'caller'
              ? [{ id: block.id, name: block.name, arguments: block.input }]
              : [],
          );
          assert.deepEqual(reported.calls, calls);
        }),
        { numRuns: 200, seed: SEED },
      );
    });
  }
});

/** Smallest answers of each format around a usage. */
const ANSWER_WITH: Readonly<Record<RecordedFormat, (usage: Json) => JsonObject>> = {
  chat: (usage) => ({
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
    usage,
  }),
  messages: (usage) => ({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'ok' }],
    stop_reason: 'end_turn',
    usage,
  }),
  responses: (usage) => ({
    object: 'response',
    status: 'completed',
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ok', annotations: [] }] }],
    usage,
  }),
  gemini: (usage) => ({
    candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
    usageMetadata: usage,
  }),
  converse: (usage) => ({
    output: { message: { role: 'assistant', content: [{ text: 'ok' }] } },
    stopReason: 'end_turn',
    usage,
  }),
  cohere: (usage) => ({
    finish_reason: 'COMPLETE',
    message: { role: 'assistant', content: [{ type: 'text', text: 'ok' }] },
    usage,
  }),
};

const COUNT_MEMBERS: Readonly<Record<RecordedFormat, readonly string[]>> = {
  chat: ['prompt_tokens', 'completion_tokens', 'total_tokens', 'cached_tokens', 'prompt_cache_hit_tokens'],
  messages: ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
  responses: ['input_tokens', 'output_tokens', 'total_tokens'],
  gemini: [
    'promptTokenCount',
    'candidatesTokenCount',
    'thoughtsTokenCount',
    'cachedContentTokenCount',
    'toolUsePromptTokenCount',
    'totalTokenCount',
  ],
  converse: ['inputTokens', 'outputTokens', 'cacheReadInputTokens', 'cacheWriteInputTokens', 'totalTokens'],
  cohere: ['cached_tokens'],
};

const DETAIL_MEMBERS: Readonly<Record<RecordedFormat, Readonly<Record<string, readonly string[]>>>> = {
  chat: {
    prompt_tokens_details: ['cached_tokens', 'cache_write_tokens', 'audio_tokens'],
    completion_tokens_details: ['reasoning_tokens', 'audio_tokens'],
  },
  messages: {
    cache_creation: ['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens'],
    output_tokens_details: ['thinking_tokens'],
    server_tool_use: ['web_search_requests'],
  },
  responses: { input_tokens_details: ['cached_tokens'], output_tokens_details: ['reasoning_tokens'] },
  gemini: {},
  converse: {},
  cohere: {
    tokens: ['input_tokens', 'output_tokens', 'reasoning_tokens'],
    billed_units: ['input_tokens', 'output_tokens'],
  },
};

function arbitraryUsage(format: RecordedFormat): fc.Arbitrary<Json> {
  const nasty = fc.oneof(
    { weight: 3, arbitrary: fc.nat({ max: 1_000 }) },
    fc.constantFrom<Json>(-1, 1.5, 1e19, -0, null, '7', '', [], {}, true),
  );
  const counts = (members: readonly string[]) =>
    fc.record(Object.fromEntries(members.map((member) => [member, nasty])), { requiredKeys: [] });
  const details = Object.entries(DETAIL_MEMBERS[format]).map(([member, members]) => [
    member,
    fc.oneof({ weight: 4, arbitrary: counts(members) }, nasty),
  ]);
  return fc
    .tuple(counts(COUNT_MEMBERS[format]), fc.record(Object.fromEntries(details), { requiredKeys: [] }))
    .map(([own_, nested]) => ({ ...own_, ...(nested as JsonObject) }));
}

const PRICE = priceTableOf({ prompt: 1, completion: 2, cacheRead: 0.1, cacheWrite: 1.25 });

suite('any counts of an upstream', () => {
  for (const format of Object.keys(ANSWER_WITH) as RecordedFormat[]) {
    test(`are never negative or fractional, no part exceeds its total, and all can be priced: ${format}`, () => {
      fc.assert(
        fc.property(arbitraryUsage(format), (given) => {
          const { usage = NO_USAGE } = foldEvents(
            UPSTREAM_FORMATS[format].decodeWhole(JSON.stringify(ANSWER_WITH[format](given))),
          );
          for (const [name, value] of Object.entries(usage))
            if (typeof value === 'number') assert.ok(Number.isSafeInteger(value) && value >= 0, `${name}: ${value}`);
          assert.ok(usage.cacheReadTokens + usage.cacheWriteTokens <= usage.promptTokens, 'the cache is of the prompt');
          const { totalNanoUsd } = costOf(PRICE, usage);
          assert.ok(Number.isSafeInteger(totalNanoUsd) && totalNanoUsd >= 0);
        }),
        { numRuns: 500, seed: SEED },
      );
    });
  }
});
