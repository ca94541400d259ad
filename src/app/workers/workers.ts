import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { assert } from '../../lib/assert.ts';
import { withTimeout } from '../../lib/async/with-timeout.ts';
import type { Config } from '../../config/config.ts';
import { sharesPorts } from '../../config/count-workers.ts';
import type { ProcessDetails } from '../../http/management/operations/services.ts';
import { NotReadyError } from '../../http/operations.ts';
import { makeFolder } from '../../lib/files/make-folder.ts';
import { listenLocally, makeSocketPath, removeDeadSockets, socketAt } from '../../lib/net/local-socket.ts';
import { openMessageLink, type MessageLink } from '../../lib/net/message-link.ts';
import { serveStore } from '../../store/remote/serve-store.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { sumMetrics } from '../../telemetry/metrics/sum-metrics.ts';
import type { SharedDeps } from '../shared-deps.ts';
import type { OwnStorage } from '../storage.ts';
import type { FirstProcedures, WorkerProcedures } from './messages.ts';
import { superviseWorker, type SupervisedWorker } from './supervise-worker.ts';

/** The processes that serve generations. */
export interface Workers {
  /** The local socket on which the first process gets what is no generation. */
  readonly httpPath: string;
  /**
   * Starts all of them.
   * @returns the address on which they listen
   * @throws NodeJS.ErrnoException when it cannot be listened on
   */
  start(): Promise<AddressInfo>;
  reload(next: Config): void;
  /** What does not work in some of them that requests can do without. @throws NotReadyError when one cannot serve them all */
  ready(): Promise<readonly string[]>;
  /** The metrics of all processes together. */
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  /** How each of them does; null where one does not answer. */
  figures(): Promise<readonly ProcessDetails[]>;
  isClosing(): boolean;
  /** Lets each of them finish its requests within the drain limit, and ends it. */
  close(farewellMs: number): Promise<void>;
}

export type WorkersDeps = Pick<SharedDeps, 'config' | 'log' | 'metrics' | 'env'> &
  Pick<OwnStorage, 'database' | 'journal' | 'localState'> & {
    readonly findsLocalServers: boolean;
  };

/** A worker whose metrics take longer than this is left out. */
const METRICS_MS_MAX = 2_000;
/** Less than a balancer waits, and longer than each part of a worker's own check. */
const READY_MS_MAX = 1_500;
const ENDINGS = ['link', 'http'];

export async function openWorkers(deps: WorkersDeps): Promise<Workers> {
  const { config, metrics } = deps;
  const { host, port, workers: count } = config.server;
  if (!sharesPorts())
    throw new Error('On this system processes cannot share a port: start the gateway with --workers 1.');
  await makeFolder(config.dataDir);
  await removeDeadSockets(config.dataDir);
  const path = await makeSocketPath(config.dataDir, ENDINGS);
  const [linkPath, httpPath] = [socketAt(path, 'link'), socketAt(path, 'http')];
  const links = new Map<number, MessageLink<WorkerProcedures>>();
  const listener = listenForLinks(deps, links);
  const supervised: SupervisedWorker[] = [];
  let isClosing = false;

  return {
    httpPath,
    async start() {
      const address = await findAddress(host, port);
      await listenLocally(listener, linkPath);
      const started = { ...config, server: { ...config.server, port: address.port } };
      for (let worker = 1; worker <= count; worker++)
        supervised.push(
          superviseWorker({ ...deps, config: started, worker, linkPath, httpPath, engine: deps.database.engine }),
        );
      await Promise.all(supervised.map((each) => each.listening));
      return address;
    },
    reload(next) {
      for (const worker of supervised) worker.reload(next);
    },
    async ready() {
      const found = await Promise.all(
        supervised.map((each, at) => readinessOf(at + 1, each.isUp() ? links.get(at + 1) : undefined)),
      );
      return [...new Set(found.flat())];
    },
    metrics: {
      contentType: metrics.contentType,
      async text() {
        const texts = [...links].map(async ([worker, link]) => ({
          worker: String(worker),
          text: await withTimeout(link.call('metrics', undefined), METRICS_MS_MAX).catch(() => ''),
        }));
        return sumMetrics([{ worker: 'first', text: await metrics.text() }, ...(await Promise.all(texts))]);
      },
    },
    figures: () => Promise.all(supervised.map((_each, at) => detailsOf(at + 1, links.get(at + 1)))),
    isClosing: () => isClosing,
    async close(farewellMs) {
      isClosing = true;
      await Promise.all(supervised.map((worker) => worker.close(farewellMs)));
      const closed = listener.listening ? once(listener, 'close') : undefined;
      listener.close();
      for (const link of links.values()) link.close();
      await closed;
      await Promise.all([linkPath, httpPath].map((each) => rm(each, { force: true })));
    },
  };
}

async function detailsOf(worker: number, link: MessageLink<WorkerProcedures> | undefined): Promise<ProcessDetails> {
  const figures =
    link === undefined ? null : await withTimeout(link.call('figures', undefined), METRICS_MS_MAX).catch(() => null);
  return { name: `worker ${worker}`, figures };
}

async function readinessOf(
  worker: number,
  link: MessageLink<WorkerProcedures> | undefined,
): Promise<readonly string[]> {
  if (link === undefined) return [`worker ${worker} is being restarted`];
  const answer = await withTimeout(link.call('ready', undefined), READY_MS_MAX).catch(() => undefined);
  if (answer === undefined) return [`worker ${worker} does not answer`];
  if ('problem' in answer) throw new NotReadyError(answer.problem);
  return answer.degraded;
}

function listenForLinks(
  { database, journal, localState }: WorkersDeps,
  links: Map<number, MessageLink<WorkerProcedures>>,
): Server {
  return createServer((socket: Socket) => {
    let stream: string | undefined;
    /** What a worker that is gone has charged counts before anything that it held is free. */
    const adopted = async (): Promise<void> => {
      if (stream !== undefined) await journal.adopt(stream);
    };
    openMessageLink<WorkerProcedures>(
      socket,
      (link) =>
        ({
          ...serveStore(database),
          ...localState?.serve(link, adopted),
          hello({ worker, stream: name }) {
            stream = name;
            links.set(worker, link);
            void link.closed.finally(() => {
              if (links.get(worker) === link) links.delete(worker);
            });
          },
        }) satisfies Partial<FirstProcedures>,
    );
  });
}

/** Finds out whether the address is free: workers share it, and would not notice another process of this user that does too. */
async function findAddress(host: string, port: number): Promise<AddressInfo> {
  const probe = createServer();
  const listening = once(probe, 'listening');
  probe.listen({ host, port });
  await listening;
  const address = probe.address();
  assert(typeof address === 'object' && address !== null, 'a TCP server has an address and a port');
  const closed = once(probe, 'close');
  probe.close();
  await closed;
  return address;
}
