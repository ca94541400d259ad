import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { z } from 'zod';
import { classifyErrorEvent } from '../../src/canonical/failure/classify-failure.ts';
import type { EndEvent, EventBatch, GenerationEvent } from '../../src/canonical/events.ts';
import { foldEvents } from '../../src/canonical/fold.ts';
import { GatewayError } from '../../src/canonical/gateway-error.ts';
import { checkEvents } from '../support/wire/event-grammar.ts';
import { NO_USAGE } from '../../src/canonical/usage.ts';
import { isJsonObject, parseJson } from '../../src/lib/json.ts';
import { createChatClientFormat, chatUpstreamFormat } from '../../src/wire/chat/format.ts';
import type { ResponseIdentity, ClientFormat, FinalUsage, ErrorContext } from '../../src/wire/format.ts';
import { createMessagesClientFormat, messagesUpstreamFormat } from '../../src/wire/messages/format.ts';
import { findFault } from '../support/fuzz/check-answer.ts';
import { createFuzzStream, createFuzzWhole, readEvents, type UpstreamFormatId } from '../support/fuzz/answers.ts';
import { createRandom, readSeed, seedOf, type Random } from '../support/random.ts';
import { readChatStream, readMessagesStream } from '../support/http/read-stream.ts';
import { startScriptedFormats } from '../support/upstreams/scripted-formats.ts';
import { ACCOUNT, callerFormat, request } from '../support/wire/responses/caller.ts';
import { checkStream, lastResponse } from '../support/wire/responses/stream-checker.ts';
import type { Script } from '../support/upstream.ts';

const SEED = readSeed();
const RUNS = Number(process.env['FUZZ_ANSWERS'] ?? 1_500);
/** The run to begin with: to repeat a failing one alone, with FUZZ_ANSWERS=1. */
const FIRST = Number(process.env['FUZZ_FIRST'] ?? 0);
const HTTP_RUNS = Math.ceil(RUNS / 10);
const IN_FLIGHT = 16;

const PATHS = { chat: '/chat/completions', messages: '/messages', responses: '/responses' } as const;
const upstreams = { chat: chatUpstreamFormat, messages: messagesUpstreamFormat };
const plugin = z.never();
const callers: readonly ClientFormat[] = [
  createChatClientFormat({ plugin }),
  createMessagesClientFormat({ plugin }),
  callerFormat(),
];
const identity: ResponseIdentity = {
  id: 'gen-1',
  createdS: 1_760_000_000,
  model: 'acme/one',
  provider: 'Acme',
  accountId: ACCOUNT,
  // Calls of the one come as items of its kind, those of the other as calls of a function.
  request: request({
    tools: [{ type: 'function', name: 'f', kind: 'custom', declared: { type: 'custom', name: 'f' } }],
  }),
};
const finalUsage: FinalUsage = { usage: NO_USAGE, charge: undefined, isByok: false, serviceMetadata: undefined };
const context: ErrorContext = { generationId: 'gen-1', serviceMetadata: undefined, baseUrl: 'http://127.0.0.1/v1' };
const brokenOff = new GatewayError('provider_unavailable', 'The response broke off.');

/** Runs one case after the other. A failure is reported with what it takes to repeat it. */
function repeat<Input extends string | Buffer>(
  create: (random: Random) => Input,
  check: (input: Input, random: Random) => void,
): void {
  for (let index = FIRST; index < FIRST + RUNS; index++) {
    const random = createRandom(seedOf(SEED, index));
    const input = create(random);
    try {
      check(input, random);
    } catch (error) {
      const stack = (error as Error).stack?.split('\n').slice(0, 8).join('\n') ?? '';
      assert.fail(
        `FUZZ_SEED=${SEED} FUZZ_FIRST=${index} FUZZ_ANSWERS=1\n${stack}\n${input.toString().slice(0, 3_000)}`,
      );
    }
  }
}

function decodeInPieces(format: UpstreamFormatId, bytes: Buffer, random: Random): EventBatch[] {
  const decoder = upstreams[format].createStreamDecoder();
  const batches: EventBatch[] = [];
  let from = 0;
  while (from < bytes.length) {
    const to = random.chance(0.3) ? bytes.length : Math.min(bytes.length, from + random.int(1, 200));
    batches.push(decoder.push(bytes.subarray(from, to)));
    from = to;
  }
  batches.push(decoder.end());
  return batches;
}

/** Whether an upstream said anywhere that it had finished, and why unless the end is unknown. */
function statesEnd(format: UpstreamFormatId, bytes: Buffer, end: EndEvent): boolean {
  if (format === 'chat' && end.finish === 'unknown' && bytes.includes('[DONE]')) return true;
  return readEvents(bytes).some((data) => {
    // The name of an event stands for a missing type.
    if (format === 'messages' && bytes.includes('message_stop')) return true;
    const event = parseJson(data);
    if (!isJsonObject(event)) return false;
    if (format === 'messages') return isJsonObject(event['delta']) && typeof event['delta']['stop_reason'] === 'string';
    const { choices } = event;
    return (
      Array.isArray(choices) &&
      choices.some((choice) => isJsonObject(choice) && typeof choice['finish_reason'] === 'string')
    );
  });
}

function endOf(events: EventBatch): EndEvent | undefined {
  const last = events.at(-1);
  return last?.type === 'end' ? last : undefined;
}

function formatStream(caller: ClientFormat, batches: readonly EventBatch[], ended: boolean): string {
  const encoder = caller.createStreamEncoder(identity);
  const frames = batches.map((batch) => encoder.encode(batch)).join('');
  return frames + (ended ? encoder.close(finalUsage) : encoder.fail(brokenOff, finalUsage, context));
}

/** A caller of either format gets one terminal frame, an end only where there was one, and a reason only where one was given. */
function checkStreams(batches: readonly EventBatch[], end: EndEvent | undefined): void {
  const ended = end !== undefined;
  const hasReason = ended && end.finish !== 'unknown';
  for (const caller of callers) {
    const text = formatStream(caller, batches, ended);
    if (caller.id === 'chat') {
      const { finish, error } = readChatStream(text);
      assert.equal(error === undefined, ended);
      if (!ended) assert.equal(finish, 'error');
      else assert.equal(finish !== null, hasReason);
    } else if (caller.id === 'responses') {
      assert.equal(lastResponse(checkStream(text))['status'] !== 'failed', ended);
    } else {
      const { stopReason, error } = readMessagesStream(text);
      assert.equal(error === undefined, ended);
      assert.equal(stopReason !== null, hasReason);
    }
  }
}

function checkWhole(events: EventBatch): void {
  const answer = foldEvents(events);
  for (const caller of callers) {
    const text = caller.encodeWhole(answer, identity, finalUsage);
    const fault = findFault(PATHS[caller.id], { status: 200, contentType: 'application/json', text });
    assert.equal(fault, undefined);
  }
}

suite(`responses of upstreams, FUZZ_SEED=${SEED}`, () => {
  for (const format of ['chat', 'messages'] as const) {
    test(`keep to the grammar and their end in ${RUNS} mutated ${format} streams`, (t) => {
      let ends = 0;
      repeat(
        (random) => createFuzzStream(format, random),
        (bytes, random) => {
          const batches = decodeInPieces(format, bytes, random);
          const events: GenerationEvent[] = batches.flat();
          checkEvents(events);
          const end = endOf(events);
          if (end !== undefined) {
            ends++;
            assert.ok(statesEnd(format, bytes, end), 'an end that the upstream did not send');
          }
          checkStreams(batches, end);
          if (events.some(({ type }) => type === 'block-start')) checkWhole(events);
        },
      );
      t.diagnostic(`${ends} of ${RUNS} ended`);
      if (RUNS > 100) assert.ok(ends > RUNS / 5 && ends < RUNS * 0.95, 'both outcomes were seen');
    });

    test(`are decoded or refused without an exception in ${RUNS} mutated ${format} responses`, (t) => {
      let ends = 0;
      repeat(
        (random) => createFuzzWhole(format, random),
        (text) => {
          const events = upstreams[format].decodeWhole(text);
          checkEvents(events);
          const end = endOf(events);
          if (end === undefined) return;
          ends++;
          checkWhole(events);
          checkStreams([events], end);
        },
      );
      t.diagnostic(`${ends} of ${RUNS} were answers`);
      if (RUNS > 100) assert.ok(ends > RUNS / 5 && ends < RUNS * 0.95, 'both outcomes were seen');
    });

    test(`are classified within limits, never as a fault of ours, in ${RUNS} mutated ${format} error bodies`, () => {
      repeat(
        (random) => createFuzzWhole(format, random),
        (text, random) => {
          const error = upstreams[format].decodeError(text);
          const failure = classifyErrorEvent(random.int(400, 599), error);
          assert.ok((failure.upstreamMessage ?? '').length <= 2_100 && (failure.providerCode ?? '').length <= 210);
          assert.ok(failure.status >= 400 && failure.status !== 500);
        },
      );
    });
  }
});

/** Writes a mutated answer in pieces, and sometimes hangs up. The same run gets the same answer. */
function babble(format: UpstreamFormatId): Script {
  return (arrived, response) => {
    const random = createRandom(seedOf(SEED, Number(/run (\d+)/.exec(arrived.text)?.[1])));
    const wantsStream = arrived.body['stream'] === true;
    // Some upstreams respond in another way than requested.
    const streams = random.chance(0.03) ? !wantsStream : wantsStream;
    const body = streams ? createFuzzStream(format, random) : Buffer.from(createFuzzWhole(format, random));
    response.writeHead(random.chance(0.05) ? random.int(200, 599) : 200, {
      'content-type': streams ? 'text/event-stream' : 'application/json',
      ...(random.chance(0.05) && { 'retry-after': random.pick(['0', '-1', 'never', '1e9']) }),
    });
    const at = random.int(0, body.length);
    response.write(body.subarray(0, at));
    if (random.chance(0.05)) response.destroy();
    else response.end(body.subarray(at));
  };
}

suite(`responses of upstreams through the whole gateway, FUZZ_SEED=${SEED}`, () => {
  test(`reach the caller as a response, an error, or a stream with one end in ${HTTP_RUNS} mutations`, async (t) => {
    const { gateway, chat, messages } = await startScriptedFormats(t);
    chat.script = babble('chat');
    messages.script = babble('messages');
    const statuses = new Map<number, number>();
    let next = FIRST;
    async function work(): Promise<void> {
      while (next < FIRST + HTTP_RUNS) {
        const index = next++;
        const random = createRandom(seedOf(SEED, index));
        const path = random.pick(Object.values(PATHS));
        const model = random.pick(['acme/chat', 'acme/openai', 'acme/messages', 'acme/anthropic']);
        const content = `run ${index}`;
        const turns = [{ role: 'user', content }];
        const said = path === '/responses' ? { input: turns } : { messages: turns };
        const requested = { model, max_tokens: 50, stream: random.chance(0.6), ...said };
        const response = await gateway.post(path, requested, {}, AbortSignal.timeout(5_000));
        const contentType = response.headers.get('content-type') ?? '';
        const fault = findFault(path, { status: response.status, contentType, text: await response.text() });
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        assert.equal(fault, undefined, `FUZZ_SEED=${SEED} FUZZ_FIRST=${index} FUZZ_ANSWERS=1: ${path} ${model}`);
      }
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, work));
    t.diagnostic(JSON.stringify(Object.fromEntries(statuses)));
    const well = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] };
    assert.equal((await gateway.post('/chat/completions', well)).status, 200);
  });
});
