import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What the gateway keeps nobody else on the machine reads. */
const MODE = 0o700;

/**
 * Makes a folder, and those above it that are missing. Node's own `recursive` never ends where the system says that
 * something is missing above a folder whose parent is there, as it does below `/proc` (seen with Node 24, 2026-11).
 * @throws Error of the system, with its `code`, where it cannot be made
 */
export async function makeFolder(path: string): Promise<void> {
  if ((await makeOne(path)) === undefined) return;
  const above = dirname(path);
  if (above !== path) await makeFolder(above);
  const fault = await makeOne(path);
  if (fault !== undefined) throw fault;
}

/** The error of a folder above which one is missing. @throws Error for any other */
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
    // Why it cannot be made says more.
    return false;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
