import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { z } from 'zod';
import { samplePrincipal } from '../../../tests/support/principal.ts';
import { createFold } from '../../canonical/fold.ts';
import type { GenerateNested, NestedInput } from '../../canonical/tools/nested-generation.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import { createChatClientFormat } from '../../wire/chat/format.ts';
import { createGenerateNested } from './nested-generation.ts';
import { sampleFacts, sampleRequest } from '../../../tests/support/settled-record.ts';
import type { Generate, IncomingRequest } from '../request.ts';

const QUESTION: NestedInput = { models: ['acme/one'], turns: [] };
const format = createChatClientFormat({ plugin: z.never() });
const finalUsage = { usage: NO_USAGE, charge: undefined, isByok: false, serviceMetadata: undefined };

interface Parent {
  readonly ask: GenerateNested;
  /** What the request outside waits for before it ends. */
  readonly followed: readonly Promise<unknown>[];
  /** Of the request outside. */
  readonly request: AbortController;
}

/** What a request asks of models inside of it. @param during what each of these does before it answers */
function open(during: (ask: GenerateNested) => Promise<unknown>): Parent {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const followed: Promise<unknown>[] = [];
  const follow = (running: Promise<unknown>): void => void followed.push(running);
  const createAsk = (parent: IncomingRequest, cancellation: AbortController): GenerateNested =>
    createGenerateNested({ generate, clock }, parent, { log: sampleFacts().log, format, cancellation, follow });
  const generate: Generate = async (incoming, collecting, caller) => {
    const gone = new AbortController();
    caller.onGone(() => gone.abort());
    await during(createAsk(incoming, gone));
    gone.signal.throwIfAborted();
    collecting.encodeWhole(createFold().response(), { id: incoming.id, createdS: 0, model: 'acme/one' }, finalUsage);
  };
  const request = new AbortController();
  const parent: IncomingRequest = {
    id: 'gen-1',
    request: sampleRequest,
    principal: samplePrincipal(),
    arrivedMs: 0,
  };
  return { ask: createAsk(parent, request), followed, request };
}

test('removes its listeners when the generation is over', async () => {
  const { ask, request, followed } = open(() => Promise.resolve());
  const call = new AbortController();
  const requested = ask(QUESTION, call.signal);
  assert.equal(followed.length, 1);
  await requested;
  assert.equal(getEventListeners(request.signal, 'abort').length, 0);
  assert.equal(getEventListeners(call.signal, 'abort').length, 0);
});

for (const which of ['request', 'call'] as const)
  test(`ends a generation with the ${which} that it serves`, async () => {
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const parent = open(() => {
      begun.resolve();
      return goOn.promise;
    });
    const call = new AbortController();
    const requested = parent.ask(QUESTION, call.signal);
    await begun.promise;
    (which === 'request' ? parent.request : call).abort();
    goOn.resolve();
    await assert.rejects(requested, { name: 'AbortError' });
  });

test('runs at most 64 generations inside one request, including those inside each other', async () => {
  let requestedCount = 0;
  const { signal } = new AbortController();
  const { ask } = open(async (deeper) => {
    requestedCount++;
    await deeper(QUESTION, signal).catch(() => undefined);
  });
  for (let run = 0; run < 70; run++) await ask(QUESTION, signal).catch(() => undefined);
  assert.equal(requestedCount, 64);
});
