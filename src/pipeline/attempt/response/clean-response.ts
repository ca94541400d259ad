import type { EventBatch } from '../../../canonical/events.ts';
import type { Provider } from '../../../providers/contract.ts';
import type { EncodedRequest } from '../../../wire/format.ts';
import { LimitEnding } from './end-at-limit.ts';
import { judgeFailure } from '../judge-failure.ts';
import { AnswerToolRestorer } from './restore-answer-tool.ts';
import { restoreToolNames } from './restore-tool-names.ts';

/**
 * What every batch of one response passes before any other step sees it. A class because it follows its response from one
 * batch to the next.
 */
export class ResponseCleaner {
  readonly #toolNames: EncodedRequest['toolNames'];
  readonly #provider: Provider;
  readonly #listen: ((batch: EventBatch) => void) | undefined;
  readonly #answerTool: AnswerToolRestorer | undefined;
  readonly #limitEnding = new LimitEnding();

  /** @param listen is called with every batch as it leaves here */
  constructor(
    { outputTool, toolNames }: Pick<EncodedRequest, 'outputTool' | 'toolNames'>,
    provider: Provider,
    listen: ((batch: EventBatch) => void) | undefined,
  ) {
    this.#toolNames = toolNames;
    this.#provider = provider;
    this.#listen = listen;
    this.#answerTool = outputTool === undefined ? undefined : new AnswerToolRestorer(outputTool);
  }

  clean(batch: EventBatch): EventBatch {
    let cleaned = this.#answerTool?.restore(batch) ?? batch;
    cleaned = restoreToolNames(cleaned, this.#toolNames);
    const last = cleaned.at(-1);
    // A failure is the last event of its response.
    if (last?.type === 'failed')
      cleaned = cleaned.with(cleaned.length - 1, {
        type: 'failed',
        failure: judgeFailure(last.failure, this.#provider),
      });
    cleaned = this.#limitEnding.end(cleaned);
    this.#listen?.(cleaned);
    return cleaned;
  }
}
