import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Cancellation } from '../../lib/async/cancellation.ts';
import { openStreamOutput, type StreamOutput } from './sse-output.ts';
import type { ResponseWriter } from '../request.ts';

interface Stage {
  readonly output: StreamOutput;
  readonly over: Cancellation<string>;
  /** Lets time pass, ms, and then the caller catch up. */
  readonly catchUp: (afterMs: number) => void;
}

/** An output to a caller that is always behind. */
function setStage(t: TestContext): Stage {
  const over = new Cancellation<string>();
  let nowMs = 0;
  let waiting: (() => void) | undefined;
  const caller: ResponseWriter = {
    onGone: () => undefined,
    started: true,
    announce: () => undefined,
    startStream: () => undefined,
    write: () => false,
    drained: (signal) =>
      new Promise((resolve) => {
        waiting = resolve;
        signal.addEventListener('abort', () => resolve());
      }),
    end: () => undefined,
    answer: () => undefined,
    refuse: () => undefined,
  };
  const options = { generationId: 'gen-1', keepAlive: () => ':', cancellation: over, monotonicMs: () => nowMs };
  const output = openStreamOutput(caller, options);
  t.after(() => output.stop());
  return {
    output,
    over,
    catchUp: (afterMs) => {
      nowMs += afterMs;
      waiting?.();
    },
  };
}

test('counts a caller as slow after waits of five seconds in all, and not before', async (t) => {
  const { output, catchUp } = setStage(t);
  for (const [waitMs, isSlow] of [
    [3_000, false],
    [1_999, false],
    [1, true],
  ] as const) {
    const written = output.write('x');
    catchUp(waitMs);
    await written;
    assert.equal(output.wasCallerSlow(), isSlow);
  }
});

test('counts a caller as slow that the response waits for when the request is over, however shortly', async (t) => {
  const { output, over } = setStage(t);
  const written = output.write('x');
  over.abort('gone');
  await written;
  assert.equal(output.wasCallerSlow(), true);
});

test('does not wait for the caller once the request is over, and does not count it as slow', async (t) => {
  const { output, over } = setStage(t);
  over.abort('gone');
  await output.write('x');
  assert.equal(output.wasCallerSlow(), false);
});

test('writes no keep-alive within an event that is sent in pieces', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const written: string[] = [];
  const caller = {
    startStream: () => undefined,
    write: (frames: string) => written.push(frames) > 0,
    drained: () => Promise.resolve(),
    end: () => undefined,
  };
  const output = openStreamOutput(caller, {
    generationId: 'gen-1',
    keepAlive: () => ': alive\n\n',
    cancellation: new Cancellation<string>(),
    monotonicMs: () => 0,
  });
  const caughtUp = Promise.withResolvers<void>();
  const event = output.writeEvent(async () => {
    written.push('data: {"b64_json":"');
    await caughtUp.promise;
    written.push('"}\n\n');
  });
  t.mock.timers.tick(35_000);
  caughtUp.resolve();
  await event;
  assert.deepEqual(written, ['data: {"b64_json":"', '"}\n\n']);
  output.stop();
});
