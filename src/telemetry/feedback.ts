import type { Clock } from '../lib/clock.ts';
import type { Feedback, FeedbackStore } from '../store/generations/generation-feedback.ts';

/** Takes what people say of generations. */
export interface FeedbackBox {
  /** `false`: there is enough on this generation already. */
  submit(feedback: Omit<Feedback, 'atMs'>): Promise<boolean>;
  /** Lists the oldest first. */
  list(generationId: string): Promise<readonly Feedback[]>;
}

export function createFeedbackBox({
  store,
  clock,
}: {
  readonly store: FeedbackStore;
  readonly clock: Clock;
}): FeedbackBox {
  return {
    submit: (feedback) => store.insert({ ...feedback, atMs: clock.nowMs() }),
    list: (generationId) => store.list(generationId),
  };
}
