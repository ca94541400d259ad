import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { withTimeout } from '../../src/lib/async/with-timeout.ts';
import { checkGolden, shortenStrings } from '../support/golden.ts';
import { prepareRequest } from '../support/prepare-request.ts';
import { readRecord } from '../support/recordings/replay.ts';
import { reviewRecord } from '../support/recordings/review-answer.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatChunk, sse, type Script } from '../support/upstream.ts';
import { HANG_UP, REQUEST_PAINS, type RequestPain } from './request-pains.ts';
import { TARGETS } from './targets.ts';

const TEXT_CHARS_MAX = 400;

function goldenOf({ caller, body, betas, targets, why }: RequestPain): JsonObject {
  const sent = targets.map((name): [string, Json] => {
    const { path: _path, headers, ...rest } = prepareRequest(caller, body, TARGETS[name], betas && { betas });
    // Headers only matter where the request has flags.
    return [name, { ...(betas !== undefined && { headers }), ...rest }];
  });
  return { ...(why !== undefined && { why }), ...Object.fromEntries(sent) };
}

suite('requests that other gateways translate wrongly', () => {
  for (const pain of REQUEST_PAINS)
    test(pain.name, () => {
      checkGolden(`pains/${pain.name}.json`, shortenStrings(goldenOf(pain), TEXT_CHARS_MAX));
    });
});

const HANG_UP_LIMIT_MS = 250;
const RECORD_TRIES = 100;

/** What is kept of an answer whose caller hangs up after its first words. */
async function recordOfHangUp(t: TestContext, path: string): Promise<JsonObject> {
  const closed = Promise.withResolvers<void>();
  const script: Script = (_arrived, response) => {
    response.on('close', () => closed.resolve());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(sse([chatChunk({ role: 'assistant', content: 'One two three four five six.' })]));
  };
  const { gateway } = await startTwoProviders(t, { first: script });
  const abort = new AbortController();
  const messages = [{ role: 'user', content: 'Count.' }];
  const response = await gateway.post(path, { model: 'acme/first', stream: true, messages }, {}, abort.signal);
  const reader = response.body?.getReader();
  for (let text = ''; !text.includes('six');) {
    const read = await reader?.read();
    assert.ok(read?.done === false, `the answer ended: ${text}`);
    text += Buffer.from(read.value).toString();
  }
  abort.abort();
  // The upstream is dropped at once; time in which this process does not get the processor says nothing of the gateway.
  await withTimeout(closed.promise, HANG_UP_LIMIT_MS);
  const id = response.headers.get('x-generation-id') ?? '';
  for (let tries = 0; (await gateway.app.generations.find(id)) === undefined && tries < RECORD_TRIES; tries++)
    await sleep(20);
  return reviewRecord(await readRecord(gateway, id));
}

test(HANG_UP, async (t) => {
  checkGolden(`pains/${HANG_UP}.json`, {
    why: ['The provider told no usage before the caller left, so the count is an estimate of ours, marked so.'],
    chat: await recordOfHangUp(t, '/chat/completions'),
    messages: await recordOfHangUp(t, '/messages'),
  });
});
