import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { makeFolder } from '../cli/spawn-cli.ts';

/** Both ends of one connection. */
export interface SocketPair {
  readonly near: Socket;
  readonly far: Socket;
}

/** Connects two sockets as a gateway connects a worker. */
export async function connectPair(t: Pick<TestContext, 'after'>): Promise<SocketPair> {
  const path = join(makeFolder(t), 'pair.sock');
  const server = createServer().listen(path);
  await once(server, 'listening');
  const near = connect(path);
  const connected = once(near, 'connect');
  const [far] = (await once(server, 'connection')) as [Socket];
  await connected;
  server.close();
  t.after(() => {
    near.destroy();
    far.destroy();
  });
  return { near, far };
}
