import type { FromWorker, ToWorker, WorkerStart } from './messages.ts';
import { createWorker, type Worker } from './worker.ts';

const EXIT_FAILED = 1;

/** The life of a worker process: what the first process says starts and ends it, and the end of that process ends it too. */
export function runWorker(): void {
  let worker: Promise<Worker | undefined> = Promise.resolve(undefined);
  const end = (code: number): void => process.exit(code);
  // A terminal signals the whole group of processes; the first one tells its workers what to do.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.once('disconnect', () => end(EXIT_FAILED));
  process.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'start':
        worker = start(message.start, () => end(EXIT_FAILED));
        return;
      case 'reload':
        void worker.then((running) => running?.reload(message.config));
        return;
      case 'close':
        void worker.then((running) => running?.close(message.farewellMs)).then(() => end(0));
    }
  });
}

/** @returns undefined where it could not be started, which the first process hears */
async function start(options: WorkerStart, onOrphaned: () => void): Promise<Worker | undefined> {
  try {
    const worker = await createWorker(options, process.env, onOrphaned);
    tell({ kind: 'listening', address: await worker.listen() });
    return worker;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error), code }, onOrphaned);
    return undefined;
  }
}

function tell(message: FromWorker, done: () => void = () => undefined): void {
  process.send?.(message, done);
}
