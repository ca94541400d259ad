import { constants } from 'node:fs';
import { open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** A file that commands have made, or that was put beside them. */
export interface HomeFile {
  /** Relative to its root. */
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAtMs: number;
}

const DEPTH_MAX = 16;
const ENTRIES_MAX = 10_000;
/** Of the root: caches, and what the shell keeps itself. */
const LEFT_OUT: ReadonlySet<string> = new Set(['.cache', '.git', '.shell-state']);
const { O_RDONLY, O_NOFOLLOW, O_DIRECTORY, O_NONBLOCK } = constants;

/**
 * Lists regular files by path. Commands write here while it is read: no link is followed, and folders are entered by their
 * handles, so that none that is exchanged meanwhile leads elsewhere.
 */
export async function listHomeFiles(root: string): Promise<readonly HomeFile[]> {
  const files: HomeFile[] = [];
  let entries = 0;
  async function walk(folder: FileHandle, prefix: string, depth: number): Promise<void> {
    const names = (await readdir(pathOf(folder), { encoding: 'buffer' })).map((name) => name.toString('utf8'));
    for (const name of names.toSorted()) {
      // A name that is no UTF-8 has become another one.
      if (LEFT_OUT.has(name) || name.includes('\uFFFD')) continue;
      if (++entries > ENTRIES_MAX) return;
      await visit(folder, name, prefix, depth);
    }
  }
  async function visit(folder: FileHandle, name: string, prefix: string, depth: number): Promise<void> {
    const entry = await openBelow(folder, name);
    if (entry === undefined) return;
    try {
      const found = await entry.stat();
      if (found.isFile()) files.push({ path: prefix + name, bytes: found.size, modifiedAtMs: found.mtimeMs });
      else if (found.isDirectory() && depth < DEPTH_MAX) await walk(entry, `${prefix}${name}/`, depth + 1);
    } finally {
      await entry.close();
    }
  }
  const handle = await openRoot(root);
  if (handle === undefined) return [];
  try {
    await walk(handle, '', 1);
  } finally {
    await handle.close();
  }
  return files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

/** A regular file, opened without following a link at any part of its path. `undefined`: there is none. */
export async function openHomeFile(root: string, path: string): Promise<FileHandle | undefined> {
  const parts = path.split('/');
  if (
    parts.length > DEPTH_MAX ||
    parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'))
  )
    return undefined;
  let handle = await openRoot(root);
  for (const part of parts) {
    if (handle === undefined) return undefined;
    const next: FileHandle | undefined = await openBelow(handle, part);
    await handle.close();
    handle = next;
  }
  if (handle === undefined || (await handle.stat()).isFile()) return handle;
  await handle.close();
  return undefined;
}

function openRoot(root: string): Promise<FileHandle | undefined> {
  return open(root, O_RDONLY | O_NOFOLLOW | O_DIRECTORY).catch(() => undefined);
}

/** Without waiting for the other end of a pipe. */
function openBelow(folder: FileHandle, name: string): Promise<FileHandle | undefined> {
  return open(join(pathOf(folder), name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
}

/** The kernel's own name of an open folder: it stays that folder, whatever becomes of its path. */
function pathOf({ fd }: FileHandle): string {
  return `/proc/self/fd/${fd}`;
}
