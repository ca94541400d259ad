import { once } from 'node:events';
import { connect, isIPv6, type AddressInfo } from 'node:net';
import type { Config } from '../../config/config.ts';
import { createForwarder } from '../../http/forward.ts';
import { NotReadyError } from '../../http/operations.ts';
import { openMessageLink } from '../../lib/net/message-link.ts';
import { createWorkerState } from '../../state/local/worker-state.ts';
import { createRemoteDatabase } from '../../store/remote/remote-database.ts';
import { createLog } from '../../telemetry/logs.ts';
import { createAppliedRecords } from '../applied-records.ts';
import { serializeErrorIn } from '../client-formats.ts';
import { openFoundation } from '../foundation.ts';
import { openGatewayJournal } from '../journal.ts';
import { createParts, openServer } from '../parts.ts';
import { openWatches } from '../notifications/open-watches.ts';
import { readFigures } from '../operations/process-figures.ts';
import { createReadiness } from '../operations/readiness.ts';
import { openSharedState } from '../shared-state.ts';
import type { OpenStorage, Storage } from '../storage.ts';
import type { FirstProcedures, WorkerProcedures, WorkerStart } from './messages.ts';

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
  let ready: () => Promise<readonly string[]> = () => Promise.resolve([]);
  const foundation = await openFoundation(options, (deps) =>
    openWorkerStorage(start, deps, { onOrphaned, ready: () => ready() }),
  );
  const { shared } = foundation;
  const parts = await createParts(options, foundation, { keepsStore: false, serves: true });
  ready = createReadiness({ ...foundation.storage, ...parts.spending });
  const { localServers, refresher, observability, notifications, classifierInput, responseArea, videoArea } = parts;
  const forwarder = createForwarder({
    path: httpPath,
    serializeError: serializeErrorIn(parts.formats, shared.baseUrl),
    onFailed: (error) => log.general.error({ err: error }, 'the first process did not answer a request'),
  });
  const watches = openWatches(foundation, parts, { keepsStore: false });
  const server = openServer(options, foundation, parts, {
    reusePort: true,
    console: () => (request, response) => Promise.resolve(forwarder.forward(request, response)),
    mount: () => forwarder,
  });
  return {
    async listen() {
      await foundation.storage.records.start();
      const address = await server.listen();
      foundation.listensAt(
        `http://${isIPv6(address.address) ? `[${address.address}]` : address.address}:${address.port}`,
      );
      if (findsLocalServers) localServers.start();
      refresher?.start();
      observability.start();
      classifierInput.start();
      notifications.start();
      watches.start();
      responseArea.start();
      return address;
    },
    reload: (next) => parts.reload(next),
    async close(farewellMs) {
      localServers.stop();
      refresher?.stop();
      const { drainMs } = config.server;
      await Promise.all([server.close({ farewellMs, drainMs }), responseArea.drain(drainMs)]);
      forwarder.close();
      await watches.stop();
      await notifications.close();
      await classifierInput.close();
      await foundation.storage.records.close();
      await observability.close();
      await responseArea.close();
      await videoArea.close();
      await foundation.close();
    },
  };
}

/** An error keeps its text alone on its way over a link. */
async function reportReadiness(ready: () => Promise<readonly string[]>): ReturnType<WorkerProcedures['ready']> {
  try {
    return { degraded: await ready() };
  } catch (error) {
    if (error instanceof NotReadyError) return { problem: error.message };
    throw error;
  }
}

/** What the first process keeps, over the link to it. With Redis each worker shares the state by itself. */
async function openWorkerStorage(
  { worker, engine, linkPath }: WorkerStart,
  deps: Parameters<OpenStorage<Storage>>[0],
  { onOrphaned, ready }: { readonly onOrphaned: () => void; readonly ready: () => Promise<readonly string[]> },
): Promise<Storage> {
  const { config, clock, metrics } = deps;
  const socket = connect(linkPath);
  await once(socket, 'connect');
  const local = createWorkerState();
  const link = openMessageLink<FirstProcedures>(socket, () => ({
    ...local.procedures,
    metrics: () => metrics.text(),
    // Called after the first call below, when the journal is open.
    figures: () => readFigures({ metrics, journal }),
    ready: () => reportReadiness(ready),
  }));
  let isClosing = false;
  void link.closed.finally(() => {
    if (!isClosing) onOrphaned();
  });
  const database = createRemoteDatabase(link, engine);
  const state = config.redisUrl === undefined ? local.over(link) : await openSharedState(deps);
  const { journal, store } = await openGatewayJournal({ ...deps, database });
  await link.call('hello', { worker, stream: journal.stream });
  return {
    database,
    state,
    journal,
    records: createAppliedRecords({ journal, store, state, clock }),
    close() {
      isClosing = true;
      state.close();
      link.close();
      return Promise.resolve();
    },
  };
}
