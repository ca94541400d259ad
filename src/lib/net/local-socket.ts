import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The address of a local socket has 108 bytes on Linux, 104 on other systems, with the zero at its end. */
const PATH_BYTES_MAX = 100;
const OTHERS = 0o177;
const PREFIX = 'workers-';
const SUFFIX = '.sock';

/**
 * Makes a path for the local sockets of one gateway: each is this path with an ending of a few letters. They lie in the
 * given folder, or in a folder of their own below the system's temporary one where its path is too long for a socket.
 * @param endings for which there must be room
 */
export async function makeSocketPath(folder: string, endings: readonly string[]): Promise<string> {
  const path = join(folder, PREFIX + randomBytes(4).toString('hex'));
  const longest = Math.max(...endings.map((ending) => Buffer.byteLength(`${path}-${ending}${SUFFIX}`)));
  // Only its owner can enter a folder that this makes.
  return longest <= PATH_BYTES_MAX ? path : join(await mkdtemp(join(tmpdir(), 'gateway-')), 'workers');
}

export function socketAt(path: string, ending: string): string {
  return `${path}-${ending}${SUFFIX}`;
}

/** Listens on a local socket, to which only processes of this user can connect. */
export async function listenLocally(server: Server, path: string, backlog?: number): Promise<void> {
  const listening = once(server, 'listening');
  // The socket gets its mode as it is made, in this turn of the event loop.
  const before = process.umask(OTHERS);
  try {
    server.listen({ path, ...(backlog !== undefined && { backlog }) });
  } finally {
    process.umask(before);
  }
  await listening;
}

/** Removes sockets that gateways left behind which were killed. One that a process listens on stays. */
export async function removeDeadSockets(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const sockets = names.filter((name) => name.startsWith(PREFIX) && name.endsWith(SUFFIX));
  await Promise.all(
    sockets.map(async (name) => {
      const path = join(folder, name);
      if (await isDead(path)) await rm(path, { force: true });
    }),
  );
}

function isDead(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
  });
}
