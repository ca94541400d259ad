import type { Hold, Ledger, Wish } from '../accounts/ledger.ts';
import type { Principal } from '../accounts/principal.ts';
import type { Admission, Passage, RatedRequest, RateLimiter } from '../accounts/rate-limits.ts';
import type { SpendLimit } from '../accounts/spend-limit.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import { createFurtherHolds, type FurtherHolds } from './further-holds.ts';
import type { Settle } from './settle.ts';

export interface TillParts {
  readonly ledger: Ledger;
  readonly rateLimiter: RateLimiter;
  readonly settle: Settle;
}

type Rated = Pick<RatedRequest, 'promptTokens' | 'isFree'>;

/** What one request holds of its caller's limits, until its charge is settled. */
export class Till {
  readonly further: FurtherHolds;
  readonly #parts: TillParts;
  readonly #asker: Principal;
  readonly #record: GenerationRecord;
  #hold: Hold | undefined;
  #passage: Passage | undefined;

  constructor(parts: TillParts, asker: Principal, record: GenerationRecord) {
    this.#parts = parts;
    this.#asker = asker;
    this.#record = record;
    this.further = createFurtherHolds(parts.ledger, { id: record.id, asker });
  }

  /** Once a request: it was let through, and is not asked again. @throws GatewayError 429 */
  async pass(request: Rated): Promise<void> {
    this.#passage ??= await this.#admission(request)?.pass();
  }

  /** Money first, and only who has it passes; a state that is shared is asked for both at once. @throws GatewayError 402, 403 or 429 */
  async enter(limits: readonly SpendLimit[], wish: () => Wish, request: Rated): Promise<void> {
    const admission = this.#passage === undefined ? this.#admission(request) : undefined;
    const beside = admission && { pass: admission.asked };
    this.#hold = await this.#parts.ledger.reserve(this.#asker, limits, () => ({ ...wish(), ...beside }));
    if (admission !== undefined) this.#passage = await admission.pass(this.#hold?.passed);
  }

  #admission(request: Rated): Admission | undefined {
    const { id, requestId } = this.#record;
    return this.#parts.rateLimiter.admit(this.#asker, { generationId: id, isInside: requestId !== id, ...request });
  }

  /** What the request has cost by now and what comes next, in place of what was held. `false`: too little is left. */
  async move(limits: readonly SpendLimit[], next: () => Wish): Promise<boolean> {
    const moved = await this.further.move(this.#hold, limits, next);
    if (moved !== undefined) this.#hold = moved.hold;
    return moved !== undefined;
  }

  /** Once for every end of the request: what comes later waits for the first. Never rejects. */
  async settle(): Promise<void> {
    await this.#parts.settle(this.#record, this.#hold ?? this.further.take(), this.#passage);
    await this.further.release();
  }
}
