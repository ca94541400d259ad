// The types of the path of a request that is no generation.
import type { RequestPermit } from '../../accounts/limits/rate-limits.ts';
import type { Principal } from '../../accounts/principal.ts';
import type { GatewayError } from '../../canonical/gateway-error.ts';
import type { Operation } from '../../canonical/operation.ts';
import type { ErrorContext } from '../../wire/format.ts';

/** One request, authenticated and decoded. */
export interface IncomingOperation {
  readonly id: string;
  readonly request: Operation;
  readonly principal: Principal;
  /** Monotonic ms. */
  readonly arrivedMs: number;
  readonly place?: RequestPermit | undefined;
  readonly isLarge?: boolean;
}

/** Takes the answer of one. */
export interface AnswerWriter {
  /** Calls back, once, when the caller hangs up before the answer has left; at once if that has happened. */
  onGone(listener: () => void): void;
  /** Headers that leave with the answer, and not with an error. */
  announce(headers: Readonly<Record<string, string>>): void;
  /** Sends a whole answer, status 200, JSON, in pieces. */
  answerPieces(generationId: string, pieces: readonly Uint8Array[]): void;
  refuse(error: GatewayError, context: ErrorContext): void;
}

/** Answers the caller in every case; settles when the charge is durable. Never rejects. */
export type RunOperation = (incoming: IncomingOperation, writer: AnswerWriter) => Promise<void>;
