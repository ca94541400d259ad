import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { GenerationRequest } from '../../canonical/request.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Call, HttpClient } from '../../lib/net/http-client.ts';
import { TransportError } from '../../lib/net/http-client.ts';
import { createLoopTurns, type LoopTurns } from '../../lib/async/loop-turns.ts';
import { createProviders } from '../../providers/index.ts';
import type { Candidate } from '../../routing/route-plan.ts';
import { chatUpstreamFormat } from '../../wire/chat/format.ts';
import { createResponseMemory } from '../replay/replay-memory.ts';
import { ResponseRoom, createWholeResponseMemory, LARGE_ANSWER_BYTES } from '../response/whole-response-budget.ts';
import { AttemptDeadline } from './attempt-deadline.ts';
import { makeAttempt } from './attempt.ts';
import { MediaInliner } from './request/inline-media.ts';
import { Cancellation } from '../../lib/async/cancellation.ts';
import { plainDirectives } from '../../../tests/support/plain-directives.ts';

const REQUEST: GenerationRequest = {
  format: 'chat',
  delivery: 'whole',
  turns: [{ role: 'user', blocks: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  settings: {},
  directives: plainDirectives('ollama/one'),
  warnings: [],
};
const CANDIDATE: Candidate = {
  format: 'chat',
  endpoint: {
    provider: 'ollama',
    providerName: 'Ollama',
    model: 'ollama/one',
    upstreamModel: 'one',
    formats: ['chat'],
    cancellable: true,
    price: { prompt: 0, completion: 0 },
    dataPolicy: {},
  },
};
const WHOLE_MS = 100;
const LARGE_ANSWER = JSON.stringify({
  choices: [{ message: { role: 'assistant', content: 'x'.repeat(LARGE_ANSWER_BYTES) }, finish_reason: 'stop' }],
});

interface Upstream {
  readonly lastByteMs: number;
  readonly body: string;
  readonly mediaType: string;
}

/** An upstream whose large answer is there at once, but for its last byte, which comes after some time. */
function answering({ lastByteMs, body, mediaType }: Upstream): HttpClient {
  return {
    call(): Call {
      const cancelled = Promise.withResolvers<never>();
      cancelled.promise.catch(() => undefined);
      let at = 0;
      const last = wait(lastByteMs, Buffer.from(body.slice(-1)), { ref: false });
      const reads = [Promise.resolve(Buffer.from(body.slice(0, -1))), last, Promise.resolve(undefined)];
      const read = (): Promise<Uint8Array | undefined> =>
        Promise.race([cancelled.promise, reads[at++] ?? Promise.resolve(undefined)]);
      return {
        answer: Promise.resolve({ status: 200, headers: { 'content-type': mediaType }, read }),
        cancel: () => cancelled.reject(new TransportError('aborted')),
        release: () => undefined,
      };
    },
    close: () => Promise.resolve(),
  };
}

/** An attempt at a large answer while all memory for such is taken for so long. */
async function attempt({
  busyMs = 0,
  lastByteMs = 0,
  body = LARGE_ANSWER,
  mediaType = 'application/json',
  memoryBytes = 2_000_000,
  isLarge = false,
  turns = createLoopTurns({ clock: systemClock }),
}: Partial<Upstream> & {
  readonly busyMs?: number;
  readonly memoryBytes?: number;
  readonly isLarge?: boolean;
  readonly turns?: LoopTurns;
}) {
  const timeouts = { connectMs: 5_000, headersMs: 5_000, firstTokenMs: 0, idleMs: 5_000, wholeMs: WHOLE_MS };
  const cancellation = new Cancellation();
  const memory = createWholeResponseMemory(memoryBytes);
  const others = new ResponseRoom(memory);
  await others.take(memoryBytes, cancellation.signal);
  const timer = setTimeout(() => others.close(), busyMs);
  const room = new ResponseRoom(memory);
  const parts = {
    http: answering({ lastByteMs, body, mediaType }),
    formats: { chat: chatUpstreamFormat },
    providers: createProviders({ config: [], env: { OLLAMA_HOST: 'http://127.0.0.1:1' }, timeouts }),
    byokUpstream: () => Promise.reject(new Error('no credential')),
    memory: createResponseMemory({ clock: systemClock }),
    turns,
    nowMs: () => Date.now(),
  };
  const media = new MediaInliner({
    download: () => Promise.reject(new Error('nothing is to be fetched')),
    memory,
  });
  const deadline = new AttemptDeadline({ monotonicMs: () => performance.now() }, CANDIDATE, () => 0, {
    areLeft: () => false,
    couldServe: () => false,
  });
  const requested = {
    request: REQUEST,
    isLarge,
    endUserId: '',
    scope: '',
    media: () => media,
    room: () => room,
    echoes: undefined,
  };
  try {
    return await makeAttempt(
      parts,
      CANDIDATE,
      requested,
      { warn: () => undefined, sent: () => undefined, traceHeaders: () => ({}), keyHash: 'key' },
      deadline,
      cancellation,
    );
  } finally {
    clearTimeout(timer);
    others.close();
    room.close();
  }
}

test("does not count the wait for the gateway's memory as slowness of the upstream", async () => {
  const outcome = await attempt({ busyMs: 3 * WHOLE_MS, lastByteMs: 0 });
  assert.equal(outcome.committed, true);
});

test('times out an upstream that is slow after the wait for memory', async () => {
  const outcome = await attempt({ busyMs: 3 * WHOLE_MS, lastByteMs: 60_000 });
  assert.deepEqual(outcome.committed ? undefined : outcome.failure.clock, 'whole');
});

test('restores, encodes and writes a large request in separate turns of the event loop, and decodes a large response in one', async () => {
  for (const [isLarge, steps] of [
    [true, 4],
    [false, 1],
  ] as const) {
    let begun = 0;
    const turns: LoopTurns = { next: () => Promise.resolve(void begun++) };
    await attempt({ busyMs: 0, lastByteMs: 0, isLarge, turns });
    assert.equal(begun, steps);
  }
});

const STREAMED_ANSWER = `data: ${LARGE_ANSWER.replace('"message"', '"index":0,"delta"')}\n\ndata: [DONE]\n\n`;

for (const [kind, upstream] of Object.entries({
  'a whole answer': {},
  'a stream that was asked for as a whole': { body: STREAMED_ANSWER, mediaType: 'text/event-stream' },
}))
  test(`takes memory for ${kind}, and refuses one that is larger than all of it`, async () => {
    const [fits, tooLarge] = [await attempt(upstream), await attempt({ ...upstream, memoryBytes: LARGE_ANSWER_BYTES })];
    assert.equal(fits.committed, true);
    assert.equal(JSON.stringify(tooLarge).includes('too large'), true, JSON.stringify(tooLarge));
  });
