import type { Clock } from '../../lib/clock.ts';
import type {
  ChainBounds,
  KeptResponse,
  ResponseLink,
  ResponseListing,
  ResponseOwner,
  ResponseReader,
  ResponseRow,
  ResponseRows,
} from '../contract.ts';
import {
  compareListed,
  isListed,
  ITEM_BYTES,
  ownerText,
  parseOwner,
  ROW_BYTES,
  ROW_PARTS_MIN,
  type ResponseRoom,
} from '../response-owners.ts';

export interface MemoryRowsDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly room: ResponseRoom;
}

/** Keeps the responses of this process, or of a gateway whose first process this is. */
export function createMemoryResponses(deps: MemoryRowsDeps): ResponseRows {
  return new MemoryResponses(deps);
}

/** A row with its texts as bytes, outside of the heap. */
interface Kept {
  readonly row: Omit<ResponseRow, 'items' | 'object'>;
  readonly items: Buffer;
  readonly object: Buffer;
  readonly owner: string;
  readonly bytes: number;
  untilMs: number;
}

/** The rows of one owner, the oldest first. */
interface Owned {
  readonly ids: Set<string>;
  bytes: number;
}

class MemoryResponses implements ResponseRows {
  readonly #deps: MemoryRowsDeps;
  /** The row that was used longest ago is the first. */
  readonly #rows = new Map<string, Kept>();
  readonly #owned = new Map<string, Owned>();
  /** Of each item the rows that have it, the newest last. */
  readonly #byItem = new Map<string, Set<string>>();
  #bytes = 0;

  constructor(deps: MemoryRowsDeps) {
    this.#deps = deps;
  }

  async put({ items, object, ...row }: ResponseRow): Promise<boolean> {
    const { bytesMax, lifeMs } = this.#deps.room;
    const texts = { items: Buffer.from(items), object: Buffer.from(object) };
    const bytes = texts.items.length + texts.object.length + ROW_BYTES + row.itemIds.length * ITEM_BYTES;
    this.#drop(row.id);
    this.#dropExpired();
    if (bytes > bytesMax / ROW_PARTS_MIN) return false;
    while (this.#bytes + bytes > bytesMax) this.#dropOfLargest();
    const owner = ownerText(row.owner);
    this.#rows.set(row.id, { row, ...texts, owner, bytes, untilMs: this.#deps.clock.monotonicMs() + lifeMs });
    this.#bytes += bytes;
    const owned = this.#owned.get(owner) ?? { ids: new Set(), bytes: 0 };
    owned.ids.add(row.id);
    owned.bytes += bytes;
    this.#owned.set(owner, owned);
    for (const itemId of row.itemIds) {
      const holders = this.#byItem.get(itemId) ?? new Set();
      this.#byItem.set(itemId, holders.add(row.id));
    }
    return true;
  }

  async find(id: string, reader: ResponseReader): Promise<ResponseRow | undefined> {
    const kept = this.#use(id, reader);
    return kept && { ...kept.row, items: kept.items.toString(), object: kept.object.toString() };
  }

  async findChain(
    id: string,
    reader: ResponseReader,
    { linksMax, charsMax }: ChainBounds,
  ): Promise<readonly ResponseLink[]> {
    const links: ResponseLink[] = [];
    let chars = 0;
    for (let next: string | null = id; next !== null && links.length <= linksMax && chars <= charsMax;) {
      const kept = this.#use(next, reader);
      if (kept === undefined) break;
      const link = linkOf(kept);
      links.push(link);
      chars += link.items.length;
      next = link.parentId;
    }
    return links;
  }

  async findByItems(
    itemIds: readonly string[],
    reader: ResponseReader,
    charsMax: number,
  ): Promise<readonly ResponseLink[]> {
    const links = new Map<string, ResponseLink>();
    let chars = 0;
    for (const itemId of itemIds) {
      const newest = [...(this.#byItem.get(itemId) ?? [])].findLast((id) => this.#use(id, reader) !== undefined);
      const kept = newest === undefined || links.has(newest) ? undefined : this.#rows.get(newest);
      if (kept === undefined) continue;
      links.set(kept.row.id, linkOf(kept));
      chars += kept.items.length;
      if (chars > charsMax) break;
    }
    return [...links.values()];
  }

  async delete(id: string, reader: ResponseReader): Promise<boolean> {
    if (this.#use(id, reader) === undefined) return false;
    this.#drop(id);
    return true;
  }

  async list(listing: ResponseListing): Promise<readonly KeptResponse[]> {
    this.#dropExpired();
    const { after, limit } = listing;
    const ids = [...this.#owned].flatMap(([owner, owned]) =>
      isListed(listing, parseOwner(owner)) ? [...owned.ids] : [],
    );
    return ids
      .flatMap((id) => this.#rows.get(id)?.row ?? [])
      .filter((row) => after === undefined || compareListed(after, row) < 0)
      .toSorted(compareListed)
      .slice(0, limit)
      .map(({ id, owner, status, parentId, createdAtMs }) => {
        const bytes = this.#rows.get(id)?.bytes ?? 0;
        return { id, owner, status, parentId, createdAtMs, bytes, expiresAtMs: null, runs: null };
      });
  }

  async owners(): Promise<readonly ResponseOwner[]> {
    this.#dropExpired();
    return [...this.#owned.keys()].map(parseOwner);
  }

  async deleteOf(owner: ResponseOwner): Promise<void> {
    for (const id of this.#owned.get(ownerText(owner))?.ids ?? []) this.#drop(id);
  }

  /** The row, if the reader may see it, whose life begins anew. */
  #use(id: string, reader: ResponseReader): Kept | undefined {
    const kept = this.#rows.get(id);
    const nowMs = this.#deps.clock.monotonicMs();
    if (kept === undefined || kept.untilMs <= nowMs || !kept.owner.startsWith(ownerText(reader))) return undefined;
    kept.untilMs = nowMs + this.#deps.room.lifeMs;
    this.#rows.delete(id);
    this.#rows.set(id, kept);
    return kept;
  }

  #dropExpired(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const [id, { untilMs }] of this.#rows) {
      if (untilMs > nowMs) return;
      this.#drop(id);
    }
  }

  /** Of the owner that holds most, the oldest row: one that keeps much must not cost the others theirs. */
  #dropOfLargest(): void {
    let largest: Owned | undefined;
    for (const owned of this.#owned.values()) if (owned.bytes > (largest?.bytes ?? -1)) largest = owned;
    const [oldest] = largest?.ids ?? [];
    if (oldest !== undefined) this.#drop(oldest);
  }

  #drop(id: string): void {
    const kept = this.#rows.get(id);
    if (kept === undefined) return;
    this.#rows.delete(id);
    this.#bytes -= kept.bytes;
    const owned = this.#owned.get(kept.owner);
    if (owned !== undefined) {
      owned.ids.delete(id);
      owned.bytes -= kept.bytes;
      if (owned.ids.size === 0) this.#owned.delete(kept.owner);
    }
    for (const itemId of kept.row.itemIds) {
      const holders = this.#byItem.get(itemId);
      holders?.delete(id);
      if (holders?.size === 0) this.#byItem.delete(itemId);
    }
  }
}

function linkOf({ row: { id, owner, status, parentId, createdAtMs }, items }: Kept): ResponseLink {
  return { id, owner, status, parentId, createdAtMs, items: items.toString() };
}
