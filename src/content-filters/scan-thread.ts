// A thread that looks through texts which would keep the process from its streams.
import { parentPort } from 'node:worker_threads';
import { assert } from '../lib/assert.ts';
import { THREAD_READY } from '../lib/threads/thread-ready.ts';
import { compileRules } from './compile-rules.ts';
import type { ScanJob } from './scan-job.ts';
import { scanTexts, type ScanResult } from './scan.ts';

assert(parentPort !== null, 'scans run in a worker thread');
const port = parentPort;

port.on('message', ({ texts, rules }: ScanJob) => {
  const result: ScanResult = scanTexts(texts, compileRules(rules));
  port.postMessage(result);
});
port.postMessage(THREAD_READY);
