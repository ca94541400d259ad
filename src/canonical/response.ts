import type { Block } from './blocks.ts';
import type { EndEvent } from './events.ts';
import type { Extra, FormatId, Warning } from './extra.ts';
import type { UpstreamFailure } from './failure/failure.ts';
import type { Citation } from './blocks.ts';
import type { Usage } from './usage.ts';

/** A source of the whole answer, and how much of the answer had come by then. */
export interface ResponseCitation {
  readonly citation: Citation;
  /** Blocks that had started: it was told after the one before this index. */
  readonly afterBlocks: number;
}

/** What all events of one answer add up to. */
export interface GenerationResponse {
  readonly format: FormatId | undefined;
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly blocks: readonly Block[];
  /** Citations of the whole answer rather than of one block. */
  readonly citations: readonly ResponseCitation[];
  readonly usage: Usage | undefined;
  readonly end: EndEvent | undefined;
  /** Set when the answer broke off; the blocks hold what had come. */
  readonly failure: UpstreamFailure | undefined;
  readonly extras: readonly Extra[];
  readonly warnings: readonly Warning[];
}
