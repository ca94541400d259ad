import { statfs } from 'node:fs/promises';

/**
 * What a response waits for before it ends: that its record survives the end of the process, the loss of power, or the loss
 * of the folder.
 */
export type Durability = 'process' | 'power' | 'database';

/** File systems that end with a container or with the machine. @source linux/magic.h */
const PASSING_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x0102_1994, 'tmpfs'],
  [0x8584_58f6, 'ramfs'],
  [0x794c_7630, 'overlay'],
]);

/** The name of the file system of a folder, where what is written to it may not outlive the container. */
export async function passingFileSystemOf(folder: string): Promise<string | undefined> {
  const { type } = await statfs(folder);
  return PASSING_FILE_SYSTEMS.get(type);
}
