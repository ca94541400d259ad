import type { EventBatch } from '../canonical/events.ts';
import type { Provider } from '../providers/contract.ts';
import type { EncodedRequest } from '../wire/format.ts';
import { createLimitEnding } from './end-at-limit.ts';
import { judgeFailure } from './judge-failure.ts';
import { createAnswerToolRestorer } from './restore-answer-tool.ts';
import { restoreToolNames } from './restore-tool-names.ts';

/**
 * What every batch of one answer passes before anyone else sees it. A class because it follows its answer from one to the
 * next.
 */
export class AnswerCleaner {
  readonly #encoded: Pick<EncodedRequest, 'toolNames'>;
  readonly #provider: Provider;
  readonly #listen: ((batch: EventBatch) => void) | undefined;
  readonly #restoreAnswerTool: (batch: EventBatch) => EventBatch;
  readonly #endAtLimit = createLimitEnding();

  /** @param listen is told of every batch as it leaves here */
  constructor(
    encoded: Pick<EncodedRequest, 'answerTool' | 'toolNames'>,
    provider: Provider,
    listen: ((batch: EventBatch) => void) | undefined,
  ) {
    this.#encoded = encoded;
    this.#provider = provider;
    this.#listen = listen;
    this.#restoreAnswerTool = createAnswerToolRestorer(encoded.answerTool);
  }

  clean(batch: EventBatch): EventBatch {
    const restored = restoreToolNames(this.#restoreAnswerTool(batch), this.#encoded.toolNames);
    const cleaned = this.#endAtLimit(judgeBatch(restored, this.#provider));
    this.#listen?.(cleaned);
    return cleaned;
  }
}

/** A failure is the last event of its answer. */
function judgeBatch(batch: EventBatch, provider: Provider): EventBatch {
  const last = batch.at(-1);
  if (last?.type !== 'failed') return batch;
  return batch.with(batch.length - 1, { type: 'failed', failure: judgeFailure(last.failure, provider) });
}
