/** A file could not be written because the disk, or what may be used of it, is full. */
export class NoRoomError extends Error {}

/** The codes of a full disk, of a used-up quota, and of a limit on the size of files. */
const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** The error as it is, or as a NoRoomError where the system says that the disk is full. */
export function asNoRoom(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return NO_ROOM.has(code) ? new NoRoomError('There is no room on the disk.', { cause: error }) : error;
}
