/** A limit on the spending of one subject, as one reservation sees it. Nano-USD, integers up to 2^53. */
export interface Allowance {
  /** `key:HASH:daily:START`: an owner (its first two parts), and which of its sums. A new window is a new subject. */
  readonly subject: string;
  readonly limitNanoUsd: number;
  /** The amount to reserve. Where less is left, that is reserved. */
  readonly wantNanoUsd: number;
  /** A reservation of less than this is refused. */
  readonly minNanoUsd: number;
  /** Leaves something to other requests: at most a quarter of the rest is reserved. Absent: as much as is wanted. */
  readonly share?: Share;
}

export interface Share {
  /** So much is reserved even where it is more than a quarter. */
  readonly leastNanoUsd: number;
  /** The part of it that is spent already: a quarter of the rest is reserved beside it. */
  readonly spentNanoUsd: number;
}

export interface ReservationRequest {
  /** One reservation has one id. A second request with the id of an open reservation gets that reservation. */
  readonly id: string;
  readonly expiresInMs: number;
  /** Of several allowances for one subject the strictest counts. */
  readonly allowances: readonly Allowance[];
  /**
   * Ids of reservations that this one replaces in the same step: their amounts of its subjects are free for it. Where
   * too little is left they stay. `release` frees their amounts of other subjects. Absent: none.
   */
  readonly instead?: readonly string[];
  /** Taken from the rate limits in the same step once the reservation is made. Absent: no rate limit is involved. */
  readonly permit?: PermitRequest;
}

export type ReservationResult =
  | {
      readonly ok: true;
      readonly reservedNanoUsd: ReadonlyMap<string, number>;
      /**
       * The result of the rate limits, also a refusal: the reservation is made either way. Absent: no rate limit was
       * involved.
       */
      readonly permitted?: PermitResult;
    }
  | {
      readonly ok: false;
      /** The first subject, in the order of the allowances, with too little left. */
      readonly subject: string;
      /** Limit minus spending and reservations; negative beyond the limit. */
      readonly leftNanoUsd: number;
      readonly reservedByOthersNanoUsd: number;
    };

/** The state cannot reserve anything at the moment, through no fault of the request; the caller may try again. */
export class ReservationsBusy extends Error {
  override readonly name = 'ReservationsBusy';
}

/** Reads the durable sum of a subject's spending, nano-USD. */
export type LoadSpent = (subject: string) => Promise<number>;

export interface Charge {
  readonly subject: string;
  readonly nanoUsd: number;
}

/**
 * Money that is reserved for running requests. Spending comes from the durable sums, which are read when they are
 * needed and used for a minute at most; reservations are known here only, and expire by themselves. No reservation that
 * is made here ever takes spending and reservations beyond a limit.
 */
export interface Reservations {
  /**
   * Reserves all or nothing, atomically over all allowances: spent + reserved + new <= limit. Between minimum and
   * maximum, all allowances reserve the same part: what the scarcest does not pay for is not reserved from the others.
   * @throws ReservationsBusy when there are too many reservations or sums change too fast, and what `loadSpent` throws
   */
  reserve(reservation: ReservationRequest, loadSpent: LoadSpent): Promise<ReservationResult>;
  /**
   * Checks whether so much is left of every limit if all reservations are released; reserves nothing.
   * @throws ReservationsBusy when sums change too fast, and what `loadSpent` throws
   */
  check(allowances: readonly Allowance[], loadSpent: LoadSpent): Promise<ReservationResult>;
  /**
   * Runs after the charges are durable: adds them to the spending and releases the reservation. A repeated call changes
   * nothing.
   */
  settle(id: string, charges: readonly Charge[]): Promise<void>;
  /** Releases a reservation of which nothing was used. */
  release(id: string): Promise<void>;
  /** Makes the sums of an owner (`key:HASH`) be read again: a limit was changed or credit granted elsewhere. */
  forget(owner: string): Promise<void>;
}

/** How much of something a subject may use in a period, and how much is taken now. */
export interface Rate {
  /** `key:HASH`: the owner of the limit. When one owner's limits refuse, the next owner's are not tried. */
  readonly owner: string;
  /** `key:HASH:requests`: one count. The same subject always has the same period. */
  readonly subject: string;
  readonly limit: number;
  /** Whole seconds, in ms. A period begins with the first use after the previous one has ended. */
  readonly periodMs: number;
  /** At least 1. More than the limit is granted where nothing else was used. */
  readonly take: number;
}

/** Limits on concurrent work of subjects. */
export interface SlotRequest {
  /** The holder of the slots: one id has one slot of each subject. */
  readonly id: string;
  /** Slots that are not returned expire by themselves. */
  readonly expiresInMs: number;
  readonly subjects: readonly {
    /** `key:HASH`: the subject of the limit. */
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

/** What was taken, until the actual use is known. */
export interface Permit {
  /** Returns the slots, and counts the actual use of each given subject. Only the first call counts. Never rejects. */
  end(used?: ReadonlyMap<string, number>): Promise<void>;
}

export interface RateRefusal {
  readonly ok: false;
  readonly by: 'rates';
  /** The first subject, in the order of the rates, with too little left. */
  readonly subject: string;
  readonly limit: number;
  readonly remaining: number;
  /** The time until the period has ended and everything can be taken. */
  readonly retryAfterMs: number;
}

export type PermitResult =
  | { readonly ok: true; readonly permit: Permit }
  /** The first subject without a free slot. */
  | { readonly ok: false; readonly by: 'slots'; readonly subject: string }
  | RateRefusal;

/** Limits on the rate at which subjects use something countable, and on their concurrent work. */
export interface RateLimitState {
  /** Never rejects. */
  acquire(requested: PermitRequest): Promise<PermitResult>;
}

/**
 * Messages between processes about changed records. A message may be lost: it only speeds up a read that comes soon
 * anyway.
 */
export interface InvalidationBus {
  /** Sends to every other process, not to this one. */
  announce(topic: string, message: string): void;
  /** @param onGap runs when messages may have been lost: whatever they are about must be read again */
  subscribe(topic: string, listener: (message: string) => void, onGap?: () => void): void;
}

/** Small values that processes share. A lost value does no harm. */
export interface SharedValues {
  /** Returns `undefined` where there is no value, and when the answer would not come soon. Never rejects. */
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, lifeMs: number): void;
}

/**
 * How far each process has written its journal, for processes that read the same database: what is written and not stored
 * yet is in no sum. A position holds for ten seconds; its process renews it while there is something to wait for.
 */
export interface JournalPositions {
  /** Is known before anything that this process sends later. Never rejects. */
  publish(stream: string, position: number): Promise<void>;
  /** Everything of the stream is stored. Never rejects. */
  withdraw(stream: string): Promise<void>;
  /** @throws Error where they cannot be read */
  read(): Promise<PublishedPositions>;
}

export interface PublishedPositions {
  /** By stream. */
  readonly live: ReadonlyMap<string, number>;
  /** Of processes that renew theirs no longer, and may be gone or stopped. */
  readonly silent: ReadonlyMap<string, number>;
}

/** Longer texts, kept while there is room and time. A caller that finds none makes the text again. */
export interface TextCache {
  /** Returns `undefined` where there is no text, and when the answer would not come soon. Never rejects. */
  get(name: string): Promise<string | undefined>;
  /** Stores a text. When there is no room for all texts the oldest are dropped. A text that is too long is not kept. */
  set(name: string, text: string, lifeMs: number): void;
  delete(name: string): void;
}

/** Where a kept response belongs: it ends with each of the three. */
export interface ResponseOwner {
  readonly accountId: string;
  readonly workspaceId: string;
  /** Of the key that sent the request. */
  readonly keyHash: string;
}

/** The owners whose responses a key sees: those of its workspace, or those of one key of it. */
export interface ResponseReader {
  readonly accountId: string;
  readonly workspaceId: string;
  /** `undefined`: of all keys of the workspace. */
  readonly keyHash: string | undefined;
}

/** One link of a conversation: what one request added to it. */
export interface ResponseLink {
  readonly id: string;
  readonly owner: ResponseOwner;
  /** `completed`, `incomplete`, `failed`, `cancelled`; of background responses also `queued` and `in_progress`. */
  readonly status: string;
  /** The response that it continues; null: none. */
  readonly parentId: string | null;
  readonly createdAtMs: number;
  /** JSON of two lists: the items of the request, and those of the response. */
  readonly items: string;
}

/** A response as it is kept. */
export interface ResponseRow extends ResponseLink {
  /** Ids of its items, by which later requests refer to them. */
  readonly itemIds: readonly string[];
  /** JSON of the response as its caller got it, without its output. */
  readonly object: string;
}

export interface ChainBounds {
  readonly linksMax: number;
  /** Of the items of all links. */
  readonly charsMax: number;
}

/**
 * Responses that later requests may continue. A row that no owner of the reader made is not there for it. Every method
 * rejects while the rows cannot be reached.
 */
/** What of a kept response is not its content. */
export interface KeptResponse {
  readonly id: string;
  readonly owner: ResponseOwner;
  readonly status: string;
  readonly parentId: string | null;
  readonly createdAtMs: number;
  /** Of all that is kept of it. */
  readonly bytes: number;
  /** Null: each use of it moves its end, or it is kept until it is deleted. */
  readonly expiresAtMs: number | null;
  /** How often it began to run in the background. Null: it did not. */
  readonly runs: number | null;
}

/** Which responses are listed: those of a workspace, the newest first. */
export interface ResponseListing {
  readonly accountId: string;
  readonly workspaceId: string;
  /** Absent: of all keys of the workspace. */
  readonly keyHashes?: readonly string[] | undefined;
  readonly limit: number;
  /** Only those that stand behind this one. */
  readonly after?: Pick<KeptResponse, 'createdAtMs' | 'id'> | undefined;
}

export interface ResponseRows {
  /** Uses none of them: their lives go on as they were. */
  list(listing: ResponseListing): Promise<readonly KeptResponse[]>;
  /** Keeps a row in place of one with the same id. @returns whether there was room for it */
  put(row: ResponseRow): Promise<boolean>;
  find(id: string, reader: ResponseReader): Promise<ResponseRow | undefined>;
  /**
   * A response and what it continues, the newest first. A chain whose last link has a parent is broken there, or goes
   * beyond a bound: with the link that exceeds it.
   */
  findChain(id: string, reader: ResponseReader, bounds: ChainBounds): Promise<readonly ResponseLink[]>;
  /**
   * The newest response with each of the items, each response once, in no order. Ends with the response whose items exceed
   * the bound.
   */
  findByItems(itemIds: readonly string[], reader: ResponseReader, charsMax: number): Promise<readonly ResponseLink[]>;
  /** @returns whether it was there */
  delete(id: string, reader: ResponseReader): Promise<boolean>;
  /** Owners of rows. */
  owners(): Promise<readonly ResponseOwner[]>;
  deleteOf(owner: ResponseOwner): Promise<void>;
}

/** State that outlives a request and is no record: of one process, or of all processes that share a Redis. */
export interface SharedState {
  readonly reservations: Reservations;
  readonly rateLimitState: RateLimitState;
  readonly invalidations: InvalidationBus;
  /** `undefined`: no other process shares the state. */
  readonly values: SharedValues | undefined;
  /** `undefined`: no other process shares the state. */
  readonly positions: JournalPositions | undefined;
  readonly texts: TextCache;
  readonly responses: ResponseRows;
  /** @throws Error while other processes cannot be reached */
  ping(): Promise<void>;
  close(): void;
}
