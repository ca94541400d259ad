import { randomUUID } from 'node:crypto';
import type { AdmitKey } from '../accounts/keys/authenticate.ts';
import type { Workspaces } from '../accounts/workspaces/workspaces.ts';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import { isUuid } from '../lib/ids.ts';
import {
  classifierResource,
  withOther,
  type ClassifierPatch,
  type ClassifierRow,
  type NewClassifier,
} from '../resources/classifiers.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { KeptGenerations } from '../store/classifiers/kept-generations.ts';
import type { Job } from '../store/jobs/columns.ts';
import type { ClassifierDayRow, GenerationTagRow } from '../store/classifiers/columns.ts';
import type { ClassifierStore } from '../store/classifiers/classifiers.ts';
import type { Page, PageWindow } from '../store/engine/page.ts';
import { BACKFILL, beginBackfill, type BackfillInput } from './backfill.ts';
import { payerOf } from './payer.ts';
import { TEMPLATE_TEXTS } from './templates.ts';
import { createTryClassifier, type Trial, type TrialDeps, type TrialInput } from './try-classifier.ts';

export type { GenerationTagRow };

/** A classifier, and what it did since 00:00 UTC; absent: nothing. */
export interface ClassifierRecord {
  readonly row: ClassifierRow;
  readonly today: ClassifierDayRow | undefined;
}

export interface Classifiers {
  /** The oldest first. @throws GatewayError 400 for a workspace that is not there */
  list(window: PageWindow, workspaceId?: string): Promise<Page<ClassifierRecord>>;
  /** @throws GatewayError 404 */
  get(id: string): Promise<ClassifierRecord>;
  /** @throws GatewayError 400; 409 where the name is taken, or another one of the workspace is enabled */
  create(input: NewClassifier): Promise<ClassifierRecord>;
  /** @throws GatewayError 400, 404; 409, also where another request changed it meanwhile */
  update(id: string, change: ClassifierPatch): Promise<ClassifierRecord>;
  /** With its tags. @throws GatewayError 404 */
  delete(id: string): Promise<void>;
  /** Sorts conversations, and stores no tag. @throws GatewayError 400, 404 */
  test(id: string, input: TrialInput): Promise<readonly Trial[]>;
  /** Begins to sort conversations that were kept earlier. @throws GatewayError 400, 404, 409 */
  backfill(id: string, input: BackfillInput): Promise<Job>;
  /** The newest first. @throws GatewayError 404 */
  backfills(id: string): Promise<readonly Job[]>;
  /** @throws GatewayError 404, also where none is under way */
  cancelBackfill(id: string): Promise<void>;
  /** Of all classifiers and versions. */
  tagsOf(generationId: string): Promise<readonly GenerationTagRow[]>;
}

export interface ClassifiersDeps extends TrialDeps {
  readonly store: ClassifierStore;
  readonly kept: KeptGenerations;
  readonly jobs: Jobs;
  readonly workspaces: Pick<Workspaces, 'idOf'>;
  readonly admitKey: AdmitKey;
  /** @throws GatewayError 400 or 404 for a model that cannot classify, at `model` */
  readonly checkModel: (slug: string) => void;
}

const TRIAL_MS = 300_000;

export function createClassifiers(deps: ClassifiersDeps): Classifiers {
  const { store, workspaces, clock } = deps;
  const find = async (id: string): Promise<ClassifierRow> => {
    const row = isUuid(id) ? await store.find(id) : undefined;
    if (row === undefined) throw new GatewayError('not_found', 'There is no such classifier.');
    return row;
  };
  const recordOf = async (row: ClassifierRow): Promise<ClassifierRecord> => {
    const days = await store.today([row.id], clock.nowMs());
    return { row, today: days.get(row.id) };
  };
  return {
    async list(window, workspaceId) {
      const of = workspaceId === undefined ? undefined : await workspaces.idOf(workspaceId);
      const { rows, totalCount } = await store.list(window, of);
      const days = await store.today(
        rows.map(({ id }) => id),
        clock.nowMs(),
      );
      return { rows: rows.map((row) => ({ row, today: days.get(row.id) })), totalCount };
    },
    get: async (id) => recordOf(await find(id)),
    async create({ workspaceId, dimensions, ...input }) {
      const texts =
        input.template === undefined || input.template === null ? undefined : TEMPLATE_TEXTS[input.template];
      const given = dimensions ?? texts?.dimensions;
      if (given === undefined) throw invalid('dimensions', 'is required without a template');
      const nowMs = Math.floor(clock.nowMs());
      const row = classifierResource.newRow({
        ...input,
        prompt: input.prompt ?? texts?.prompt,
        id: randomUUID(),
        workspaceId: await workspaces.idOf(workspaceId),
        dimensions: withOther(given),
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      });
      await check(deps, row);
      const other = await store.insert(row);
      if (other !== undefined) throw taken(row, other);
      return recordOf(row);
    },
    async update(id, { dimensions, ...change }) {
      const before = await find(id);
      const changed: ClassifierRow = {
        ...before,
        ...change,
        ...(dimensions !== undefined && { dimensions: withOther(dimensions) }),
        // Never the same twice: it identifies what was read.
        updatedAtMs: Math.max(Math.floor(clock.nowMs()), before.updatedAtMs + 1),
      };
      const row = { ...changed, version: sortsDifferently(before, changed) ? before.version + 1 : before.version };
      await check(deps, row);
      const updated = await store.update(row, before);
      if (updated === false)
        throw new GatewayError('invalid_request', 'Another request changed the classifier meanwhile.', { status: 409 });
      if (updated !== true) throw taken(row, updated);
      return recordOf(row);
    },
    async delete(id) {
      await find(id);
      await store.remove(id);
    },
    ...runsOf(deps, find),
    tagsOf: (generationId) => store.tagsOf([generationId]),
  };
}

function runsOf(
  deps: ClassifiersDeps,
  find: (id: string) => Promise<ClassifierRow>,
): Pick<Classifiers, 'test' | 'backfill' | 'backfills' | 'cancelBackfill'> {
  const { jobs } = deps;
  const tryOnce = createTryClassifier(deps);
  return {
    test: async (id, input) => tryOnce(await find(id), input, AbortSignal.timeout(TRIAL_MS)),
    backfill: async (id, input) => beginBackfill(deps, await find(id), input),
    backfills: async (id) => jobs.ofSubject(BACKFILL, (await find(id)).id),
    async cancelBackfill(id) {
      const all = await jobs.ofSubject(BACKFILL, (await find(id)).id);
      const open = all.find(({ finishedAtMs }) => finishedAtMs === null);
      if (open === undefined || !(await jobs.cancel(BACKFILL, open.id)))
        throw new GatewayError('not_found', 'No backfill of the classifier is under way.');
    },
  };
}

/** Tags of before and after such a change do not compare. */
function sortsDifferently(before: ClassifierRow, after: ClassifierRow): boolean {
  return (
    before.model !== after.model ||
    before.prompt !== after.prompt ||
    JSON.stringify(before.dimensions) !== JSON.stringify(after.dimensions)
  );
}

async function check({ admitKey, checkModel }: ClassifiersDeps, row: ClassifierRow): Promise<void> {
  checkModel(row.model);
  const payer = await payerOf(admitKey, row);
  if (payer === undefined)
    throw invalid('payer_key_hash', 'must be the hash of a normal key of the workspace that is enabled');
}

function taken(row: ClassifierRow, other: ClassifierRow): GatewayError {
  const isName = other.name === row.name;
  const message = isName
    ? `The workspace has a classifier of this name: choose another name.`
    : `The classifier ${JSON.stringify(other.name)} (${other.id}) of the workspace is enabled: disable it first.`;
  return new GatewayError('invalid_request', message, {
    status: 409,
    metadata: { reason: isName ? 'name_taken' : 'other_enabled', classifier_id: other.id },
  });
}
