import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

export interface TunnelProxy {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Requests for a tunnel, the first one first. */
  readonly requested: IncomingMessage[];
  close(): Promise<void>;
}

/**
 * A proxy whose tunnels all lead to one port of this machine, whatever host is named.
 * @param answer what is sent in place of a tunnel; empty: nothing, ever; `undefined`: a tunnel
 */
export async function startTunnelProxy(
  port: () => number,
  answer: (request: IncomingMessage) => string | undefined = () => undefined,
): Promise<TunnelProxy> {
  const requested: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((_request, response) => response.writeHead(500).end('no tunnel was requested'));
  server.on('connection', (socket) => sockets.add(socket));
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    requested.push(request);
    const text = answer(request);
    if (text === '') return;
    if (text !== undefined) {
      socket.end(text);
      return;
    }
    const onward = connect(port(), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    sockets.add(onward);
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requested,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
