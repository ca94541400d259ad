import type { ResponseEvents } from '../../store/responses/response-events.ts';
import { parseEvents, ResponseFold } from '../../wire/responses/response/fold-events.ts';

/** What the stored events of a response add up to. */
export async function readLog(events: Pick<ResponseEvents, 'readAfter'>, id: string): Promise<ResponseFold> {
  const fold = new ResponseFold();
  for (;;) {
    const batches = await events.readAfter(id, fold.lastNumber);
    if (batches.length === 0) return fold;
    for (const { frames } of batches) fold.push(parseEvents(frames));
  }
}
