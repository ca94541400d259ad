import type { AddressInfo } from 'node:net';
import type { Config } from '../../config/config.ts';
import type { Database } from '../../store/engine/database.ts';
import type { StateProcedures, WorkerStateProcedures } from '../../state/local/procedures.ts';
import type { ProcessFigures } from '../../telemetry/process-figures.ts';
import type { StoreProcedures } from '../../store/remote/serve-store.ts';

/** What a worker is started with. */
export interface WorkerStart {
  /** From 1. */
  readonly worker: number;
  /** With its share of the memory, and the port that all workers listen on. */
  readonly config: Config;
  readonly engine: Database['engine'];
  readonly linkPath: string;
  readonly httpPath: string;
  readonly findsLocalServers: boolean;
}

/** From the first process to a worker, over the channel between a process and its child. */
export type ToWorker =
  | { readonly kind: 'start'; readonly start: WorkerStart }
  | { readonly kind: 'reload'; readonly config: Config }
  | { readonly kind: 'close'; readonly farewellMs: number };

/** From a worker to the first process, in the same way. */
export type FromWorker =
  | { readonly kind: 'listening'; readonly address: AddressInfo }
  | { readonly kind: 'failed'; readonly message: string; readonly code: string | undefined };

/** What the first process offers its workers. Without Redis that includes the shared state. */
export type FirstProcedures = StoreProcedures &
  StateProcedures & {
    /** The first call of a worker: which one it is, and the name of its journal. */
    readonly hello: (worker: { readonly worker: number; readonly stream: string }) => void;
  };

/** What a worker offers the first process. */
export type WorkerProcedures = WorkerStateProcedures & {
  /** Prometheus text. */
  readonly metrics: () => Promise<string>;
  readonly figures: () => Promise<ProcessFigures>;
  /** What does not work that requests can do without, or why it cannot serve them all. */
  readonly ready: () => Promise<{ readonly degraded: readonly string[] } | { readonly problem: string }>;
};
