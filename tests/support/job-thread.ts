import { parentPort } from 'node:worker_threads';
import { assert } from '../../src/lib/assert.ts';

/** A thread for the tests of `job-threads.ts`: it runs the given script. */
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
