import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// As in main.ts: the same folder, the same heap, and the same readers of the log, which may go away.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/model-gateway', import.meta.url)));
process.stderr.on('error', () => undefined);

const { tuneHeap } = await import('./lib/memory/tune-heap.ts');
tuneHeap();
const { runWorker } = await import('./app/workers/run-worker.ts');
runWorker();
