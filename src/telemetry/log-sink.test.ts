import assert from 'node:assert/strict';
import { mock, test, type TestContext } from 'node:test';
import { createLogSink, type LogFiles } from './log-sink.ts';

const PIECE_CHARS = 49_152;
const WAITING_CHARS_MAX = 4_194_304;

/** A destination that takes bytes while `fault` is empty, at most `most` in one go. */
function createDestination(most = Number.POSITIVE_INFINITY) {
  const state = { bytes: Buffer.alloc(0), text: '', fault: '', tries: 0 };
  const takeFrom = (bytes: Buffer): number => {
    state.tries++;
    if (state.fault !== '') throw Object.assign(new Error(state.fault), { code: state.fault });
    const taken = bytes.subarray(0, most);
    state.bytes = Buffer.concat([state.bytes, taken]);
    state.text = state.bytes.toString();
    return taken.length;
  };
  const files: LogFiles = {
    write(_fd, bytes, done) {
      queueMicrotask(() => {
        try {
          done(null, takeFrom(bytes));
        } catch (error) {
          if (!(error instanceof Error)) throw error;
          done(error, 0);
        }
      });
    },
    writeSync: (_fd, bytes) => takeFrom(bytes),
  };
  return { state, sink: createLogSink(2, files) };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Advances the time, and lets its callbacks finish. */
async function pass(context: TestContext, ms: number): Promise<void> {
  context.mock.timers.tick(ms);
  await settled();
}

test('lines are written in pieces, in order, however little is taken in one go', async () => {
  const { state, sink } = createDestination(1_000);
  const lines = Array.from({ length: 1_000 }, (_, index) => `${String(index).padStart(99, 'é')}\n`);
  for (const line of lines) sink.write(line);
  while (state.bytes.length < PIECE_CHARS) await settled();
  sink.finish();
  assert.equal(state.bytes.toString(), lines.join(''));
});

test('writes a partial piece a second later', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { state, sink } = createDestination();
  sink.write('one\n');
  await pass(context, 999);
  assert.equal(state.text, '');
  await pass(context, 1);
  assert.equal(state.text, 'one\n');
});

test('writes what a full disk refused once there is room', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { state, sink } = createDestination();
  state.fault = 'ENOSPC';
  sink.write('one\n');
  await pass(context, 1_000);
  sink.write('two\n');
  await pass(context, 250);
  assert.equal(state.text, '');
  state.fault = '';
  await pass(context, 250);
  await pass(context, 1_000);
  assert.equal(state.text, 'one\ntwo\n');
});

test('writes what a full pipe refused as soon as its reader reads, whatever is written meanwhile', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { state, sink } = createDestination();
  state.fault = 'EAGAIN';
  const line = `${'x'.repeat(1_023)}\n`;
  sink.write('one\n');
  for (let index = 0; index < PIECE_CHARS / line.length; index++) sink.write(line);
  sink.write('two\n');
  await settled();
  state.fault = '';
  await pass(context, 10);
  assert.match(state.text, /^one\n/);
  await pass(context, 1_000);
  assert.match(state.text, /two\n$/);
});

test('keeps at most four megabytes, and logs the number of lost lines', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { state, sink } = createDestination();
  state.fault = 'EAGAIN';
  const line = `${'x'.repeat(1_023)}\n`;
  for (let index = 0; index < PIECE_CHARS / line.length; index++) sink.write(line);
  await settled();
  for (let index = 0; index < WAITING_CHARS_MAX / line.length + 3; index++) sink.write(line);
  state.fault = '';
  await pass(context, 1_000);
  await pass(context, 1_000);
  sink.finish();
  const reported = state.text.split('\n').find((text) => text.includes('lost'));
  assert.equal(/"lines":(\d+)/.exec(reported ?? '')?.[1], '3');
});

test('stops writing to a reader that is gone', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { state, sink } = createDestination();
  state.fault = 'EPIPE';
  sink.write('one\n');
  await pass(context, 1_000);
  sink.write('two\n');
  await pass(context, 10_000);
  sink.finish();
  assert.equal(state.tries, 1);
});

for (const [fault, tries] of [
  ['ENOSPC', 1],
  ['EPIPE', 1],
  ['EAGAIN', 10],
] as const)
  test(`lets the process end although its log fails with ${fault}`, () => {
    const { state, sink } = createDestination();
    mock.method(Atomics, 'wait', () => 'timed-out');
    state.fault = fault;
    sink.write('one\n');
    sink.finish();
    mock.restoreAll();
    assert.equal(state.tries, tries);
  });

test('writes the waiting and the interrupted lines at the end of the process', () => {
  const { state, sink } = createDestination(3);
  sink.write('one\n');
  sink.write('two\n');
  sink.finish();
  assert.equal(state.text, 'one\ntwo\n');
});
