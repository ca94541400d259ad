import type { Policy } from '../accounts/policy/policy.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import { isOperation, type ModelRequest } from '../canonical/operation.ts';
import type { Turn } from '../canonical/request.ts';
import type { Catalog, Model } from '../catalog/model.ts';
import { transcriptOf } from '../decisions/transcript.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Clock } from '../lib/clock.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { ClassifierFilters, ClassifierRow } from '../resources/classifiers.ts';
import type { ClassifierStore } from '../store/classifiers/classifiers.ts';
import { isSampled } from '../telemetry/is-sampled.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { RequestLog, RequestOwner } from '../telemetry/request-log.ts';
import { ResponseCapture, type CapturedResponse } from '../telemetry/response-capture.ts';
import { resolveModels } from '../pipeline/route/resolve-models.ts';
import { canRead, contentRulesOf } from './content-rules.ts';
import { CLASSIFY, purposeOf } from './job.ts';

type Arrived = Pick<RequestLog<ModelRequest>, 'id' | 'requestId' | 'origin' | 'principal' | 'request'>;

/** Takes conversations of settled generations for the classifiers of their workspaces. Off the path of requests. */
export interface ClassifierIntake {
  /** Begins to keep a response; `undefined`: no classifier will read it. */
  openCapture(log: Arrived): ResponseCapture | undefined;
  /** A generation has ended and was settled. Never throws; what follows runs in the background. */
  ended(record: GenerationRecord): void;
  /** Looks for classifiers that were changed in other processes. */
  refresh(): Promise<void>;
  /** Lets what is under way finish. */
  close(): Promise<void>;
}

export interface IntakeDeps {
  readonly store: Pick<ClassifierStore, 'enabled' | 'count' | 'subscribe'>;
  readonly jobs: Pick<Jobs, 'add' | 'dropOldest'>;
  readonly policyOf: (owner: RequestOwner) => Policy | Promise<Policy>;
  readonly box: () => Promise<SecretBox>;
  readonly catalog: Catalog;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly onFailed: (error: unknown, generationId: string) => void;
}

/** Conversations of one classifier that wait; the oldest are dropped, and counted. */
const WAITING_MAX = 1_000;
/** Conversations whose jobs are being stored; beyond it they are left out, and counted. */
const HANDING_MAX = 100;

export function createClassifierIntake(deps: IntakeDeps): ClassifierIntake {
  const { store, clock } = deps;
  let byWorkspace: ReadonlyMap<string, ClassifierRow> = new Map();
  const underWay = new Set<Promise<void>>();
  const refresh = async (): Promise<void> => {
    byWorkspace = new Map((await store.enabled()).map((row) => [row.workspaceId, row]));
  };
  const report = (error: unknown): void => deps.onFailed(error, '');
  store.subscribe(() => void refresh().catch(report));
  const classifierOf = (log: Arrived): ClassifierRow | undefined => {
    if (byWorkspace.size === 0) return undefined;
    const row = byWorkspace.get(log.principal.workspaceId);
    return row !== undefined && mayConcern(row, log) ? row : undefined;
  };
  return {
    openCapture: (log) => (classifierOf(log) === undefined ? undefined : new ResponseCapture(false)),
    ended(record) {
      const row = record.capture === undefined ? undefined : classifierOf(record);
      if (row === undefined || !fits(row, record)) return;
      const isFull = underWay.size >= HANDING_MAX;
      const handing = (isFull ? store.count(row.id, clock.nowMs(), { dropped: 1 }) : handOn(deps, row, record))
        .catch((error: unknown) => deps.onFailed(error, record.id))
        .finally(() => underWay.delete(handing));
      underWay.add(handing);
    },
    refresh,
    async close() {
      await Promise.all(underWay);
    },
  };
}

/** A request of a caller for a conversation, of those that are sampled: what is known when it arrives. */
function mayConcern({ samplingPpm, filters }: ClassifierRow, log: Arrived): boolean {
  const { id, requestId, origin, principal, request } = log;
  if (origin !== undefined || requestId !== id || isOperation(request)) return false;
  const { api_key_hashes: keys, min_turns: turns = 1 }: ClassifierFilters = filters ?? {};
  if (keys?.includes(principal.keyHash) === false || request.turns.length < turns) return false;
  return isSampled(request.directives.sessionId ?? id, samplingPpm);
}

/** The rest, which its end shows. */
function fits({ filters }: ClassifierRow, { error, end, endpoint }: GenerationRecord): boolean {
  if (error !== undefined || end === undefined || endpoint === undefined) return false;
  const { models, finish_reasons: reasons }: ClassifierFilters = filters ?? {};
  return reasons?.includes(end.finish) !== false && models?.some((name) => isModel(name, endpoint.model)) !== false;
}

/** `acme/*` is every model of acme. */
export function isModel(name: string, model: string): boolean {
  return name.endsWith('*') ? model.startsWith(name.slice(0, -1)) : name === model;
}

async function handOn(deps: IntakeDeps, row: ClassifierRow, record: GenerationRecord): Promise<void> {
  const { store, jobs, catalog, clock } = deps;
  const { id, principal, request, capture, createdMs } = record;
  if (isOperation(request) || capture === undefined) return;
  const rules = contentRulesOf(request.directives.provider, await deps.policyOf(principal));
  if (!modelsOf(catalog, row.model).some((model) => canRead(model, rules))) return;
  const transcript = transcriptOf([...request.turns, turnOf(capture.answer())], 'names');
  const box = await deps.box();
  const added = await jobs.add({
    kind: CLASSIFY,
    subjectId: row.id,
    id: `${CLASSIFY}:${row.id}:${row.version}:${id}`,
    checkpoint: {
      generationId: id,
      createdAtMs: createdMs,
      version: row.version,
      addedAtMs: clock.nowMs(),
      rules: { ...rules },
      sealed: box.seal(transcript, purposeOf(id)),
    },
  });
  const dropped = added === 'full' ? 1 : await jobs.dropOldest(CLASSIFY, row.id, WAITING_MAX);
  if (dropped > 0) await store.count(row.id, clock.nowMs(), { dropped });
}

/** Whatever the slug stands for now; none where nothing serves it. */
export function modelsOf(catalog: Catalog, slug: string): readonly Model[] {
  try {
    return resolveModels({ directives: { models: [slug] }, settings: {} }, undefined, catalog).models;
  } catch (error) {
    if (error instanceof GatewayError) return [];
    throw error;
  }
}

function turnOf({ text, toolCalls }: CapturedResponse): Turn {
  return {
    role: 'assistant',
    blocks: [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...toolCalls.map((call) => ({ type: 'tool-call' as const, ...call, runBy: 'caller' as const })),
    ],
  };
}
