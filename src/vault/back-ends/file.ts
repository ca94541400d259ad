import { open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { ValueStoreError, type ValueStore } from './contract.ts';

const BYTES_MAX = 65_536;
/** As names of files of secrets are at Docker and Kubernetes, which keeps its own below `..data`. */
const FILE = /^(?!\.\.)[A-Za-z0-9._-]{1,253}$/;

/** Reads a file for each secret, as Docker and Kubernetes mount them, with each use: a file that is replaced counts soon. */
export function createFileStore(folder: string): ValueStore {
  return {
    kind: 'file',
    faultOf: (place) =>
      FILE.test(place) && place !== '.' ? undefined : 'must be the name of a file of vault.file.dir, without a path',
    async get(place) {
      try {
        // Kubernetes links each file to the version of now. A link to elsewhere is none of its files.
        const [root, path] = await Promise.all([realpath(folder), realpath(join(folder, place))]);
        if (!path.startsWith(`${root}${sep}`))
          throw new ValueStoreError('has a link there that leads out of its folder');
        return await readValue(path);
      } catch (error) {
        if (error instanceof ValueStoreError) throw error;
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw new ValueStoreError('cannot be read', { cause: error });
      }
    },
  };
}

/** Without the line end that editors add. */
async function readValue(path: string): Promise<string | undefined> {
  const file = await open(path, 'r');
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new ValueStoreError('has no file there');
    if (found.size > BYTES_MAX) throw new ValueStoreError(`has more than ${BYTES_MAX} bytes there`);
    const text = (await file.readFile('utf8')).replace(/\r?\n$/, '');
    return text === '' ? undefined : text;
  } finally {
    await file.close();
  }
}
