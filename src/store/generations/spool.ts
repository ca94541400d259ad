import { readdirSync, statSync } from 'node:fs';
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { randomText } from '../../lib/ids.ts';
import { makeFolder } from '../../lib/files/make-folder.ts';

/** Keeps items in files of a folder while they cannot be stored where they belong. Processes may share the folder. */
export interface Spool<Item> {
  /** Returns whether the items are on the disk; false: there is no room, or the disk fails. Never rejects. */
  keep(items: readonly Item[]): Promise<boolean>;
  /** Counts the items on the disk. */
  count(): number;
  /**
   * Gives kept items to `store`, oldest first, and deletes the stored ones. After a crash in between, the next process
   * gives the same items again.
   * @throws what `store` throws: these items and later ones stay; and when the folder cannot be read
   */
  drain(store: (items: readonly Item[]) => Promise<void>): Promise<void>;
}

export interface SpoolOptions<Item> {
  /** The folder; it is made when it is needed. */
  readonly folder: string;
  readonly nowMs: () => number;
  /** Parses a file; `undefined` for what no version of the gateway wrote. */
  readonly read: (text: string) => readonly Item[] | undefined;
  /** Called when an unreadable file was set aside under another name. Must not throw. */
  readonly onUnreadable: (file: string) => void;
  readonly bytesMax?: number;
}

/** The size of all files together: some hundred thousand generations. */
const BYTES_MAX = 268_435_456;
/** Items that may wait for the disk; with more, the disk fails or is full. */
const WAITING_MAX = 20_000;
/** Items in one file, which is read whole. */
const ITEMS_PER_FILE_MAX = 250;
/** After this time a half-written file belongs to no living process. */
const PARTIAL_LIFE_MS = 3_600_000;

/** Begins with the time, so that names sort by it, and holds the number of items. */
const FILE_NAME = /^\d{15}-(\d+)-\w{12}\.json$/;
const PARTIAL = '.partial';

interface Waiting<Item> {
  readonly items: readonly Item[];
  readonly settle: (isKept: boolean) => void;
}

/** @throws Error when the folder exists and cannot be read */
export function openSpool<Item>(options: SpoolOptions<Item>): Spool<Item> {
  return new FileSpool(options);
}

class FileSpool<Item> implements Spool<Item> {
  readonly #options: SpoolOptions<Item>;
  /** The size of each file, bytes. */
  readonly #files: Map<string, number>;
  #waiting: Waiting<Item>[] = [];
  #waitingItems = 0;
  #isWriting = false;

  constructor(options: SpoolOptions<Item>) {
    this.#options = options;
    this.#files = new Map(listNow(options.folder));
  }

  count(): number {
    return [...this.#files.keys()].reduce((sum, name) => sum + countItems(name), 0);
  }

  keep(items: readonly Item[]): Promise<boolean> {
    if (this.#waitingItems + items.length > WAITING_MAX) return Promise.resolve(false);
    return new Promise((settle) => {
      this.#waiting.push({ items, settle });
      this.#waitingItems += items.length;
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async drain(store: (items: readonly Item[]) => Promise<void>): Promise<void> {
    const { folder, read, onUnreadable } = this.#options;
    await this.#look();
    for (const name of [...this.#files.keys()].toSorted()) {
      const file = join(folder, name);
      const text = await readFile(file, 'utf8').catch(unlessMissing);
      const items = text === undefined ? [] : read(text);
      if (items === undefined) {
        await rename(file, `${file}.unreadable`);
        onUnreadable(`${file}.unreadable`);
      } else {
        if (items.length > 0) await store(items);
        await rm(file, { force: true });
      }
      this.#files.delete(name);
    }
  }

  /**
   * Lists the folder. Another process may have added files; a file that another process took is missing when it is
   * read.
   */
  async #look(): Promise<void> {
    const { folder, nowMs } = this.#options;
    const names = (await readdir(folder).catch(unlessMissing)) ?? [];
    for (const name of names) {
      const facts = await stat(join(folder, name)).catch(unlessMissing);
      if (facts === undefined) continue;
      if (FILE_NAME.test(name)) this.#files.set(name, facts.size);
      else if (name.endsWith(PARTIAL) && nowMs() - facts.mtimeMs > PARTIAL_LIFE_MS)
        await rm(join(folder, name), { force: true });
    }
  }

  /** Writes waiting items; those that come while one file is written go into the next. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    // Items that are given up together arrive within one turn: wait for all of them.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const some = this.#nextFile();
      const items = some.flatMap((one) => one.items);
      const isKept = await this.#write(items).catch(() => false);
      this.#waitingItems -= items.length;
      for (const { settle } of some) settle(isKept);
    }
    this.#isWriting = false;
  }

  #nextFile(): readonly Waiting<Item>[] {
    let items = 0;
    const end = this.#waiting.findIndex((one) => (items += one.items.length) > ITEMS_PER_FILE_MAX);
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : Math.max(end, 1));
  }

  async #write(items: readonly Item[]): Promise<boolean> {
    const { folder, nowMs, bytesMax = BYTES_MAX } = this.#options;
    const text = JSON.stringify(items);
    const bytes = Buffer.byteLength(text);
    const taken = [...this.#files.values()].reduce((sum, each) => sum + each, 0);
    if (taken + bytes > bytesMax) return false;
    await makeFolder(folder);
    const name = `${String(Math.floor(nowMs())).padStart(15, '0')}-${items.length}-${randomText(12)}.json`;
    const file = join(folder, name);
    await writeDurably(file + PARTIAL, text);
    // A rename makes the file complete or absent.
    await rename(file + PARTIAL, file);
    this.#files.set(name, bytes);
    await sync(folder);
    return true;
  }
}

function countItems(name: string): number {
  return Number(FILE_NAME.exec(name)?.[1] ?? 0);
}

function listNow(folder: string): readonly (readonly [string, number])[] {
  try {
    return readdirSync(folder)
      .filter((name) => FILE_NAME.test(name))
      .map((name) => [name, statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0]);
  } catch (error) {
    unlessMissing(error);
    return [];
  }
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

/** Syncs the folder: only then is the name of a new file on the disk. */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
