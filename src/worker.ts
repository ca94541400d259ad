import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// As in main.ts: the same folder, and the same readers of the log, which may go away.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/model-gateway', import.meta.url)));
process.stderr.on('error', () => undefined);

const { runWorker } = await import('./app/workers/run-worker.ts');
runWorker();
