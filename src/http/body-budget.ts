import { GatewayError } from '../canonical/gateway-error.ts';

/** The memory that bodies of requests under way may take together. */
export interface BodyBudget {
  /** @param owner the key whose share counts */
  open(owner: string): BodyShare;
}

/** What one body takes of it. */
export interface BodyShare {
  /**
   * So many bytes of a body more, after inflation.
   * @param copies how often they are kept; absent: as often as the bytes of a body
   * @throws GatewayError 503 where there is no room
   */
  take(bytes: number, copies?: number): void;
  /** The body was never there, or nothing needs it any more. What is taken later counts nothing. */
  release(): void;
}

/** As it came, as text, parsed, and as it is sent on. */
const COPIES = 4;
/** What one key may take of the budget. */
const SHARE_OF_KEY = 1 / 2;
/** The rest is for keys that take less than `SMALL_BYTES`. */
const SHARE_OF_LARGE = 7 / 8;
const SMALL_BYTES = 1_048_576;
const RETRY_AFTER_MS = 2_000;

/** The largest body that fits into the share of a key. */
export function largestBody(bytesMax: number): number {
  return Math.floor((bytesMax * SHARE_OF_KEY) / COPIES);
}

export function createBodyBudget(bytesMax: number): BodyBudget {
  const owners = new Map<string, Owner>();
  let taken = 0;

  function hasRoom(owned: number): boolean {
    if (owned <= SMALL_BYTES) return taken <= bytesMax;
    return owned <= bytesMax * SHARE_OF_KEY && taken <= bytesMax * SHARE_OF_LARGE;
  }

  function ownerOf(id: string): Owner {
    const known = owners.get(id);
    if (known !== undefined) return known;
    if (owners.size >= OWNERS_KEPT) dropIdle(owners);
    const owner: Owner = { shares: 0, bytes: 0 };
    owners.set(id, owner);
    return owner;
  }

  function add(owner: Owner, bytes: number): number {
    taken += bytes;
    owner.bytes += bytes;
    return owner.bytes;
  }

  return {
    open(id) {
      const owner = ownerOf(id);
      owner.shares++;
      let held = 0;
      let isOver = false;
      return {
        take(bytes, copies = COPIES) {
          if (isOver) return;
          const more = bytes * copies;
          held += more;
          if (!hasRoom(add(owner, more))) throw noRoom();
        },
        release() {
          if (isOver) return;
          isOver = true;
          owner.shares--;
          if (held > 0) add(owner, -held);
          held = 0;
        },
      };
    },
  };
}

/**
 * Owners without a request stay known up to this number: a table that loses its only entry with each request is made anew
 * with each, in V8's old generation (see Slots).
 */
const OWNERS_KEPT = 1_024;

interface Owner {
  /** Of requests under way. */
  shares: number;
  bytes: number;
}

function dropIdle(owners: Map<string, Owner>): void {
  for (const [id, { shares }] of owners) if (shares === 0) owners.delete(id);
}

function noRoom(): GatewayError {
  return new GatewayError(
    'provider_overloaded',
    'The gateway has no memory left for this request body: too many large requests are under way. Send it again later.',
    { status: 503, retryAfterMs: RETRY_AFTER_MS },
  );
}
