import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../lib/assert.ts';
import { THREAD_READY } from '../lib/threads/thread-ready.ts';
import { boundBuffers } from './bound-buffers.ts';
import type { TextJob, TextResult, TextThreadData } from './job.ts';

/** A thread that makes text of files. Libraries are loaded with the first job that needs them. */
const port = parentPort;
assert(port !== null, 'this module runs in a thread');
const { bufferBytesMax }: TextThreadData = workerData;
const bound = boundBuffers(bufferBytesMax);

port.on('message', (job: TextJob) => {
  void answer(job).then((result) => port.postMessage(result));
});
port.postMessage(THREAD_READY);

async function answer(job: TextJob): Promise<TextResult> {
  const result = await readJob(job);
  // Libraries leave out what they cannot unpack, and what is left is not the text of the file.
  return bound.takeExceeded() ? { status: 'failed', fault: 'memory' } : result;
}

async function readJob(job: TextJob): Promise<TextResult> {
  try {
    if (job.kind === 'page') {
      const { readPage } = await import('./read-page.ts');
      return readPage(job);
    }
    const { readPdf } = await import('./read-pdf.ts');
    return await readPdf(job);
  } catch {
    // Whatever a library throws: the file is one that it cannot read.
    return { status: 'failed', fault: 'unreadable' };
  }
}
