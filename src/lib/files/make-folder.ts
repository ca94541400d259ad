import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Other users of the machine cannot read the gateway's files. */
const MODE = 0o700;

/**
 * Makes a folder and its missing parents. Node's own `recursive` never ends where the system reports a missing parent that
 * exists, as it does below `/proc` (seen with Node 24, 2026-11).
 * @throws Error of the system, with its `code`, where it cannot be made
 */
export async function makeFolder(path: string): Promise<void> {
  if ((await makeOne(path)) === undefined) return;
  const above = dirname(path);
  if (above !== path) await makeFolder(above);
  const fault = await makeOne(path);
  if (fault !== undefined) throw fault;
}

/** Returns the error for a missing parent. @throws Error for any other reason */
async function makeOne(path: string): Promise<unknown> {
  try {
    await mkdir(path, { mode: MODE });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return error;
    if (!(await isFolder(path))) throw error;
  }
  return undefined;
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // The error of `mkdir` says more.
    return false;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
