import type { JsonObject } from '../../lib/json.ts';
import type { ResponseRow, ResponseRows } from '../../state/contract.ts';
import type { BackgroundTask, BackgroundTasks } from '../../store/responses/background-tasks.ts';
import type { ResponseEvents } from '../../store/responses/response-events.ts';
import { encodeTerminal } from '../../wire/responses/response/background.ts';
import { parseItems } from '../items.ts';
import type { KnownOrigins } from '../origins.ts';
import { endedRow } from '../rows.ts';

export interface FinishDeps {
  readonly rows: Pick<ResponseRows, 'put'>;
  readonly tasks: Pick<BackgroundTasks, 'renew' | 'end'>;
  readonly events: Pick<ResponseEvents, 'append'>;
  readonly origins: KnownOrigins;
  readonly runner: string;
  readonly leaseMs: number;
}

/** Of a response that has no room in what its key may keep. */
const TOO_LARGE = {
  status: 'failed',
  error: {
    code: 'server_error',
    message: 'The response is larger than one response of this key may be (responses.max_mb_per_key).',
    type: 'payload_too_large',
    param: null,
  },
  error_type: 'payload_too_large',
} as const;

/**
 * Ends a background response: its row first, so that a reader of the end of its stream finds it, then its last event.
 * @param number of that event
 * @returns `false`: another process has it by now, or it was deleted
 * @throws DatabaseError while it cannot be written: to be called again
 */
export async function finishTask(
  { rows, tasks, events, origins, runner, leaseMs }: FinishDeps,
  task: BackgroundTask,
  begun: Pick<ResponseRow, 'items' | 'parentId'>,
  response: JsonObject,
  number: number,
): Promise<boolean> {
  const { id, owner, createdAtMs } = task;
  if (!(await tasks.renew(id, runner, leaseMs))) return false;
  const { input } = parseItems(begun.items);
  const row = (object: JsonObject): ResponseRow =>
    endedRow({ owner, createdAtMs, parentId: begun.parentId, input }, object, origins);
  let last = response;
  if (!(await rows.put(row(response)))) {
    last = { ...response, ...TOO_LARGE, output: [] };
    await rows.put(row(last));
  }
  const frames = encodeTerminal(number, last);
  await events.append(id, owner, { firstNumber: number, lastNumber: number, frames });
  await tasks.end(id, runner);
  return true;
}
