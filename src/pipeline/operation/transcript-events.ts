import { classifyErrorEvent, transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { createSseParser } from '../../lib/net/sse.ts';
import type { Provider } from '../../providers/contract.ts';
import type { TranscriptionFormat } from '../../wire/speech-to-text/format.ts';
import type { TranscriptPiece } from '../../wire/speech-to-text/transcript.ts';
import { statusOfError } from '../../wire/upstream-error.ts';
import { judgeFailure } from '../attempt/judge-failure.ts';
import type { OpenAnswer } from './one-call.ts';

/** Reads the events of a transcript, one network read after the other. A class because it lives as long as its answer. */
export class EventReader {
  readonly #opened: OpenAnswer;
  readonly #parser: ReturnType<typeof createSseParser>;
  #events: TranscriptPiece[] = [];
  #failure: UpstreamFailure | undefined;
  #isOver = false;
  /** The upstream has said that this is all, or is one that never says so. */
  #isComplete = false;
  #hasStretches = false;

  constructor(opened: OpenAnswer, format: TranscriptionFormat, provider: Provider) {
    this.#opened = opened;
    this.#parser = createSseParser({
      onEvent: (data) => {
        const event = this.#failure === undefined ? format.decodeEvent(data) : undefined;
        if (event?.type === 'error')
          this.#failure = judgeFailure(classifyErrorEvent(statusOfError(event.error), event.error), provider);
        else if (event?.type === 'end') this.#isComplete = true;
        else if (event?.type === 'open-ended') this.#takeStretch(event.delta);
        else if (event !== undefined) {
          this.#isComplete ||= event.type === 'done';
          this.#events.push(event);
        }
      },
    });
  }

  /** The next events, one at least; a failure ends them; `undefined` at the end. @throws what `explain` turns into a failure */
  async next(): Promise<readonly TranscriptPiece[] | UpstreamFailure | undefined> {
    while (this.#events.length === 0 && this.#failure === undefined && !this.#isOver) {
      const chunk = await this.#opened.answer.read();
      this.#opened.call.watch.restart();
      if (chunk === undefined) {
        this.#isOver = true;
        this.#parser.end();
        this.#opened.call.finish();
        // A body that ends in good order is no transcript that does: a process behind a proxy may have died.
        if (!this.#isComplete) this.#failure ??= transportFailure('early-end');
      } else this.#parser.push(chunk);
    }
    const events = this.#events;
    this.#events = [];
    return events.length === 0 ? this.#failure : events;
  }

  /** Stretches are texts of their own, trimmed. */
  #takeStretch(text: string): void {
    this.#isComplete = true;
    const gap = this.#hasStretches && !/^\s/.test(text) ? ' ' : '';
    this.#hasStretches = true;
    this.#events.push({ type: 'delta', delta: gap + text });
  }

  explain(error: unknown): UpstreamFailure {
    return this.#opened.call.explain(error);
  }

  close(): void {
    if (!this.#isOver) this.#opened.call.cancel();
    this.#opened.call.finish();
  }
}
