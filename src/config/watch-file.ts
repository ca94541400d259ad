import { unwatchFile, watchFile, type Stats } from 'node:fs';

/** The longest delay for an operator. Polling the file's state works on every file system, and through a swapped link. */
const WATCH_EVERY_MS = 2_000;

/**
 * Calls back when the file was written, replaced or came into being; not when it vanished. Keeps no process alive.
 * @returns stops watching
 */
export function watchConfigFile(path: string, onChange: () => void): () => void {
  const listener = (now: Stats, before: Stats): void => {
    const changed = now.mtimeMs !== before.mtimeMs || now.size !== before.size || now.ino !== before.ino;
    if (changed && now.ino !== 0) onChange();
  };
  watchFile(path, { persistent: false, interval: WATCH_EVERY_MS }, listener);
  return () => unwatchFile(path, listener);
}
