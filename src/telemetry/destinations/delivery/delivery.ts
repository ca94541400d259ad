import type { Clock } from '../../../lib/clock.ts';
import type { ExportPosition, ExportRows } from '../../../store/exports/export-rows.ts';
import type { GenerationRecord } from '../../record.ts';
import type { Destinations, LiveDestination } from '../destinations.ts';
import { encodeExportFacts } from '../exported.ts';
import { TICK_MS } from './batch-limits.ts';
import { Sender, type SenderDeps } from './sender.ts';

/** Sends records to the destinations of their workspaces. No request waits for it. */
export interface Delivery {
  /** Whether there are destinations at all: requests look at it, and at nothing else where there are none. */
  readonly isOn: boolean;
  /** What a record's row has no column for, as JSON; `undefined`: no destination may want the record. */
  factsOf(record: GenerationRecord): string | undefined;
  /** Reads the destinations again. @throws Error when they cannot be read */
  refresh(): Promise<void>;
  start(): void;
  /** Cuts off what takes longer than a moment: records wait in the database. */
  close(): Promise<void>;
}

export interface DeliveryDeps extends Omit<SenderDeps, 'rows'> {
  readonly destinations: Pick<Destinations, 'live'>;
  readonly rows: Pick<ExportRows, 'read' | 'end' | 'findNew' | 'mendPositions'>;
  /** Whether this process sends; one process of a gateway does. */
  readonly sends: boolean;
  readonly clock: Clock;
  readonly onFailed: (error: unknown) => void;
  /** Positions of another cluster of PostgreSQL were mended. */
  readonly onForeign: () => void;
}

const START: ExportPosition = { xid: 0, seq: 0 };
const CLOSE_MS_MAX = 2_000;
/** Destinations that are sent to at a time. */
const SENDERS_MAX = 16;

export function createDelivery(deps: DeliveryDeps): Delivery {
  return new DestinationDelivery(deps);
}

class DestinationDelivery implements Delivery {
  readonly #deps: DeliveryDeps;
  /** By destination and version of it: a change makes another. */
  #senders = new Map<string, Sender>();
  #live: readonly LiveDestination[] = [];
  #seen = START;
  #refreshed: Promise<void> = Promise.resolve();
  readonly #running = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | undefined;
  #isClosed = false;
  isOn = false;

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
  }

  factsOf(record: GenerationRecord): string | undefined {
    const { workspaceId, keyHash } = record.principal;
    for (const { row } of this.#live)
      if (row.workspaceId === workspaceId && (row.apiKeyHashes === null || row.apiKeyHashes.includes(keyHash)))
        return encodeExportFacts(record);
    return undefined;
  }

  refresh(): Promise<void> {
    // One after the other: an earlier reading that ends later must not bring back what is gone.
    const refresh = (): Promise<void> => this.#refresh();
    this.#refreshed = this.#refreshed.then(refresh, refresh);
    return this.#refreshed;
  }

  start(): void {
    if (!this.#deps.sends || this.#isClosed || this.#timer !== undefined) return;
    // Without destinations a tick is one comparison.
    this.#timer = setInterval(() => {
      if (this.#senders.size === 0 || this.#ticking !== undefined) return;
      this.#ticking = this.#tick()
        .catch(this.#deps.onFailed)
        .finally(() => (this.#ticking = undefined));
    }, TICK_MS).unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#ticking;
    await Promise.all([...this.#senders.values()].map((sender) => sender.close(CLOSE_MS_MAX)));
    await Promise.all(this.#running);
  }

  async #refresh(): Promise<void> {
    const live = await this.#deps.destinations.live();
    this.#live = live;
    this.isOn = live.length > 0;
    if (!this.#deps.sends || this.#isClosed) return;
    const next = new Map<string, Sender>();
    for (const one of live) {
      const name = `${one.row.id} ${one.row.updatedAtMs}`;
      next.set(name, this.#senders.get(name) ?? new Sender(this.#deps, one));
    }
    const gone = [...this.#senders].filter(([name]) => !next.has(name)).map(([, sender]) => sender);
    this.#senders = next;
    // A call that is under way ends; nothing more is sent as the destination was.
    for (const sender of gone) this.#track(sender.close(CLOSE_MS_MAX));
  }

  async #tick(): Promise<void> {
    if (await this.#deps.rows.mendPositions(this.#seen)) {
      this.#seen = START;
      this.#deps.onForeign();
    }
    const { workspaces, end } = await this.#deps.rows.findNew(this.#seen);
    this.#seen = end;
    if (this.#isClosed) return;
    for (const sender of this.#senders.values()) if (workspaces.has(sender.live.row.workspaceId)) sender.wake();
    for (const sender of this.#senders.values())
      if (sender.isDue && this.#running.size < SENDERS_MAX) this.#track(sender.run());
  }

  #track(work: Promise<void>): void {
    const tracked = work.catch(this.#deps.onFailed).finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }
}
