/** A bound on what one subject may spend, as far as one hold is concerned. Nano-USD, integers up to 2^53. */
export interface Allowance {
  /** `key:HASH:daily:START`: an owner (its first two parts), and which of its sums. A new window is a new subject. */
  readonly subject: string;
  readonly limitNanoUsd: number;
  /** What to hold at best. The lesser of it and of what is left is held. */
  readonly wantNanoUsd: number;
  /** Less than this will not do. */
  readonly minNanoUsd: number;
  /** Leaves something to others: no more than a quarter of what is left is held. Absent: as much as is wanted. */
  readonly share?: Share;
}

export interface Share {
  /** So much is held even where it is more than a quarter. */
  readonly leastNanoUsd: number;
  /** The part of it that is used already: a quarter of what is left beyond it is held beside it. */
  readonly spentNanoUsd: number;
}

export interface ReservationRequest {
  /** One hold has one id. A second request with the id of an open hold gets that hold. */
  readonly id: string;
  readonly expiresInMs: number;
  /** Of several for one subject the strictest counts. */
  readonly allowances: readonly Allowance[];
  /**
   * Ids of holds that this one takes the place of, in the same step: what they hold of its subjects is free for it. Where
   * too little is left they stay. What they hold of other subjects is for `release` to free. Absent: none.
   */
  readonly instead?: readonly string[];
  /** Taken of the rate limits in the same step once the hold is made. Absent: rate limits are not asked. */
  readonly permit?: PermitRequest;
}

export type ReservationResult =
  | {
      readonly ok: true;
      readonly reservedNanoUsd: ReadonlyMap<string, number>;
      /** The answer of the rate limits, also a refusal: the hold is made either way. Absent: they were not asked. */
      readonly permitted?: PermitResult;
    }
  | {
      readonly ok: false;
      /** The first, in the order of the allowances, with too little left. */
      readonly subject: string;
      /** Limit less what is spent and held; negative beyond the limit. */
      readonly leftNanoUsd: number;
      readonly reservedByOthersNanoUsd: number;
    };

/** The state cannot reserve anything at the moment, through no fault of the request; the caller may try again. */
export class ReservationsBusy extends Error {
  override readonly name = 'ReservationsBusy';
}

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
export interface Reservations {
  /**
   * All or nothing, atomically over all allowances: spent + held + taken <= limit. Between their least and their most all
   * allowances take the same part: what the scarcest does not pay for is held of no other.
   * @throws ReservationsBusy when there are too many holds or sums change too fast, and what `loadSpent` throws
   */
  reserve(reservation: ReservationRequest, loadSpent: LoadSpent): Promise<ReservationResult>;
  /**
   * Whether that much is left of every limit if all that is held comes free; nothing is held for it.
   * @throws ReservationsBusy when sums change too fast, and what `loadSpent` throws
   */
  check(allowances: readonly Allowance[], loadSpent: LoadSpent): Promise<ReservationResult>;
  /** After the charges are durable: adds them to what is spent and frees the hold. A repetition changes nothing. */
  settle(id: string, charges: readonly Charge[]): Promise<void>;
  /** Frees the hold: nothing was used. */
  release(id: string): Promise<void>;
  /** What an owner (`key:HASH`) spent is read again: a limit was changed or credit granted elsewhere. */
  forget(owner: string): Promise<void>;
}

/** How much of something a subject may use in a time, and what is taken of it now. */
export interface Rate {
  /** `key:HASH`: whose it is. What one owner refuses is not even tried of the next. */
  readonly owner: string;
  /** `key:HASH:requests`: one count. The same subject always comes with the same period. */
  readonly subject: string;
  readonly limit: number;
  /** Whole seconds, in ms. A period begins with the first use after the last one is over. */
  readonly periodMs: number;
  /** At least 1. Who takes more than the limit gets it where nothing else was used. */
  readonly take: number;
}

/** Limits on what subjects may do at once. */
export interface SlotRequest {
  /** Who takes them: one id, one slot of each subject. */
  readonly id: string;
  /** Slots that nobody gives back end by themselves. */
  readonly expiresInMs: number;
  readonly subjects: readonly {
    /** `key:HASH`: whose slots they are. */
    readonly subject: string;
    readonly limit: number;
  }[];
}

/** What one request takes: all of it or nothing, and slots before rates. */
export interface PermitRequest {
  /** Absent: none. */
  readonly slots?: SlotRequest;
  readonly rates: readonly Rate[];
}

/** What was taken, as long as it may turn out to be more or less. */
export interface Permit {
  /**
   * Gives the slots back, and counts what was used in truth of each subject that is named. Only the first call counts.
   * Never rejects.
   */
  end(used?: ReadonlyMap<string, number>): Promise<void>;
}

export interface RateRefusal {
  readonly ok: false;
  readonly by: 'rates';
  /** The first, in the order of the rates, with too little left. */
  readonly subject: string;
  readonly limit: number;
  readonly remaining: number;
  /** Until the period is over and everything can be taken. */
  readonly retryAfterMs: number;
}

export type PermitResult =
  | { readonly ok: true; readonly permit: Permit }
  /** The first subject that has no slot free. */
  | { readonly ok: false; readonly by: 'slots'; readonly subject: string }
  | RateRefusal;

/** Limits on how fast subjects use something that can be counted, and on how much they do at once. */
export interface RateLimitState {
  /** Never rejects. */
  acquire(requested: PermitRequest): Promise<PermitResult>;
}

/** Messages between processes about records that changed. One may be lost: it only says early what is read again soon. */
export interface InvalidationBus {
  /** Sends to every other process, not to this one. */
  announce(topic: string, message: string): void;
  /** @param onGap messages may have been lost: whatever they are about is to be read again */
  subscribe(topic: string, listener: (message: string) => void, onGap?: () => void): void;
}

/** Small values that processes pass to each other, of which none is missed when it is lost. */
export interface SharedValues {
  /** `undefined` for none, and when the answer would not come soon. Never rejects. */
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, lifeMs: number): void;
}

/** Longer texts, kept while there is room and time. Whoever misses one makes it again. */
export interface TextCache {
  /** `undefined` for none, and when the answer would not come soon. Never rejects. */
  get(name: string): Promise<string | undefined>;
  /** Beyond the room for all texts the oldest make way. A text that is too long is not kept. */
  set(name: string, text: string, lifeMs: number): void;
  delete(name: string): void;
}

/** State that outlives a request and is no record: of one process, or of all that share a Redis. */
export interface SharedState {
  readonly reservations: Reservations;
  readonly rateLimitState: RateLimitState;
  readonly invalidations: InvalidationBus;
  /** `undefined`: there is nobody to pass them to. */
  readonly values: SharedValues | undefined;
  readonly texts: TextCache;
  /** @throws Error while other processes cannot be reached */
  ping(): Promise<void>;
  close(): void;
}
