import type { SqliteThread } from './thread.ts';

/** Makes a thread that starts with the first query: many processes send none. */
export function createLazyThread(start: () => Promise<SqliteThread>): SqliteThread {
  let started: Promise<SqliteThread> | undefined;
  let closed = false;
  const thread = (): Promise<SqliteThread> => {
    if (closed) return Promise.reject(new Error('The database is closed.'));
    started ??= start();
    return started;
  };
  return {
    run: async (job) => (await thread()).run(job),
    begin: async (msMax) => (await thread()).begin(msMax),
    async close() {
      closed = true;
      await (await started)?.close();
    },
  };
}
