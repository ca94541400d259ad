import type { GenerationResponse } from '../response.ts';
import type { Settings, Tool, Turn } from '../request.ts';
import type { Usage } from '../usage.ts';

/** What a tool or a plugin asks a model while it serves a request. */
export interface NestedInput {
  /** Slugs; the first one answers, the others stand in for it. */
  readonly models: readonly string[];
  readonly turns: readonly Turn[];
  /** Server tools and functions that the inner model is offered. Absent: none. */
  readonly tools?: readonly Tool[];
  /** How many calls of server tools it may make. Absent: as many as any request. */
  readonly maxToolCalls?: number;
  readonly settings?: Settings;
  /** Types of server tools that neither it nor any generation inside of it is offered: who asks would ask itself. */
  readonly withoutTools?: readonly string[];
  /** The most that it may cost, nano-USD. Absent: what the caller's limits leave. */
  readonly budgetNanoUsd?: number;
  /** Hears what it came to, once, whether it gave an answer or not; never where it was refused before it began. */
  readonly ended?: (run: { readonly usage: Usage; readonly costNanoUsd: number }) => void;
}

/** What the inner model answered. */
export interface NestedResponse {
  /** Its own generation id; its record carries the id of the request that it served. */
  readonly generationId: string;
  /** The concrete slug that answered. */
  readonly model: string;
  readonly response: GenerationResponse;
  readonly usage: Usage;
  /** What it cost the account, nano-USD; 0 where the price is unknown or the caller paid the provider. */
  readonly costNanoUsd: number;
}

/**
 * Runs one generation inside another: same account, limits, guardrails and records. What it used and cost is added to
 * what the outer answer tells; it is charged once, as a generation of its own.
 * @param signal aborts it; that the outer request ends aborts it, too
 * @throws GatewayError as a caller of its own would be refused; 400 where generations would nest too deep
 */
export type GenerateNested = (input: NestedInput, signal: AbortSignal) => Promise<NestedResponse>;
