import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { systemClock, type Clock } from '../../../src/lib/clock.ts';
import { openMessageLink } from '../../../src/lib/net/message-link.ts';
import type { SharedState } from '../../../src/state/contract.ts';
import type { StateProcedures, WorkerStateProcedures } from '../../../src/state/local/procedures.ts';
import { serveLocalState, type LocalStateServer } from '../../../src/state/local/serve-state.ts';
import { createWorkerState } from '../../../src/state/local/worker-state.ts';
import { createMemoryState } from '../../../src/state/memory/state.ts';
import type { ResponseRoom } from '../../../src/state/response-owners.ts';
import { connectPair, type SocketPair } from './socket-pair.ts';

export interface LocalStateOptions {
  readonly clock?: Clock;
  readonly textBytesMax?: number;
  readonly responseRoom?: ResponseRoom;
  readonly reservations?: SharedState['reservations'];
  /** Runs when a worker is gone, before what it held is free. */
  readonly adopted?: () => Promise<void>;
}

export interface OpenLocalState {
  readonly server: LocalStateServer;
  /** The states of the workers, each over a socket of its own. */
  readonly workers: readonly SharedState[];
  /** Cuts the socket of a worker, as its end would. */
  readonly cut: (worker: number) => Promise<void>;
}

/** A first process with so many workers, all of them in this process and connected by a socket as in a gateway. */
export async function openLocalState(
  t: Pick<TestContext, 'after'>,
  count: number,
  {
    clock = systemClock,
    textBytesMax = 0,
    responseRoom,
    reservations,
    adopted = () => Promise.resolve(),
  }: LocalStateOptions = {},
): Promise<OpenLocalState> {
  const memory = createMemoryState({ clock, textBytesMax, ...(responseRoom !== undefined && { responseRoom }) });
  const server = serveLocalState({ clock, memory: reservations === undefined ? memory : { ...memory, reservations } });
  const sockets: SocketPair[] = [];
  const workers: SharedState[] = [];
  for (let index = 0; index < count; index++) {
    const pair = await connectPair(t);
    openMessageLink<WorkerStateProcedures>(pair.far, (link) => server.serve(link, adopted));
    const worker = createWorkerState();
    sockets.push(pair);
    workers.push(worker.over(openMessageLink<StateProcedures>(pair.near, () => worker.procedures)));
  }
  return {
    server,
    workers,
    cut: async (worker) => {
      const pair = sockets[worker];
      assert.ok(pair !== undefined);
      const gone = new Promise((resolve) => pair.far.once('close', resolve));
      pair.near.destroy();
      await gone;
    },
  };
}
