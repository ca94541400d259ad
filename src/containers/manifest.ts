import { createHash, randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ShellOwner } from '../canonical/tools/shell.ts';
import { isJsonObject, parseJson } from '../lib/json.ts';

const FILE = 'container.json';
const FOLDER = /^[0-9a-f]{40}$/;
const FOLDER_CHARS = 40;
const ONLY_OWNER = 0o700;

/** What a container is, beside its files: it lies with them, so that neither is there without the other. */
export interface Manifest {
  readonly id: string;
  readonly accountId: string;
  readonly workspaceId: string;
  /** The key that made it. */
  readonly keyHash: string;
  readonly createdAtMs: number;
  /** Below the configured limit. Absent: that one. */
  readonly memoryBytes?: number;
  /** Without a command it is removed after this time. Absent: the configured one. */
  readonly expiresMs?: number;
}

/** Equal ids of two workspaces are two containers. */
export function folderOf({ accountId, workspaceId }: ShellOwner, id: string): string {
  return createHash('sha256').update(`${accountId}\n${workspaceId}\n${id}`).digest('hex').slice(0, FOLDER_CHARS);
}

export function isFolder(name: string): boolean {
  return FOLDER.test(name);
}

/** Of a container: what commands see as `/home/agent`, and as `/mnt`. */
export function placesIn(directory: string, folder: string): { readonly home: string; readonly mnt: string } {
  return { home: join(directory, folder, 'home'), mnt: join(directory, folder, 'mnt') };
}

/** `undefined`: there is no such container, or what describes it is damaged. */
export async function readManifest(directory: string, folder: string): Promise<Manifest | undefined> {
  try {
    return parseManifest(await readFile(join(directory, folder, FILE), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Makes a container: its folder, and then what describes it. One that is there stays. @returns whether it was made */
export async function makeContainer(directory: string, folder: string, manifest: Manifest): Promise<boolean> {
  const { home } = placesIn(directory, folder);
  await mkdir(home, { recursive: true, mode: ONLY_OWNER });
  const path = join(directory, folder, FILE);
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  if (isThere) return false;
  // Whole or not at all, whatever happens in between, and by one of those that make it at the same moment.
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(JSON.stringify(manifest));
      await file.sync();
    } finally {
      await file.close();
    }
    await link(draft, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

function parseManifest(text: string): Manifest | undefined {
  const value = parseJson(text);
  if (!isJsonObject(value)) return undefined;
  const { id, accountId, workspaceId, keyHash, createdAtMs, memoryBytes, expiresMs } = value;
  if (typeof id !== 'string' || typeof accountId !== 'string' || typeof workspaceId !== 'string') return undefined;
  return {
    id,
    accountId,
    workspaceId,
    keyHash: typeof keyHash === 'string' ? keyHash : '',
    createdAtMs: typeof createdAtMs === 'number' ? createdAtMs : 0,
    ...(typeof memoryBytes === 'number' && { memoryBytes }),
    ...(typeof expiresMs === 'number' && { expiresMs }),
  };
}
