import { candidateName } from '../../routing/endpoint-name.ts';
import type { Endpoint } from '../../catalog/model.ts';
import type { Deadlines, RequestClass } from '../../routing/deadlines.ts';
import type { Candidate } from '../../routing/route-plan.ts';
import type { Cut } from './watchdog.ts';

export interface AttemptDeadlineDeps {
  /** Absent: limits are as configured. */
  readonly deadlines?: Deadlines | undefined;
  /** Monotonic ms. */
  readonly monotonicMs: () => number;
}

/** Whether another candidate could be tried in place of one under way. */
export interface Alternatives {
  /** By health alone, which costs nothing: looked at before each attempt. */
  areLeft(): boolean;
  /** Also by the request: looked at when a limit runs out. */
  couldServe(): boolean;
}

/**
 * The adaptive limit of one attempt, and what its endpoint's history learns from it. Headers and first token share one
 * clock. A class because there is one for each attempt. @spec fallback-12
 */
export class AttemptDeadline {
  readonly #deadlines: Deadlines | undefined;
  readonly #monotonicMs: () => number;
  readonly #name: string;
  readonly #class: RequestClass;
  readonly #alternatives: Alternatives;
  #limitMs: number | undefined;
  #sentMs = 0;

  constructor(
    { deadlines, monotonicMs }: AttemptDeadlineDeps,
    candidate: Candidate,
    requestClass: (endpoint: Endpoint) => RequestClass,
    alternatives: Alternatives,
  ) {
    this.#deadlines = deadlines;
    this.#monotonicMs = monotonicMs;
    this.#name = candidateName(candidate);
    this.#class = deadlines === undefined ? 0 : requestClass(candidate.endpoint);
    this.#alternatives = alternatives;
  }

  /** The call begins: the clock runs from here. */
  start(): void {
    this.#sentMs = this.#monotonicMs();
    if (this.#deadlines !== undefined && this.#alternatives.areLeft())
      this.#limitMs = this.#deadlines.find(this.#name, this.#class).limitMs;
  }

  /** What is left of it now. `undefined`: what is configured holds. */
  cut(): Cut | undefined {
    const limitMs = this.#limitMs;
    if (limitMs === undefined) return undefined;
    const afterMs = Math.max(0, limitMs - (this.#monotonicMs() - this.#sentMs));
    return { afterMs, limitMs, hasAlternative: () => this.#alternatives.couldServe() };
  }

  /** Waits for something of the gateway's own, which is not the endpoint's time. */
  async leaveOut(wait: Promise<void>): Promise<void> {
    const fromMs = this.#monotonicMs();
    await wait;
    this.#sentMs += this.#monotonicMs() - fromMs;
  }

  /** The first token came, or the whole answer. */
  answered(): void {
    this.#deadlines?.answered(this.#name, this.#class, this.#monotonicMs() - this.#sentMs);
  }

  /** @param cutAfterMs the limit at which it was cut; `undefined`: it failed otherwise, which says nothing of its pace */
  failed(cutAfterMs: number | undefined): void {
    if (cutAfterMs !== undefined) this.#deadlines?.cut(this.#name, this.#class, cutAfterMs);
  }
}
