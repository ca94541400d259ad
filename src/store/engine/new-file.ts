import { open, rename, rm } from 'node:fs/promises';

/**
 * Makes a file that is complete and on the disk, or none. Only its owner may read it, from its first byte on.
 * @param write fills an empty file
 * @throws Error when the file exists already, and what `write` throws
 */
export async function makeFile(file: string, write: (partial: string) => Promise<void>): Promise<void> {
  await makeEmpty(file);
  const partial = `${file}.partial`;
  try {
    await rm(partial, { force: true });
    await makeEmpty(partial);
    await write(partial);
    await sync(partial);
    await rename(partial, file);
  } catch (error) {
    await Promise.all([rm(file, { force: true }), rm(partial, { force: true })]);
    throw error;
  }
}

async function makeEmpty(file: string): Promise<void> {
  try {
    await (await open(file, 'wx', 0o600)).close();
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw isThere ? new Error(`There is a file ${file} already.`, { cause: error }) : error;
  }
}

async function sync(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
