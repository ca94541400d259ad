// A thread that looks for patterns of filter rules: they may take long, and texts are as strangers wrote them.
import { parentPort } from 'node:worker_threads';
import { assert } from '../../../lib/assert.ts';
import { THREAD_READY } from '../../../lib/threads/thread-ready.ts';
import type { PatternJob } from './pattern-job.ts';

assert(parentPort !== null, 'patterns are looked for in a worker thread');
const port = parentPort;

port.on('message', ({ texts, searches }: PatternJob) => {
  const found: readonly boolean[] = searches.map(({ field, pattern }) => new RegExp(pattern).test(texts[field] ?? ''));
  port.postMessage(found);
});
port.postMessage(THREAD_READY);
