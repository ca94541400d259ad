import type { Block } from '../../../canonical/blocks.ts';
import { transportFailure } from '../../../canonical/failure/classify-failure.ts';
import type { BlockStartEvent, EndEvent, EventBatch, GenerationEvent } from '../../../canonical/events.ts';

/** Events that may wait until a block of text can stand alone. Only hosts that translate let calls overlap. */
const WAITING_EVENTS_MAX = 10_000;

/**
 * Turns the call of a tool that stood in for structured output back into the text of the response, and the reason to stop
 * with it. Holds the state of one response.
 * @spec translate-22
 */
export class AnswerToolRestorer {
  readonly #answerTool: string;
  /** Calls that stand open; never any beside a block of text. */
  readonly #openCalls = new Set<number>();
  /** The block that is text now, while it stands open. */
  #answer: number | undefined;
  #answered = false;
  #called = false;
  #over = false;
  /** What came meanwhile and may not stand beside what is open. In the order in which it came, so indexes stay dense. */
  #waiting: GenerationEvent[] = [];
  #out: GenerationEvent[] = [];

  /** @param answerTool the tool's name */
  constructor(answerTool: string) {
    this.#answerTool = answerTool;
  }

  restore(batch: EventBatch): EventBatch {
    this.#out = [];
    for (const event of batch) if (!this.#over) this.#take(event);
    return this.#out;
  }

  #take(event: GenerationEvent): void {
    if (this.#mustWait(event)) {
      this.#waiting.push(event);
      if (this.#waiting.length > WAITING_EVENTS_MAX) this.#fail();
      return;
    }
    this.#out.push(this.#translate(event));
    if (event.type === 'block-end') this.#release();
  }

  /** Text stands alone: it waits for open calls, and whatever opens after it waits for its end. */
  #mustWait(event: GenerationEvent): boolean {
    if (event.type === 'end' || event.type === 'failed') {
      this.#flush();
      return false;
    }
    if (event.type !== 'block-start' && event.type !== 'block-delta' && event.type !== 'block-end') return false;
    if (event.index === this.#answer || this.#openCalls.has(event.index)) return false;
    if (this.#waiting.length > 0 || this.#answer !== undefined) return true;
    return event.type === 'block-start' && this.#isResponse(event.block) && this.#openCalls.size > 0;
  }

  #isResponse(block: Block): boolean {
    return block.type === 'tool-call' && block.name === this.#answerTool;
  }

  #translate(event: GenerationEvent): GenerationEvent {
    if (event.type === 'block-start') return this.#open(event);
    if (event.type === 'end') return this.#answered && !this.#called ? asStop(event) : event;
    // The frame would be written again as a piece of a call.
    if (event.type === 'block-delta' && event.index === this.#answer)
      return { ...event, frame: undefined, extra: undefined };
    if (event.type === 'block-end') {
      this.#openCalls.delete(event.index);
      if (event.index === this.#answer) this.#answer = undefined;
    }
    return event;
  }

  #open(event: BlockStartEvent): GenerationEvent {
    const { block, index } = event;
    if (block.type !== 'tool-call') return event;
    if (!this.#isResponse(block)) {
      this.#called = true;
      this.#openCalls.add(index);
      return event;
    }
    this.#answer = index;
    this.#answered = true;
    return { ...event, block: { type: 'text', text: block.input } };
  }

  /** As much of what waits as may stand now. */
  #release(): void {
    if (this.#answer !== undefined || this.#openCalls.size > 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const event of waiting) this.#take(event);
  }

  /** The answer is over: what never ended is ended. */
  #flush(): void {
    while (this.#waiting.length > 0) {
      const open = this.#answer ?? [...this.#openCalls][0];
      if (open === undefined) break;
      this.#out.push(this.#translate({ type: 'block-end', index: open }));
      this.#release();
    }
  }

  #fail(): void {
    this.#waiting = [];
    this.#over = true;
    this.#out.push({ type: 'failed', failure: transportFailure('too-large') });
  }
}

/** The call was the reason to stop, and is none any more. */
function asStop(end: EndEvent): EndEvent {
  return end.finish === 'tool_calls' ? { ...end, finish: 'stop' } : end;
}
