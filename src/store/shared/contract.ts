/** A bound on what one subject may spend, as far as one hold is concerned. Nano-USD, integers up to 2^53. */
export interface Allowance {
  /** `key:HASH:daily:START`: an owner (its first two parts), and which of its sums. A new window is a new subject. */
  readonly subject: string;
  readonly limitNanoUsd: number;
  /** What to hold at best. The lesser of it and of what is left is held. */
  readonly wantNanoUsd: number;
  /** Less than this will not do. */
  readonly minNanoUsd: number;
}

export interface HoldRequest {
  /** One hold has one id. A second request with the id of an open hold gets that hold. */
  readonly id: string;
  readonly expiresInMs: number;
  /** Of several for one subject the strictest counts. */
  readonly allowances: readonly Allowance[];
}

export type Reservation =
  | { readonly ok: true; readonly heldNanoUsd: ReadonlyMap<string, number> }
  | {
      readonly ok: false;
      /** The first, in the order of the allowances, with too little left. */
      readonly subject: string;
      /** Limit less what is spent and held; negative beyond the limit. */
      readonly leftNanoUsd: number;
      readonly heldByOthersNanoUsd: number;
    };

/** The durable sum of what a subject spent, nano-USD. */
export type LoadSpent = (subject: string) => Promise<number>;

export interface Charge {
  readonly subject: string;
  readonly nanoUsd: number;
}

/**
 * Money set aside for requests under way. What is spent is known from the durable sums, read when they are needed and kept
 * for a minute at most; what is held is known here only, and ends by itself. At no time does what is spent and held go
 * beyond a limit by a hold that is made here.
 */
export interface Holds {
  /**
   * All or nothing, atomically over all allowances: spent + held + taken <= limit.
   * @throws Error when there are too many holds, and what `loadSpent` throws
   */
  reserve(hold: HoldRequest, loadSpent: LoadSpent): Promise<Reservation>;
  /** After the charges are durable: adds them to what is spent and frees the hold. A repetition changes nothing. */
  settle(id: string, charges: readonly Charge[]): Promise<void>;
  /** Frees the hold: nothing was used. */
  release(id: string): Promise<void>;
  /** What an owner (`key:HASH`) spent is read again: a limit was changed or credit granted elsewhere. */
  forget(owner: string): Promise<void>;
}
