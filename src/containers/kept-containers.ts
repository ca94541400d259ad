import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { ShellOwner } from '../canonical/tools/shell.ts';
import { randomText } from '../lib/ids.ts';
import type { Clock } from '../lib/clock.ts';
import { folderOf, isFolder, makeContainer, readManifest, type Manifest } from './manifest.ts';
import { removeTree } from './remove-tree.ts';

/** A container as its workspace sees it. */
export interface KeptContainer {
  readonly folder: string;
  /** Absent: nothing describes it. */
  readonly manifest: Manifest | undefined;
  readonly lastActiveAtMs: number;
}

export interface DescribedContainer extends KeptContainer {
  readonly manifest: Manifest;
}

export interface NewContainer {
  readonly id?: string | undefined;
  readonly memoryBytes?: number | undefined;
  readonly expiresMs?: number | undefined;
}

/** Whose keys may have so many made by a route in a day. */
const MADE_PER_DAY_MAX = 100;
const MS_PER_DAY = 86_400_000;
/** Folders that one look reads. */
const SCANNED_MAX = 10_000;
const READ_AT_ONCE = 64;
const ID_CHARS = 12;

/** The newest first. */
export async function listContainers(directory: string): Promise<readonly KeptContainer[]> {
  const names = await readdir(directory).catch(() => []);
  const folders = names.filter(isFolder).slice(0, SCANNED_MAX);
  const found: KeptContainer[] = [];
  for (let at = 0; at < folders.length; at += READ_AT_ONCE) {
    const some = folders.slice(at, at + READ_AT_ONCE);
    const kept = await Promise.all(some.map((folder) => readContainer(directory, folder)));
    found.push(...kept.flatMap((one) => one ?? []));
  }
  return found.toSorted((one, other) => other.lastActiveAtMs - one.lastActiveAtMs);
}

async function readContainer(directory: string, folder: string): Promise<KeptContainer | undefined> {
  const found = await stat(join(directory, folder)).catch(() => undefined);
  if (found === undefined) return undefined;
  return { folder, manifest: await readManifest(directory, folder), lastActiveAtMs: found.mtimeMs };
}

/** Those of a workspace, by id. */
export async function listOwn(directory: string, owner: ShellOwner): Promise<readonly DescribedContainer[]> {
  const all = await listContainers(directory);
  return all
    .flatMap((one) => (isOf(owner, one) ? [one] : []))
    .toSorted((one, other) => (one.manifest.id < other.manifest.id ? -1 : 1));
}

/** @throws GatewayError 404, for one of another workspace too */
export async function findOwn(directory: string, owner: ShellOwner, id: string): Promise<DescribedContainer> {
  const found = await readContainer(directory, folderOf(owner, id));
  if (found !== undefined && isOf(owner, found)) return found;
  throw new GatewayError('not_found', `There is no container "${id}" in this workspace.`);
}

/** @throws GatewayError 409 for an id that is taken, 429 for too many in a day */
export async function makeOwn(
  directory: string,
  owner: ShellOwner & { readonly keyHash: string },
  { id = `cntr_${randomText(ID_CHARS)}`, memoryBytes, expiresMs }: NewContainer,
  clock: Clock,
): Promise<DescribedContainer> {
  const nowMs = clock.nowMs();
  const made = (await listContainers(directory)).filter(
    ({ manifest }) => manifest?.keyHash === owner.keyHash && nowMs - manifest.createdAtMs < MS_PER_DAY,
  );
  if (made.length >= MADE_PER_DAY_MAX)
    throw new GatewayError('rate_limit_exceeded', `This key has made ${MADE_PER_DAY_MAX} containers within a day.`, {
      retryAfterMs: MS_PER_DAY - (nowMs - Math.min(...made.map(({ manifest }) => manifest?.createdAtMs ?? nowMs))),
    });
  const folder = folderOf(owner, id);
  const manifest: Manifest = {
    id,
    accountId: owner.accountId,
    workspaceId: owner.workspaceId,
    keyHash: owner.keyHash,
    createdAtMs: nowMs,
    ...(memoryBytes !== undefined && { memoryBytes }),
    ...(expiresMs !== undefined && { expiresMs }),
  };
  if (!(await makeContainer(directory, folder, manifest)))
    throw new GatewayError('invalid_request', `There is a container "${id}" already.`, { status: 409 });
  return findOwn(directory, owner, id);
}

/** Removes a container with its files. @returns whether there was one */
export async function removeContainer(directory: string, folder: string): Promise<boolean> {
  if (!isFolder(folder)) return false;
  const path = join(directory, folder);
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  await removeTree(path);
  return isThere;
}

function isOf({ accountId, workspaceId }: ShellOwner, one: KeptContainer): one is DescribedContainer {
  return one.manifest?.accountId === accountId && one.manifest.workspaceId === workspaceId;
}
