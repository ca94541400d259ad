import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { z } from 'zod';
import { samplePrincipal } from '../accounts/test-principal.ts';
import { createFold } from '../canonical/fold.ts';
import type { InnerGenerate, InnerQuestion } from '../canonical/inner-generation.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import { createChatClientFormat } from '../wire/chat/format.ts';
import type { Asked, Generate } from './generate.ts';
import { createInnerGenerate } from './inner-generation.ts';
import { sampleRecord } from './test-record.ts';

const QUESTION: InnerQuestion = { models: ['acme/one'], turns: [] };
const format = createChatClientFormat({ plugin: z.never() });
const closing = { usage: NO_USAGE, charge: undefined, isByok: false, serviceMetadata: undefined };

interface Outer {
  readonly ask: InnerGenerate;
  readonly underWay: ReadonlySet<Promise<unknown>>;
  /** Of the request outside. */
  readonly request: AbortController;
}

/** What a request asks of models inside of it. @param during what each of these does before it answers */
function open(during: (ask: InnerGenerate) => Promise<unknown>): Outer {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const createAsk = (outer: Asked, signal: AbortSignal, underWay: Set<Promise<unknown>>): InnerGenerate =>
    createInnerGenerate({ generate, clock }, outer, { record: sampleRecord(), format, signal, underWay });
  const generate: Generate = async (asked, collecting, caller) => {
    const gone = new AbortController();
    caller.onGone(() => gone.abort());
    await during(createAsk(asked, gone.signal, new Set()));
    gone.signal.throwIfAborted();
    collecting.encodeWhole(createFold().answer(), { id: asked.id, createdS: 0, model: 'acme/one' }, closing);
  };
  const request = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  const outer: Asked = { id: 'gen-1', request: sampleRecord().request, asker: samplePrincipal(), arrivedMs: 0 };
  return { ask: createAsk(outer, request.signal, underWay), underWay, request };
}

test('a generation that is over listens to nobody any more', async () => {
  const { ask, request, underWay } = open(() => Promise.resolve());
  const call = new AbortController();
  const asked = ask(QUESTION, call.signal);
  assert.equal(underWay.size, 1);
  await asked;
  assert.equal(underWay.size, 0);
  assert.equal(getEventListeners(request.signal, 'abort').length, 0);
  assert.equal(getEventListeners(call.signal, 'abort').length, 0);
});

for (const which of ['request', 'call'] as const)
  test(`a generation ends with the ${which} that it serves`, async () => {
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const outer = open(() => {
      begun.resolve();
      return goOn.promise;
    });
    const call = new AbortController();
    const asked = outer.ask(QUESTION, call.signal);
    await begun.promise;
    (which === 'request' ? outer.request : call).abort();
    goOn.resolve();
    await assert.rejects(asked, { name: 'AbortError' });
  });

test('one request runs 64 generations inside of it, those inside of each other included', async () => {
  let asked = 0;
  const { signal } = new AbortController();
  const { ask } = open(async (deeper) => {
    asked++;
    await deeper(QUESTION, signal).catch(() => undefined);
  });
  for (let run = 0; run < 70; run++) await ask(QUESTION, signal).catch(() => undefined);
  assert.equal(asked, 64);
});
