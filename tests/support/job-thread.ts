import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../src/lib/assert.ts';
import { THREAD_READY } from '../../src/lib/threads/thread-ready.ts';

/** A thread for the tests of `job-threads.ts`: it runs the given script. Its data says how long it takes to load. */
const held: Uint8Array[] = [];
const port = parentPort;
assert(port !== null, 'this module runs in a thread');

port.on('message', (job: { readonly act: string; readonly value?: unknown }) => {
  switch (job.act) {
    case 'spin':
      for (;;);
    case 'throw':
      throw new Error('on purpose');
    case 'exit':
      process.exit(3);
    case 'hoard':
      for (;;) held.push(new Uint8Array(8_000_000).fill(1));
    case 'hoard-heap': {
      const all: unknown[] = [];
      for (;;) all.push({ a: all.length, b: [all.length] });
    }
    default:
      port.postMessage(job.value);
  }
});

if (typeof workerData === 'number') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, workerData);
port.postMessage(THREAD_READY);
