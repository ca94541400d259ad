import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Principal } from '../../accounts/principal.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Clock } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ResponseRow, ResponseRows } from '../../state/contract.ts';
import type { BackgroundTasks } from '../../store/responses/background-tasks.ts';
import type { ResponseEvents } from '../../store/responses/response-events.ts';
import { asCancelled, encodeQueued } from '../../wire/responses/response/background.ts';
import { responseIdOf } from '../../wire/responses/response/response-out.ts';
import { outputText } from '../items.ts';
import type { KnownOrigins } from '../origins.ts';
import { storeIsAway } from '../refusals.ts';
import { endedRow, responseOf } from '../rows.ts';
import { finishTask } from './finish.ts';
import { followResponse } from './follow.ts';
import { readLog } from './read-log.ts';
import type { AcceptedRequest } from './run.ts';
import { LEASE_MS } from './runner.ts';

export interface BackgroundDeps {
  readonly rows: Pick<ResponseRows, 'put' | 'delete'>;
  readonly tasks: BackgroundTasks;
  readonly events: ResponseEvents;
  readonly origins: KnownOrigins;
  readonly clock: Clock;
  readonly echo: 'full' | 'terminal' | 'none';
  /** One waits now. */
  readonly onAccepted: () => void;
}

/** A request that is to run in the background, and was checked. */
export interface BackgroundRequest {
  readonly generationId: string;
  readonly principal: Principal;
  readonly request: GenerationRequest;
  readonly accepted: Omit<AcceptedRequest, 'principal'>;
}

/** Responses that run in the background. Visibility is checked before: here an id is enough. */
export interface BackgroundResponses {
  /** @returns the response as its caller gets it @throws GatewayError 429 where too many wait, 503 */
  accept(of: BackgroundRequest): Promise<JsonObject>;
  /** The response as it is by now; `undefined` where it has ended, and its row is all of it. */
  progress(row: ResponseRow): Promise<JsonObject | undefined>;
  /** Its stream behind an event; `undefined` where its events are not kept any more. @param after -1: from its beginning */
  follow(id: string, after: number, signal?: AbortSignal): Promise<AsyncGenerator<string> | undefined>;
  /** Stops it. Settles when it has stopped, or when that takes too long. */
  cancel(row: ResponseRow): Promise<void>;
}

/** Of one key; further ones are refused. */
const WAITING_MAX = 100;
const RETRY_AFTER_MS = 5_000;
/** A run stops within a quarter of a second, unless its process is gone. */
const CANCEL_MS_MAX = 5_000;
const CANCEL_LOOK_MS = 50;

export function createBackgroundResponses(deps: BackgroundDeps): BackgroundResponses {
  const { tasks, events, clock } = deps;
  return {
    accept: (of) => accept(deps, of),
    async progress(row) {
      const status = await tasks.status(row.id);
      if (status === undefined || status.state === 'ended') return undefined;
      const fold = await readLog(events, row.id);
      const output = fold.output('in_progress');
      const { model } = fold.response ?? {};
      return {
        ...responseOf(row),
        status: status.state === 'running' ? 'in_progress' : 'queued',
        ...(model !== undefined && { model }),
        output,
        output_text: outputText(output),
      };
    },
    async follow(id, after, signal) {
      if ((await tasks.status(id)) === undefined) return undefined;
      return followResponse({ tasks, events, monotonicMs: () => clock.monotonicMs() }, id, after, signal);
    },
    cancel: (row) => cancel(deps, row),
  };
}

async function accept(
  { rows, tasks, events, origins, clock, echo, onAccepted }: BackgroundDeps,
  { generationId, principal, request, accepted }: BackgroundRequest,
): Promise<JsonObject> {
  const { accountId, workspaceId, keyHash } = principal;
  const owner = { accountId, workspaceId, keyHash };
  const createdAtMs = clock.nowMs();
  const identity = {
    id: generationId,
    createdS: Math.floor(createdAtMs / 1_000),
    model: request.directives.models[0] ?? '',
    request,
    accountId,
    isKept: true,
  } as const;
  const { response, frames, lastNumber } = encodeQueued(identity, echo);
  const id = responseIdOf(generationId);
  const { items: input = [], previousResponseId: parentId = null } = request.response ?? {};
  const row = endedRow({ owner, createdAtMs, parentId, input }, response, origins);
  const kept = JSON.stringify({ ...accepted, principal } satisfies AcceptedRequest);
  try {
    if (!(await rows.put(row))) throw tooLarge();
    await events.append(id, owner, { firstNumber: 0, lastNumber, frames });
    // Last: from then on it may begin.
    if (!(await tasks.add({ id, owner, createdAtMs, request: kept, generationId }, WAITING_MAX))) {
      await rows.delete(id, owner);
      throw tooManyWait();
    }
  } catch (error) {
    throw error instanceof GatewayError ? error : storeIsAway(error);
  }
  onAccepted();
  return { ...response, output_text: '' };
}

async function cancel({ rows, tasks, events, origins, clock }: BackgroundDeps, row: ResponseRow): Promise<void> {
  const { id } = row;
  await tasks.cancel(id);
  const runner = randomUUID();
  const waiting = await tasks.claimWaiting(id, runner, LEASE_MS);
  if (waiting !== undefined) {
    const fold = await readLog(events, id);
    const response = asCancelled(responseOf(row), fold.output('incomplete'));
    await finishTask(
      { rows, tasks, events, origins, runner, leaseMs: LEASE_MS },
      waiting,
      row,
      response,
      fold.lastNumber + 1,
    );
    return;
  }
  const untilMs = clock.monotonicMs() + CANCEL_MS_MAX;
  while ((await tasks.status(id))?.state === 'running' && clock.monotonicMs() < untilMs) await wait(CANCEL_LOOK_MS);
}

function tooManyWait(): GatewayError {
  return new GatewayError(
    'rate_limit_exceeded',
    `${WAITING_MAX} responses of this key wait to run in the background. Try again when some of them have ended.`,
    { retryAfterMs: RETRY_AFTER_MS },
  );
}

function tooLarge(): GatewayError {
  return new GatewayError(
    'payload_too_large',
    'The request is larger than one response of this key may be (responses.max_mb_per_key).',
  );
}
