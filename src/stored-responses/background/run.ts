import type { Principal } from '../../accounts/principal.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Clock } from '../../lib/clock.ts';
import { newGenerationId } from '../../lib/ids.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { LostRun } from '../../pipeline/background/charge-lost-run.ts';
import type { Generate, IncomingRequest, KeepResponse } from '../../pipeline/request.ts';
import type { ResponseRow, ResponseRows } from '../../state/contract.ts';
import type { BackgroundTask, BackgroundTasks } from '../../store/responses/background-tasks.ts';
import type { FindRefusedKeys } from '../../store/responses/refused-keys.ts';
import type { ResponseEvents } from '../../store/responses/response-events.ts';
import type { ClientFormat } from '../../wire/format.ts';
import type { HeaderDirectives } from '../../wire/gateway/headers.ts';
import { asCancelled, asFailed } from '../../wire/responses/response/background.ts';
import type { ResponseFold } from '../../wire/responses/response/fold-events.ts';
import { generationIdOf } from '../../wire/responses/response/response-out.ts';
import { objectsOf } from '../items.ts';
import { responseOf } from '../rows.ts';
import { EventWriter } from './event-writer.ts';
import { readLog } from './read-log.ts';

/** What is kept of a request until it runs. */
export interface AcceptedRequest {
  readonly text: string;
  readonly headers: HeaderDirectives;
  readonly principal: Principal;
  readonly isLarge: boolean;
}

export interface RunDeps {
  readonly rows: Pick<ResponseRows, 'find' | 'put'>;
  readonly tasks: BackgroundTasks;
  readonly events: ResponseEvents;
  readonly generate: Generate;
  readonly format: ClientFormat;
  /** @throws GatewayError what refuses the request by now */
  readonly decode: (accepted: AcceptedRequest) => Promise<GenerationRequest>;
  readonly findRefusedKeys: FindRefusedKeys;
  /** The charge of a run whose process is gone, by what it had sent. */
  readonly chargeLost: (lost: LostRun) => Promise<void>;
  readonly clock: Clock;
  /** Bound on one run. */
  readonly totalMs: number;
}

/** How a run is stopped from outside. */
export type Stop = 'cancelled' | 'lost' | 'drain' | 'refused';

/** A run and what came of it. */
export interface Run {
  readonly writer: EventWriter;
  readonly begun: ResponseRow;
  /** Settles when it has ended. `undefined`: it is to run again. */
  readonly ended: Promise<JsonObject | undefined>;
  stop(why: Stop): void;
}

/** A run that was lost before it had an item runs once more. */
const RUNS_MAX = 2;

/** @returns `undefined` where the response was deleted */
export async function beginRun(
  deps: RunDeps,
  task: BackgroundTask,
  runner: string,
  onFull: () => void,
): Promise<Run | undefined> {
  const begun = await deps.rows.find(task.id, task.owner);
  if (begun === undefined) return undefined;
  const fold = await readLog(deps.events, task.id);
  const writer = new EventWriter(fold, onFull);
  let stopped: Stop | undefined;
  const ended = run(deps, task, runner, { begun, writer, why: () => stopped });
  return {
    writer,
    begun,
    ended,
    stop(why) {
      stopped ??= why;
      writer.stop();
    },
  };
}

interface Running {
  readonly begun: ResponseRow;
  readonly writer: EventWriter;
  readonly why: () => Stop | undefined;
}

async function run(
  deps: RunDeps,
  task: BackgroundTask,
  runner: string,
  { begun, writer, why }: Running,
): Promise<JsonObject | undefined> {
  const { fold } = writer;
  const response = fold.response ?? responseOf(begun);
  // Its process was gone between the row and the last event.
  if (begun.status !== 'queued') return responseOf(begun);
  if (task.isCancelled) return asCancelled(response, fold.output('incomplete'));
  const accepted: AcceptedRequest = JSON.parse(task.request);
  const { keyHash } = accepted.principal;
  const isRefused = (await deps.findRefusedKeys([keyHash])).has(keyHash);
  if (isRefused && !task.wasLost) return asFailed(response, fold.output('incomplete'), KEY_REFUSED);
  const request = await deps.decode(accepted).catch((error: unknown) => {
    if (error instanceof GatewayError) return error;
    throw error;
  });
  if (request instanceof GatewayError) return asFailed(response, fold.output('incomplete'), request);
  if (task.wasLost && (isRefused || fold.hasItems || task.runs > RUNS_MAX)) {
    await deps.chargeLost(lostRunOf(task, accepted, request, fold));
    return asFailed(response, fold.output('incomplete'), isRefused ? KEY_REFUSED : LOST);
  }
  const generationId = task.runs === 1 ? task.generationId : newGenerationId(deps.clock.nowMs());
  if (generationId !== task.generationId) await deps.tasks.record(task.id, runner, generationId);
  let kept: JsonObject | undefined;
  const keep: KeepResponse = (ended) => {
    kept = ended;
    return Promise.resolve(true);
  };
  const incoming: IncomingRequest = {
    id: generationId,
    request: { ...request, delivery: 'stream' },
    principal: accepted.principal,
    arrivedMs: deps.clock.monotonicMs(),
    isLarge: accepted.isLarge,
    keep,
    background: {
      generationId: generationIdOf(task.id) ?? generationId,
      acceptedMs: task.createdAtMs,
      nextEvent: fold.lastNumber + 1,
      totalMs: deps.totalMs,
    },
  };
  await deps.generate(incoming, deps.format, writer);
  const last = writer.terminal?.data['response'];
  return endOf(kept ?? (isJsonObject(last) ? last : response), fold, why());
}

/** The response by what ended it; `undefined` where it is to run again. */
function endOf(last: JsonObject, fold: ResponseFold, why: Stop | undefined): JsonObject | undefined {
  const isWhole = last['status'] === 'completed' || last['status'] === 'incomplete';
  const output = objectsOf(last['output']);
  if (why === undefined || isWhole) return { ...last, store: true };
  if (why === 'cancelled') return asCancelled(last, output);
  if (why === 'refused') return asFailed(last, output, KEY_REFUSED);
  return fold.hasItems ? asFailed(last, output, LOST) : undefined;
}

const KEY_REFUSED = new GatewayError(
  'authentication',
  'The API key of this response was disabled or deleted, or has expired, before the response ended.',
);
const LOST = new GatewayError('provider_unavailable', 'The gateway was stopped while it ran this response.');

function lostRunOf(
  { generationId }: BackgroundTask,
  { principal }: AcceptedRequest,
  request: GenerationRequest,
  fold: ResponseFold,
): LostRun {
  const { model, provider } = fold.response ?? {};
  return {
    generationId,
    request,
    principal,
    model: typeof model === 'string' ? model : undefined,
    provider: typeof provider === 'string' ? provider : undefined,
    text: readableText(fold.output('incomplete')),
  };
}

/** What a model wrote of the items: their texts and the inputs of calls. */
function readableText(items: readonly JsonObject[]): string {
  return items
    .flatMap(({ content, summary, arguments: call, input }) => [
      ...[...objectsOf(content), ...objectsOf(summary)].map((part) => part['text'] ?? part['refusal']),
      call,
      input,
    ])
    .filter((text) => typeof text === 'string')
    .join('');
}
