import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { refreshedCatalog, type RefreshedCatalog } from './refreshed.ts';

const NAME = 'catalog-refresh.json';
/** A file that is larger was not written here. */
const BYTES_MAX = 20 * 1_024 * 1_024;

/** The last list that was taken over, between two starts, and between the gateway and the command. */
export interface RefreshFile {
  readonly path: string;
  /** `undefined`: there is none, or none that makes sense; then it is as if nothing had been fetched. */
  read(): Promise<RefreshedCatalog | undefined>;
  /** Whole or not at all. */
  write(list: RefreshedCatalog): Promise<void>;
  /** Changes with every write by any process; `undefined`: there is no file. */
  version(): Promise<string | undefined>;
}

export function createRefreshFile(dataDir: string): RefreshFile {
  const path = join(dataDir, NAME);
  return {
    path,
    async read() {
      try {
        if ((await stat(path)).size > BYTES_MAX) return undefined;
        const read = refreshedCatalog.safeParse(JSON.parse(await readFile(path, 'utf8')));
        return read.success ? read.data : undefined;
      } catch {
        // Not there, not readable or cut short: the next refresh writes it anew.
        return undefined;
      }
    },
    async write(list) {
      const next = `${path}.${process.pid}.next`;
      try {
        const handle = await open(next, 'w');
        try {
          await handle.writeFile(`${JSON.stringify(list)}\n`);
          await handle.sync();
        } finally {
          await handle.close();
        }
        await rename(next, path);
      } catch (error) {
        await rm(next, { force: true });
        throw error;
      }
    },
    async version() {
      try {
        const { mtimeMs, size, ino } = await stat(path);
        return `${mtimeMs} ${size} ${ino}`;
      } catch {
        return undefined;
      }
    },
  };
}
