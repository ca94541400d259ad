import { fdatasync, write, writeSync } from 'node:fs';

/** What a journal does with its files while requests run. A collaborator, so that tests have slow disks and full ones. */
export interface Disk {
  /** Returns the number of bytes that were written. @throws Error of the system */
  readonly writeNow: (fd: number, bytes: Buffer, position: number) => number;
  /** The same, in a thread. */
  readonly write: (fd: number, bytes: Buffer, position: number) => Promise<number>;
  /** Settles when what was written is on the disk. */
  readonly sync: (fd: number) => Promise<void>;
}

export const systemDisk: Disk = {
  writeNow: (fd, bytes, position) => writeSync(fd, bytes, 0, bytes.length, position),
  write: (fd, bytes, position) =>
    new Promise((resolve, reject) => {
      write(fd, bytes, 0, bytes.length, position, (error, written) => (error ? reject(error) : resolve(written)));
    }),
  sync: (fd) =>
    new Promise((resolve, reject) => {
      fdatasync(fd, (error) => (error ? reject(error) : resolve()));
    }),
};
