import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import { listHomeFiles, openHomeFile } from './home-files.ts';
import { measureHome } from './measure-home.ts';

/** A file of a container, with the path that routes show: relative to the home, or below `/mnt/uploads/` or `/mnt/files/`. */
export interface ContainerFile {
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
  readonly createdAtMs: number;
  /** `user`: it was uploaded, or is a file of the workspace. */
  readonly source: 'assistant' | 'user';
}

export interface ContainerPlaces {
  readonly home: string;
  readonly mnt: string;
}

const PREFIX = 'cfile_';
/** Folders of `/mnt`: what was uploaded into the container, and files of its workspace. */
const GIVEN = ['uploads', 'files'] as const;
export type GivenFolder = (typeof GIVEN)[number];
const NAME_BYTES_MAX = 255;
const ONLY_OWNER = 0o700;

/** By path: what was uploaded comes first. */
export async function listFiles({ home, mnt }: ContainerPlaces): Promise<readonly ContainerFile[]> {
  const [made, ...given] = await Promise.all([
    listHomeFiles(home),
    ...GIVEN.toSorted().map(async (folder) =>
      (await listHomeFiles(join(mnt, folder))).map((file) => ({ ...file, path: placeOf(folder, file.path) })),
    ),
  ]);
  return [...given.flat(), ...made].map((file) => describe(file.path, file.bytes, file.modifiedAtMs));
}

function placeOf(folder: GivenFolder, path: string): string {
  return `/mnt/${folder}/${path}`;
}

function folderOf(path: string): GivenFolder | undefined {
  return GIVEN.find((folder) => path.startsWith(placeOf(folder, '')));
}

const OUTPUTS = 'outputs';
/** Files that one call tells of. */
const OUTPUTS_MAX = 20;
/** The clock of a file system is a little behind. */
const LATE_MS = 50;

/** What commands made or changed below `outputs` since a time. */
export async function listOutputs(
  { home }: Pick<ContainerPlaces, 'home'>,
  sinceMs: number,
): Promise<readonly ContainerFile[]> {
  const files = await listHomeFiles(join(home, OUTPUTS));
  return files
    .filter(({ modifiedAtMs }) => modifiedAtMs >= sinceMs - LATE_MS)
    .slice(0, OUTPUTS_MAX)
    .map((file) => describe(`${OUTPUTS}/${file.path}`, file.bytes, file.modifiedAtMs));
}

/** @throws GatewayError 404 */
export async function openFile(
  { home, mnt }: ContainerPlaces,
  id: string,
): Promise<{ readonly file: ContainerFile; readonly content: Readable }> {
  const path = pathOf(id);
  const folder = path === undefined ? undefined : folderOf(path);
  const handle =
    path === undefined
      ? undefined
      : await (folder === undefined
          ? openHomeFile(home, path)
          : openHomeFile(join(mnt, folder), path.slice(placeOf(folder, '').length)));
  if (path === undefined || handle === undefined)
    throw new GatewayError('not_found', 'There is no such file in this container.');
  const { size, mtimeMs } = await handle.stat();
  const file = describe(path, size, mtimeMs);
  if (size === 0) {
    await handle.close();
    return { file, content: Readable.from([]) };
  }
  // It may grow while it is read: its length was said already.
  return { file, content: handle.createReadStream({ end: size - 1 }) };
}

/**
 * Puts a file where commands read it and cannot change it.
 * @throws GatewayError 400 for a name that no file may have, 413 where it does not fit
 */
export async function putUpload(
  places: ContainerPlaces,
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  diskBytes: number,
  folder: GivenFolder = 'uploads',
): Promise<ContainerFile> {
  if (/^\.{0,2}$|[/\0]/.test(name) || Buffer.byteLength(name) > NAME_BYTES_MAX)
    throw invalid('file', `must have a name of 1 to ${NAME_BYTES_MAX} bytes, without a path`);
  const uploads = join(places.mnt, folder);
  await mkdir(uploads, { recursive: true, mode: ONLY_OWNER });
  const used = (await measureHome(places.home)) + (await measureHome(places.mnt));
  const draft = join(places.mnt, `draft-${randomBytes(8).toString('hex')}`);
  const file = await open(draft, 'wx', 0o600);
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (used + bytes > diskBytes)
        throw new GatewayError('payload_too_large', 'The file does not fit into the disk of the container.');
      await file.writeFile(chunk);
    }
    await file.close();
    await rename(draft, join(uploads, name));
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(draft, { force: true });
    throw error;
  }
  return describe(placeOf(folder, name), bytes, Date.now());
}

function describe(path: string, bytes: number, createdAtMs: number): ContainerFile {
  const source = folderOf(path) === undefined ? 'assistant' : 'user';
  return { id: PREFIX + Buffer.from(path).toString('base64url'), path, bytes, createdAtMs, source };
}

/** `undefined`: no file has this id. */
function pathOf(id: string): string | undefined {
  if (!id.startsWith(PREFIX)) return undefined;
  const path = Buffer.from(id.slice(PREFIX.length), 'base64url').toString('utf8');
  return PREFIX + Buffer.from(path).toString('base64url') === id ? path : undefined;
}
