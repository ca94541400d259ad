// The types of the path of a request that is no generation.
import type { RequestPermit } from '../../accounts/limits/rate-limits.ts';
import type { Principal } from '../../accounts/principal.ts';
import type { Operation } from '../../canonical/operation.ts';
import type { ResponseWriter } from '../request.ts';

/** One request, authenticated and decoded. */
export interface IncomingOperation<Op extends Operation = Operation> {
  readonly id: string;
  readonly request: Op;
  readonly principal: Principal;
  /** Monotonic ms. */
  readonly arrivedMs: number;
  readonly place?: RequestPermit | undefined;
  readonly isLarge?: boolean;
}

/** Takes the answer of one. */
export interface AnswerWriter extends Omit<ResponseWriter, 'answer'> {
  /**
   * Sends a whole answer in pieces. Settles when the caller has taken all but the last of a large one, or has gone.
   * @param type its media type; absent: JSON
   * @param status absent: 200
   */
  answerPieces(generationId: string, pieces: readonly Uint8Array[], type?: string, status?: number): Promise<void>;
  /** Sends status 200 and the headers of an answer of this media type that comes as it is made. Only the first call counts. */
  startBytes(generationId: string, type: string): void;
  /** False when the caller reads too slowly: wait for `drained` before the next. */
  writeBytes(chunk: Uint8Array): boolean;
  /** The answer is complete. */
  endBytes(): void;
  /** The answer ends as no complete one does: the connection breaks. */
  breakOff(): void;
}

/** Answers the caller in every case; settles when the charge is durable. Never rejects. */
export type RunOperation<Op extends Operation> = (
  incoming: IncomingOperation<Op>,
  writer: AnswerWriter,
) => Promise<void>;
