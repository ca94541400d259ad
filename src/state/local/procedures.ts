import type {
  Allowance,
  ChainBounds,
  Charge,
  PermitRequest,
  RateRefusal,
  ReservationRequest,
  KeptResponse,
  ResponseLink,
  ResponseListing,
  ResponseOwner,
  ResponseReader,
  ResponseRow,
} from '../contract.ts';

/** A reservation result as it is sent: `reserved` has the entries of its map. */
export type SentReservation =
  | {
      readonly ok: true;
      readonly reserved: readonly (readonly [subject: string, nanoUsd: number])[];
      readonly permitted?: SentPermit;
    }
  | {
      readonly ok: false;
      readonly subject: string;
      readonly leftNanoUsd: number;
      readonly reservedByOthersNanoUsd: number;
    };

/** A permit result as it is sent: a permit is a number that `endPermit` takes. */
export type SentPermit =
  | { readonly ok: true; readonly permit: number }
  | { readonly ok: false; readonly by: 'slots'; readonly subject: string }
  | RateRefusal;

export interface SentText {
  readonly name: string;
  readonly text: string;
  readonly lifeMs: number;
}

/** Entries of the maps. */
export interface SentPositions {
  readonly live: readonly (readonly [stream: string, position: number])[];
  readonly silent: readonly (readonly [stream: string, position: number])[];
}

/** A reader as it is sent: JSON has no `undefined`. */
export type SentReader = Omit<ResponseReader, 'keyHash'> & { readonly keyHash: string | null };

export interface SentNews {
  readonly topic: string;
  readonly message: string;
}

/**
 * What the first process offers its workers. `loads` is the number of an open request, by which the first process asks for
 * the sums that it needs.
 */
export type StateProcedures = {
  readonly reserve: (asked: {
    readonly reservation: ReservationRequest;
    readonly loads: number;
  }) => Promise<SentReservation>;
  readonly check: (asked: {
    readonly allowances: readonly Allowance[];
    readonly loads: number;
  }) => Promise<SentReservation>;
  readonly settle: (ended: { readonly id: string; readonly charges: readonly Charge[] }) => Promise<void>;
  readonly release: (id: string) => Promise<void>;
  readonly forget: (owner: string) => Promise<void>;
  readonly acquire: (requested: PermitRequest) => Promise<SentPermit>;
  readonly endPermit: (ended: {
    readonly permit: number;
    readonly used: readonly (readonly [subject: string, uses: number])[];
  }) => Promise<void>;
  readonly announce: (news: SentNews) => void;
  readonly publishPosition: (published: { readonly stream: string; readonly position: number }) => void;
  readonly withdrawPosition: (stream: string) => void;
  readonly readPositions: () => Promise<SentPositions>;
  readonly getValue: (key: string) => Promise<string | null>;
  readonly setValue: (value: SentText) => void;
  readonly getText: (name: string) => Promise<string | null>;
  readonly setText: (text: SentText) => void;
  readonly deleteText: (name: string) => void;
} & ResponseProcedures;

/** Kept responses: `ResponseRows`, method by method. */
type ResponseProcedures = {
  readonly putResponse: (row: ResponseRow) => Promise<boolean>;
  readonly findResponse: (asked: { readonly id: string; readonly reader: SentReader }) => Promise<ResponseRow | null>;
  readonly findResponseChain: (asked: {
    readonly id: string;
    readonly reader: SentReader;
    readonly bounds: ChainBounds;
  }) => Promise<readonly ResponseLink[]>;
  readonly findResponsesByItems: (asked: {
    readonly itemIds: readonly string[];
    readonly reader: SentReader;
    readonly charsMax: number;
  }) => Promise<readonly ResponseLink[]>;
  readonly deleteResponse: (asked: { readonly id: string; readonly reader: SentReader }) => Promise<boolean>;
  readonly listResponses: (listing: ResponseListing) => Promise<readonly KeptResponse[]>;
  readonly responseOwners: () => Promise<readonly ResponseOwner[]>;
  readonly deleteResponsesOf: (owner: ResponseOwner) => Promise<void>;
};

/** What a worker offers the first process. */
export type WorkerStateProcedures = {
  /** Reads the durable sum of a subject for the open request of this number, nano-USD. */
  readonly loadSpent: (asked: { readonly loads: number; readonly subject: string }) => Promise<number>;
  /** Returns when every listener has run. */
  readonly hear: (news: SentNews) => void;
};
