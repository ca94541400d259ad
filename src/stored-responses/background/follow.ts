import { setTimeout as wait } from 'node:timers/promises';
import type { BackgroundTasks } from '../../store/responses/background-tasks.ts';
import type { ResponseEvents } from '../../store/responses/response-events.ts';
import { parseEvents } from '../../wire/responses/response/fold-events.ts';

export interface FollowDeps {
  readonly tasks: Pick<BackgroundTasks, 'status'>;
  readonly events: Pick<ResponseEvents, 'readAfter'>;
  readonly monotonicMs: () => number;
}

/** Events reach their readers this late at most, beside the time in which they are stored. */
const LOOK_MS = 150;
/** Without an event, each connection gets a comment of its own. */
const KEEP_ALIVE_MS = 10_000;
const KEEP_ALIVE = ': SERVICE PROCESSING\n\n';
const DONE = 'data: [DONE]\n\n';

/**
 * The stream of a background response behind an event, to its end: what was stored, then what comes.
 * @param after the number of that event; -1: from the first
 */
export async function* followResponse(
  { tasks, events, monotonicMs }: FollowDeps,
  id: string,
  after: number,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  let number = after;
  let sentMs = monotonicMs();
  for (;;) {
    if (signal?.aborted === true) return;
    // Before its events: what was stored when it ended is all of it.
    const status = await tasks.status(id);
    const batches = await events.readAfter(id, number);
    if (batches.length > 0) {
      const frames = batches.map(({ firstNumber, frames: all }) => (firstNumber > number ? all : behind(all, number)));
      number = batches.at(-1)?.lastNumber ?? number;
      sentMs = monotonicMs();
      yield frames.join('');
      continue;
    }
    if (status === undefined || status.state === 'ended') {
      yield DONE;
      return;
    }
    if (monotonicMs() - sentMs >= KEEP_ALIVE_MS) {
      sentMs = monotonicMs();
      yield KEEP_ALIVE;
    }
    await wait(LOOK_MS);
  }
}

function behind(frames: string, number: number): string {
  return parseEvents(frames)
    .filter((event) => event.number > number)
    .map(({ frame }) => frame)
    .join('');
}
