import type { Server } from 'node:net';

/** Listens on a free port of loopback and prints the line that run.ts waits for, the same that the gateway prints. */
export function listenAndAnnounce(server: Server): void {
  server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
    console.log(`listening on http://127.0.0.1:${address.port}`);
  });
}
