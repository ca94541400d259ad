import type { Block, Citation } from '../../../canonical/blocks.ts';
import type { EventBatch, GenerationEvent } from '../../../canonical/events.ts';
import type { Extra, FormatId } from '../../../canonical/extra.ts';
import { gapBeforeText } from '../../../canonical/text-gap.ts';

const FORMAT: FormatId = 'responses';

/** Pieces that wait for their block's turn; beyond it the blocks before are taken for ended. */
const PENDING_MAX = 10_000;

interface Piece {
  readonly text?: string;
  readonly extra?: Extra | undefined;
  readonly citation?: Citation;
}

/** One block of the response as far as it has come. Only `BlockLanes` changes it. */
export interface Lane {
  readonly block: Block;
  /** In the response; -1: its turn has not come. */
  index: number;
  /** All of its text has come; citations may follow. It ends when anything else begins. */
  complete: boolean;
  /** Nothing more may be added. */
  ended: boolean;
  readonly pending: Piece[];
  /** Where its text begins in the text of the whole response. */
  textStart: number;
}

/**
 * Writes the events of one response, whose items may come side by side on the wire, so that no blocks overlap but calls: a
 * block that begins while another is open waits for that one's end. Reasoning is the exception. It ends as soon as
 * anything else begins, because hosts that translate from chat report its end only after the text that follows
 * it, and holding all text back until then would be no stream (recorded: openrouter/responses-raw-reasoning-stream).
 */
export class BlockLanes {
  #events: GenerationEvent[] = [];
  /** In the order of the response. Those at the front are live: calls side by side, or one block of another kind. */
  #lanes: Lane[] = [];
  #next = 0;
  #pending = 0;
  #textChars = 0;
  #last: Block | undefined;

  emit(event: GenerationEvent): void {
    this.#events.push(event);
  }

  /** The events since the last time. */
  take(): EventBatch {
    const batch = this.#events;
    this.#events = [];
    return batch;
  }

  open(block: Block): Lane {
    for (const lane of this.#lanes) if (lane.complete || lane.block.type === 'reasoning') lane.ended = true;
    const lane: Lane = { block, index: -1, complete: false, ended: false, pending: [], textStart: 0 };
    this.#lanes.push(lane);
    this.#advance();
    return lane;
  }

  add(lane: Lane, text: string, extra?: Extra): void {
    if (lane.index >= 0) this.#write(lane, text, extra);
    else this.#defer(lane, { text, extra });
  }

  cite(lane: Lane, citation: Citation): void {
    if (lane.index >= 0) this.#cite(lane, citation, lane.ended ? -1 : lane.index);
    else this.#defer(lane, { citation });
  }

  complete(lane: Lane): void {
    lane.complete = true;
    if (this.#lanes.at(-1) !== lane) this.end(lane);
  }

  end(lane: Lane): void {
    lane.ended = true;
    this.#advance();
  }

  endAll(): void {
    for (const lane of this.#lanes) lane.ended = true;
    this.#advance();
  }

  #defer(lane: Lane, piece: Piece): void {
    lane.pending.push(piece);
    if (++this.#pending <= PENDING_MAX) return;
    for (const earlier of this.#lanes.slice(0, this.#lanes.indexOf(lane))) earlier.ended = true;
    this.#advance();
  }

  /** Begins what may begin, and takes away what has ended. */
  #advance(): void {
    while (this.#lanes.length > 0) {
      const live = this.#lanes.slice(0, this.#countLive());
      for (const lane of live) this.#begin(lane);
      if (!live.some(({ ended }) => ended)) return;
      for (const { ended, index } of live) if (ended) this.emit({ type: 'block-end', index });
      this.#lanes = this.#lanes.filter((lane) => !lane.ended || lane.index < 0);
    }
  }

  #countLive(): number {
    const other = this.#lanes.findIndex(({ block }) => block.type !== 'tool-call');
    return other < 0 ? this.#lanes.length : Math.max(other, 1);
  }

  #begin(lane: Lane): void {
    if (lane.index >= 0) return;
    lane.index = this.#next++;
    const { block } = lane;
    if (block.type === 'text') {
      // Offsets of citations count from here: where a chat caller will find the text.
      this.#textChars += gapBeforeText(FORMAT, this.#last, this.#textChars).length;
      lane.textStart = this.#textChars;
    }
    this.#last = block;
    this.emit({ type: 'block-start', index: lane.index, block });
    this.#pending -= lane.pending.length;
    for (const { text, extra, citation } of lane.pending.splice(0)) {
      if (citation === undefined) this.#write(lane, text ?? '', extra);
      else this.#cite(lane, citation, lane.index);
    }
  }

  #write({ block, index }: Lane, text: string, extra: Extra | undefined): void {
    if (block.type === 'text') this.#textChars += text.length;
    // All members, so that all deltas have one shape.
    this.emit({ type: 'block-delta', index, text, signature: undefined, value: undefined, frame: undefined, extra });
  }

  /**
   * Offsets count in their block on the wire, and in the text of the whole response in here, to which a citation belongs
   * that comes too late for its block.
   */
  #cite({ textStart }: Lane, citation: Citation, index: number): void {
    if (citation.type === 'opaque') {
      this.emit({ type: 'citation', index, citation });
      return;
    }
    const { start, end, ...source } = citation;
    this.emit({
      type: 'citation',
      index,
      citation: {
        ...source,
        ...(start !== undefined && { start: textStart + start }),
        ...(end !== undefined && { end: textStart + end }),
      },
    });
  }
}
