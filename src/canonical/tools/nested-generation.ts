import type { GenerationOrigin } from '../generation-origin.ts';
import type { GenerationResponse } from '../response.ts';
import type { Settings, Tool, Turn } from '../request.ts';
import type { Usage } from '../usage.ts';

/** The step of a request that runs a generation inside it. */
export interface StartedBy {
  readonly kind: 'tool' | 'plugin';
  /** Names it among the steps of its kind. */
  readonly key: string;
}

/** A generation that a tool or a plugin runs while it serves a request. */
export interface NestedInput {
  /** Slugs; the first one serves, the others are its fallbacks. */
  readonly models: readonly string[];
  readonly turns: readonly Turn[];
  /** Server tools and functions that the nested model is offered. Absent: none. */
  readonly tools?: readonly Tool[];
  /** How many calls of server tools it may make. Absent: as many as any request. */
  readonly maxToolCalls?: number;
  readonly settings?: Settings;
  /** Types of server tools that neither it nor any generation nested in it is offered: a tool would call itself. */
  readonly withoutTools?: readonly string[];
  /** The most that it may cost, nano-USD. Absent: what the caller's limits leave. */
  readonly budgetNanoUsd?: number;
  /** What makes it; absent: as the request that it is nested in. */
  readonly origin?: GenerationOrigin;
  /** Only endpoints that support every setting serve it. */
  readonly requiresParameters?: true;
  /** What runs it: the pipeline says so, not the tool or plugin. */
  readonly startedBy?: StartedBy;
  /** Called once with the usage and the cost, on success and on failure; not called where it was refused before it began. */
  readonly ended?: (run: { readonly usage: Usage; readonly costNanoUsd: number }) => void;
}

/** The response of the nested model. */
export interface NestedResponse {
  /** Its own generation id; its record carries the id of the request that it served. */
  readonly generationId: string;
  /** The concrete slug that served it. */
  readonly model: string;
  readonly response: GenerationResponse;
  readonly usage: Usage;
  /** What it cost the account, nano-USD; 0 where the price is unknown or the caller paid the provider. */
  readonly costNanoUsd: number;
}

/**
 * Runs one generation inside another: same account, limits, guardrails and records. Its usage and cost are added to those
 * that the outer response reports; it is charged once, as a generation of its own.
 * @param signal aborts it; the end of the outer request aborts it, too
 * @throws GatewayError as for a request of a caller; 400 where generations would nest too deep
 */
export type GenerateNested = (input: NestedInput, signal: AbortSignal) => Promise<NestedResponse>;
