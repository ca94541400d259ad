import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { etagOf } from '../etag.ts';

type Coding = 'identity' | 'gzip' | 'br';

/** A file of the built dashboard, in each coding in which the build wrote it. */
export interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly bytes: ReadonlyMap<Coding, Buffer>;
}

/** The built dashboard: in memory, some 2 MB. */
export interface Assets {
  /** The page of every address. Absent: it was not built. */
  readonly shell: Asset | undefined;
  /** By their names below `assets/`. */
  readonly files: ReadonlyMap<string, Asset>;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  woff2: 'font/woff2',
  json: 'application/json; charset=utf-8',
};
const NAME = /^[\w-]+(?:\.[\w-]+)*$/;
const CODINGS: readonly (readonly [Coding, string])[] = [
  ['identity', ''],
  ['gzip', '.gz'],
  ['br', '.br'],
];
const SHELL = 'index.html';
const STAMP = 'build.json';
const FILES_MAX = 1_000;
const BYTES_MAX = 33_554_432;

/** Reads the built dashboard once, and again after a build. */
export interface AssetReader {
  read(): Promise<Assets>;
}

const NOTHING: Assets = { shell: undefined, files: new Map() };

/** @param folder `dashboard/dist` */
export function createAssetReader(folder: string): AssetReader {
  let stamp: string | undefined;
  let reading: Promise<Assets> = Promise.resolve(NOTHING);
  return {
    async read() {
      const found = await stampOf(folder);
      if (found !== stamp) {
        stamp = found;
        reading = found === undefined ? Promise.resolve(NOTHING) : readAll(folder);
        // A build may take the folder away at this very moment: the next request reads it again.
        reading.catch(() => (stamp = undefined));
      }
      return reading.catch(() => NOTHING);
    },
  };
}

/** Says which build it is; `undefined`: none. */
async function stampOf(folder: string): Promise<string | undefined> {
  try {
    const { mtimeMs, ino, size } = await stat(join(folder, STAMP));
    return `${mtimeMs} ${ino} ${size}`;
  } catch {
    return undefined;
  }
}

async function readAll(folder: string): Promise<Assets> {
  const below = join(folder, 'assets');
  const names = (await readdir(below)).filter((name) => NAME.test(name) && !/\.(?:gz|br)$/.test(name));
  const files = new Map<string, Asset>();
  let bytes = 0;
  for (const name of names.slice(0, FILES_MAX)) {
    const asset = await readAsset(below, name);
    for (const each of asset.bytes.values()) bytes += each.length;
    if (bytes > BYTES_MAX) break;
    files.set(name, asset);
  }
  return { shell: await readAsset(folder, SHELL), files };
}

async function readAsset(folder: string, name: string): Promise<Asset> {
  const codings = new Map<Coding, Buffer>();
  for (const [coding, ending] of CODINGS) {
    const read = readFile(join(folder, name + ending));
    const content = coding === 'identity' ? await read : await read.catch(() => undefined);
    if (content !== undefined) codings.set(coding, content);
  }
  const ending = name.slice(name.lastIndexOf('.') + 1);
  const type = (Object.hasOwn(TYPES, ending) ? TYPES[ending] : undefined) ?? 'application/octet-stream';
  return { type, etag: etagOf((codings.get('identity') ?? Buffer.alloc(0)).toString('latin1')), bytes: codings };
}

/** The best coding that the client takes. @source RFC 9110, 12.5.3 */
export function codingFor({ bytes }: Asset, accepted: string | undefined): Coding {
  const taken = new Set(
    (accepted ?? '')
      .split(',')
      .filter((each) => !/;\s*q=0(?:\.0*)?\s*$/.test(each))
      .map((each) => each.split(';', 1)[0]?.trim().toLowerCase()),
  );
  return (['br', 'gzip'] as const).find((coding) => taken.has(coding) && bytes.has(coding)) ?? 'identity';
}
