import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';

/** Stands between a client and a server, and fails as networks do. */
export interface TcpProxy {
  readonly port: number;
  /** Takes connections and bytes, and passes nothing on. */
  stall(): void;
  /** Passes on what stalled, and everything after. */
  resume(): void;
  /** Closes what is open and refuses what comes. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  /** Every piece comes so much later, in either direction. */
  delay(ms: number): void;
}

export async function startTcpProxy(
  t: Pick<TestContext, 'after'>,
  target: { readonly host: string; readonly port: number },
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let open = Promise.withResolvers<void>();
  open.resolve();
  const pipe = async (from: Socket, to: Socket): Promise<void> => {
    for await (const bytes of from) {
      if (delayMs > 0) await wait(delayMs);
      await open.promise;
      if (!to.write(bytes)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
    }
    to.end();
  };
  const server = createServer((client) => {
    const upstream = connect(target);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay();
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    pipe(client, upstream).catch(() => upstream.destroy());
    pipe(upstream, client).catch(() => client.destroy());
  });
  const listen = async (port: number): Promise<void> => {
    const listening = once(server, 'listening');
    server.listen(port, '127.0.0.1');
    await listening;
  };
  await listen(0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const cut = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  t.after(async () => {
    open.resolve();
    await cut();
  });
  return {
    port,
    stall: () => void (open = Promise.withResolvers<void>()),
    resume: () => open.resolve(),
    cut,
    restore: () => listen(port),
    delay: (ms) => void (delayMs = ms),
  };
}
