import type { Block } from './blocks.ts';
import type { EndEvent } from './events.ts';
import type { Extra, FormatId, Warning } from './extra.ts';
import type { UpstreamFailure } from './failure/failure.ts';
import type { Citation } from './blocks.ts';
import type { Usage } from './usage.ts';

/** A source of the whole response, and how much of the response had come by then. */
export interface ResponseCitation {
  readonly citation: Citation;
  /** The number of blocks that had started when it came. */
  readonly afterBlocks: number;
}

/** The sum of all events of one response. */
export interface GenerationResponse {
  readonly format: FormatId | undefined;
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly blocks: readonly Block[];
  /** Citations of the whole response rather than of one block. */
  readonly citations: readonly ResponseCitation[];
  readonly usage: Usage | undefined;
  readonly end: EndEvent | undefined;
  /** Set when the response broke off; the blocks hold what had come. */
  readonly failure: UpstreamFailure | undefined;
  readonly extras: readonly Extra[];
  readonly warnings: readonly Warning[];
}
