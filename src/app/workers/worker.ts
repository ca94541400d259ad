import { once } from 'node:events';
import { connect, isIPv6, type AddressInfo } from 'node:net';
import type { Config } from '../../config/config.ts';
import { createForwarder } from '../../http/forward.ts';
import { openMessageLink } from '../../lib/net/message-link.ts';
import { createWorkerState } from '../../state/local/worker-state.ts';
import { createRemoteDatabase } from '../../store/remote/remote-database.ts';
import { createRemoteGenerations } from '../../store/remote/remote-generations.ts';
import { createLog } from '../../telemetry/logs.ts';
import { serializeErrorIn } from '../client-formats.ts';
import { openFoundation } from '../foundation.ts';
import { createParts, openServer } from '../parts.ts';
import { openSharedState } from '../shared-state.ts';
import type { OpenStorage, Storage } from '../storage.ts';
import type { FirstProcedures, WorkerStart } from './messages.ts';

/** A process that serves generations, and forwards everything else to the first process. */
export interface Worker {
  /** @throws NodeJS.ErrnoException when the address cannot be listened on */
  listen(): Promise<AddressInfo>;
  reload(next: Config): void;
  close(farewellMs: number): Promise<void>;
}

/** @param onOrphaned runs when the first process is gone */
export async function createWorker(
  start: WorkerStart,
  env: Readonly<Record<string, string | undefined>>,
  onOrphaned: () => void,
): Promise<Worker> {
  const { worker, config, httpPath, findsLocalServers } = start;
  const log = createLog(config.logLevel, config.logFormat, worker);
  const options = { config, env, log, findsLocalServers };
  const foundation = await openFoundation(options, (deps) => openWorkerStorage(start, deps, onOrphaned));
  const { shared } = foundation;
  const parts = await createParts(options, foundation, { keepsStore: false });
  const { localServers, refresher, observability } = parts;
  const forwarder = createForwarder({
    path: httpPath,
    serializeError: serializeErrorIn(parts.formats, shared.baseUrl),
    onFailed: (error) => log.general.error({ err: error }, 'the first process did not answer a request'),
  });
  const server = openServer(options, foundation, parts, { reusePort: true, mount: () => forwarder });
  return {
    async listen() {
      const address = await server.listen();
      foundation.listensAt(
        `http://${isIPv6(address.address) ? `[${address.address}]` : address.address}:${address.port}`,
      );
      if (findsLocalServers) localServers.start();
      refresher?.start();
      observability.start();
      return address;
    },
    reload: (next) => parts.reload(next),
    async close(farewellMs) {
      localServers.stop();
      refresher?.stop();
      await server.close({ farewellMs, drainMs: config.server.drainMs });
      forwarder.close();
      await observability.close();
      await foundation.close();
    },
  };
}

/** What the first process keeps, over the link to it. With Redis each worker shares the state by itself. */
async function openWorkerStorage(
  { worker, engine, linkPath }: WorkerStart,
  deps: Parameters<OpenStorage<Storage>>[0],
  onOrphaned: () => void,
): Promise<Storage> {
  const { config, log, metrics } = deps;
  const socket = connect(linkPath);
  await once(socket, 'connect');
  const local = createWorkerState();
  const link = openMessageLink<FirstProcedures>(socket, () => ({
    ...local.procedures,
    metrics: () => metrics.text(),
  }));
  let isClosing = false;
  void link.closed.finally(() => {
    if (!isClosing) onOrphaned();
  });
  await link.call('hello', worker);
  const database = createRemoteDatabase(link, engine);
  const state = config.redisUrl === undefined ? local.over(link) : await openSharedState(deps);
  const { append } = createRemoteGenerations(link, (row, error) => {
    metrics.recordLost();
    // The last place where the row can be kept.
    log.general.error({ row, err: error }, 'generation record lost');
  });
  return {
    database,
    sums: database.sums,
    state,
    // The first process refuses sums that lack charges.
    generations: { append, isBehind: () => false },
    close() {
      isClosing = true;
      state.close();
      link.close();
      return Promise.resolve();
    },
  };
}
