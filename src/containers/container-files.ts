import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import { listHomeFiles, openHomeFile } from './home-files.ts';
import { measureHome } from './measure-home.ts';

/** A file of a container, with the path that routes show: relative to the home, or below `/mnt/uploads/`. */
export interface ContainerFile {
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
  readonly createdAtMs: number;
  /** `user`: it was uploaded. */
  readonly source: 'assistant' | 'user';
}

export interface ContainerPlaces {
  readonly home: string;
  readonly mnt: string;
}

const PREFIX = 'cfile_';
const UPLOADS = '/mnt/uploads/';
const NAME_BYTES_MAX = 255;
const ONLY_OWNER = 0o700;

/** By path: what was uploaded comes first. */
export async function listFiles({ home, mnt }: ContainerPlaces): Promise<readonly ContainerFile[]> {
  const [made, uploaded] = await Promise.all([listHomeFiles(home), listHomeFiles(join(mnt, 'uploads'))]);
  return [
    ...uploaded.map((file) => describe(`${UPLOADS}${file.path}`, file.bytes, file.modifiedAtMs)),
    ...made.map((file) => describe(file.path, file.bytes, file.modifiedAtMs)),
  ];
}

/** @throws GatewayError 404 */
export async function openFile(
  { home, mnt }: ContainerPlaces,
  id: string,
): Promise<{ readonly file: ContainerFile; readonly content: Readable }> {
  const path = pathOf(id);
  const isUpload = path?.startsWith(UPLOADS) === true;
  const handle =
    path === undefined
      ? undefined
      : await (isUpload ? openHomeFile(join(mnt, 'uploads'), path.slice(UPLOADS.length)) : openHomeFile(home, path));
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
): Promise<ContainerFile> {
  if (/^\.{0,2}$|[/\0]/.test(name) || Buffer.byteLength(name) > NAME_BYTES_MAX)
    throw invalid('file', `must have a name of 1 to ${NAME_BYTES_MAX} bytes, without a path`);
  const uploads = join(places.mnt, 'uploads');
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
  return describe(`${UPLOADS}${name}`, bytes, Date.now());
}

function describe(path: string, bytes: number, createdAtMs: number): ContainerFile {
  const source = path.startsWith(UPLOADS) ? 'user' : 'assistant';
  return { id: PREFIX + Buffer.from(path).toString('base64url'), path, bytes, createdAtMs, source };
}

/** `undefined`: no file has this id. */
function pathOf(id: string): string | undefined {
  if (!id.startsWith(PREFIX)) return undefined;
  const path = Buffer.from(id.slice(PREFIX.length), 'base64url').toString('utf8');
  return PREFIX + Buffer.from(path).toString('base64url') === id ? path : undefined;
}
