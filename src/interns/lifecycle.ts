import { randomBytes, randomUUID } from 'node:crypto';
import type { AdmitKey } from '../accounts/keys/authenticate.ts';
import type { Principal } from '../accounts/principal.ts';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import { nanoFromUsd } from '../lib/money.ts';
import type { Clock } from '../lib/clock.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { OpenAgentSteps } from '../pipeline/agent/agent-steps.ts';
import { DEFAULT_INTERN_SETTINGS, type InternSettings, type InternStatus } from '../resources/interns.ts';
import { keyResource, type KeyRow } from '../resources/keys.ts';
import type { KeyStore } from '../store/accounts/keys.ts';
import type { InternRow, InternRunRow } from '../store/interns/columns.ts';
import type { InternFilter, InternStore } from '../store/interns/interns.ts';
import type { RunStore } from '../store/interns/runs.ts';
import { callOf, type KeyedCall } from './idempotency.ts';
import { conflict, nameIsTaken, noSuch, noSuchIntern, notYours, otherBody } from './refusals.ts';
import { INTERN_RUN, jobIdOf } from './runner.ts';
import { requestOfAgent, type AgentRequestDeps } from './agent-request.ts';
import type { KeptShell } from '../canonical/tools/shell.ts';
import { containerOf, startContainer } from './container.ts';
import { scheduleRows } from './schedule-rows.ts';

/** What a body says of an agent. */
export interface InternDraft {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly instructions?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly settings: Partial<InternSettings>;
}

export interface LifecycleDeps extends AgentRequestDeps {
  readonly store: InternStore;
  readonly runs: RunStore;
  readonly keys: Pick<KeyStore, 'find' | 'insertInWorkspace' | 'update'>;
  readonly jobs: Jobs;
  readonly openAgent: OpenAgentSteps;
  /** Absent: there are none. */
  readonly containers?: KeptShell | undefined;
  readonly admitKey: AdmitKey;
  readonly isAdmin: (workspaceId: string, userId: string) => Promise<boolean>;
  /** Deletes the vault of an agent. */
  readonly removeSecrets: (internId: string) => Promise<void>;
  readonly selfDrive: boolean;
  /** Whose containers they are. */
  readonly accountId: string;
  readonly clock: Clock;
}

export interface Lifecycle {
  /** @throws GatewayError 404 for what is in another workspace */
  get(caller: Principal, id: string): Promise<InternRow>;
  /** @throws GatewayError 403 for a key that neither made it nor is an admin's */
  getOwn(caller: Principal, id: string): Promise<InternRow>;
  /** Whether there is one of this id in the workspace. */
  isIn(workspaceId: string, id: string): Promise<boolean>;
  list(filter: InternFilter): Promise<readonly InternRow[]>;
  create(
    caller: Principal,
    draft: InternDraft,
    keyed: KeyedCall,
    provision: boolean,
  ): Promise<{ readonly row: InternRow; readonly isNew: boolean }>;
  update(caller: Principal, id: string, draft: Partial<InternDraft>): Promise<InternRow>;
  provision(caller: Principal, id: string): Promise<InternRow>;
  suspend(caller: Principal, id: string): Promise<InternRow>;
  remove(caller: Principal, id: string): Promise<void>;
}

export const PROVISION_STEPS = ['key', 'vault', 'container', 'check'] as const;
const MODEL = /^[\w.~-]+\/[\w.-]+(?::[\w-]+)?$/;
const CHECK_MS_MAX = 30_000;
const KEY_HASH_BYTES = 32;
const DESTROY_TRIES = 3;
const BEFORE_PROVISION = ['queued', 'provisioning', 'running', 'failed', 'stopped'] as const satisfies InternStatus[];

export function createLifecycle(deps: LifecycleDeps): Lifecycle {
  const { store } = deps;
  const get: Lifecycle['get'] = async (caller, id) => {
    const row = await store.find(id);
    if (row === undefined || (caller.kind === 'normal' && row.workspaceId !== caller.workspaceId)) throw noSuchIntern();
    return row;
  };
  const getOwn: Lifecycle['getOwn'] = async (caller, id) => {
    const row = await get(caller, id);
    if (!(await mayChange(deps, caller, row))) throw notYours();
    return row;
  };
  return {
    get,
    getOwn,
    isIn: async (workspaceId, id) => (await store.find(id))?.workspaceId === workspaceId,
    async list(filter) {
      const rows = await store.list(filter);
      if (rows === undefined) throw invalid('query.starting_after', 'is not the cursor of a page');
      return rows;
    },
    async create(caller, draft, keyed, provisions) {
      const made = await create(deps, caller, draft, keyed);
      const isOpen = made.row.status !== 'running' && made.row.status !== 'stopped';
      return { ...made, row: provisions && isOpen ? await provision(deps, made.row) : made.row };
    },
    async update(caller, id, draft) {
      return update(deps, caller, await getOwn(caller, id), draft);
    },
    provision: async (caller, id) => provision(deps, await getOwn(caller, id)),
    async suspend(caller, id) {
      await getOwn(caller, id);
      const changes = { status: 'stopped', step: null, updatedAtMs: deps.clock.nowMs() } as const;
      return changed(await store.update(id, changes, BEFORE_PROVISION));
    },
    remove: async (caller, id) => remove(deps, await getOwn(caller, id)),
  };
}

export async function mayChange(
  deps: Pick<LifecycleDeps, 'isAdmin'>,
  caller: Principal,
  { creatorId, workspaceId }: InternRow,
): Promise<boolean> {
  return creatorId === creatorOf(caller) || seesAll(deps, caller, workspaceId);
}

/** A management key, or an admin of the workspace. */
export async function seesAll(
  { isAdmin }: Pick<LifecycleDeps, 'isAdmin'>,
  { kind, memberId }: Principal,
  workspaceId: string,
): Promise<boolean> {
  return kind === 'management' || (memberId !== null && isAdmin(workspaceId, memberId));
}

/** A user's keys are one creator. */
export function creatorOf({ memberId, keyHash }: Principal): string {
  return memberId ?? keyHash;
}

async function create(
  deps: LifecycleDeps,
  caller: Principal,
  draft: InternDraft,
  keyed: KeyedCall,
): Promise<{ readonly row: InternRow; readonly isNew: boolean }> {
  const settings = { ...DEFAULT_INTERN_SETTINGS, ...draft.settings };
  const { name, description = null, instructions, model = null } = draft;
  const id = randomUUID();
  await checkAttached(deps, caller, { id, settings });
  await checkDraft(deps, caller, { id, instructions: instructions ?? '', model, settings });
  const nowMs = deps.clock.nowMs();
  const row: InternRow = {
    id,
    workspaceId: caller.workspaceId,
    creatorId: creatorOf(caller),
    creatorKeyHash: caller.keyHash,
    name,
    description,
    instructions: instructions ?? '',
    model,
    settings,
    version: 1,
    status: 'queued',
    step: null,
    failure: null,
    // Random, and not the digest of a text: no key that could be sent has it.
    keyHash: randomBytes(KEY_HASH_BYTES).toString('hex'),
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  const created = await deps.store.create(row, callOf(keyed, id, nowMs), nowMs, scheduleRows(row, nowMs));
  switch (created.outcome) {
    case 'created':
    case 'replayed':
      return { row: created.row, isNew: created.outcome === 'created' };
    case 'body':
      throw otherBody();
    case 'name':
      throw nameIsTaken();
    case 'workspace':
    default:
      throw noSuch('workspace');
  }
}

/** @throws GatewayError 400 for a model or a tool that it cannot have, 403 for what the operator does not allow */
async function checkDraft(
  deps: LifecycleDeps,
  principal: Principal,
  draft: Pick<InternRow, 'id' | 'instructions' | 'model' | 'settings'>,
): Promise<void> {
  const { id, model, settings } = draft;
  if (model !== null && !MODEL.test(model)) throw invalid('model', 'must be author/slug, maybe with :variant');
  if (settings.approval.mode === 'self-drive' && !deps.selfDrive) throw selfDriveIsOff();
  const { tools } = await requestOfAgent(deps, { id, workspaceId: principal.workspaceId }, draft);
  if (tools.length === 0) return;
  await deps.openAgent({ runId: id, principal, models: [], tools, signal: AbortSignal.timeout(CHECK_MS_MAX) });
}

/** A caller lends no secrets of an agent that it may not change. @throws GatewayError 400, 403 */
async function checkAttached(
  deps: LifecycleDeps,
  caller: Principal,
  { id, settings }: Pick<InternRow, 'id' | 'settings'>,
): Promise<void> {
  const { attached_vault_id: attached } = settings;
  if (attached === null) return;
  const other = attached === id ? undefined : await deps.store.find(attached);
  if (other?.workspaceId !== caller.workspaceId)
    throw invalid('vault_id', 'must be the id of another intern of the workspace, or null');
  if (!(await mayChange(deps, caller, other))) throw notYours();
}

export function selfDriveIsOff(): GatewayError {
  return new GatewayError(
    'permission_denied',
    "Interns run risky tools without an approval only with interns: { self_drive: true } in the gateway's configuration.",
  );
}

async function update(
  deps: LifecycleDeps,
  caller: Principal,
  before: InternRow,
  { settings: given, ...draft }: Partial<InternDraft>,
): Promise<InternRow> {
  const settings = { ...before.settings, ...given };
  const { model = before.model, instructions = before.instructions } = draft;
  const owner = { ...caller, workspaceId: before.workspaceId };
  if (given?.attached_vault_id !== undefined) await checkAttached(deps, owner, { id: before.id, settings });
  await checkDraft(deps, owner, { id: before.id, instructions: instructions ?? '', model, settings });
  const nowMs = deps.clock.nowMs();
  const inUse = await deps.store.findVersion(before.id, before.version);
  const changes = {
    ...(draft.name !== undefined && { name: draft.name }),
    ...(draft.description !== undefined && { description: draft.description }),
    ...(draft.instructions !== undefined && { instructions: draft.instructions ?? '' }),
    model,
    settings,
    version: before.version + 1,
    // Runs have the model of the last provisioning; before the first one there is none to keep.
    ...(before.status !== 'queued' && { modelInUse: inUse?.model ?? null }),
    updatedAtMs: nowMs,
  };
  const schedules = given?.schedules && scheduleRows({ id: before.id, settings }, nowMs);
  const row = changed(
    await deps.store.update(before.id, { ...changes, ...(schedules && { schedules }) }, BEFORE_PROVISION),
  );
  if (given?.budget !== undefined)
    await deps.keys.update(row.keyHash, { ...limitOf(row), updatedAtMs: row.updatedAtMs });
  return row;
}

function changed(row: InternRow | 'name' | undefined): InternRow {
  if (row === 'name') throw nameIsTaken();
  if (row === undefined)
    throw conflict(
      'changed_meanwhile',
      'The intern is being deleted, or was changed at the same moment: read it again.',
    );
  return row;
}

/** Each step may run again: it goes on wherever an earlier one ended. */
async function provision(deps: LifecycleDeps, before: InternRow): Promise<InternRow> {
  const { store, clock } = deps;
  const step = async (n: number): Promise<InternRow> =>
    changed(
      await store.update(
        before.id,
        { status: 'provisioning', step: n, failure: null, updatedAtMs: clock.nowMs() },
        BEFORE_PROVISION,
      ),
    );
  const row = await step(1);
  try {
    await putKey(deps, row);
    await step(2);
    await checkVault(deps, row);
    await step(3);
    const principal = await deps.admitKey(row.keyHash);
    const request = await requestOfAgent(deps, row, row);
    await startContainer(deps.containers, principal, row.id, request.tools);
    await step(4);
    const signal = AbortSignal.timeout(CHECK_MS_MAX);
    const agent = await deps.openAgent({ runId: row.id, principal, ...request, signal });
    await agent.checkModel();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const failed = { status: 'failed', step: null, failure: error.message, updatedAtMs: clock.nowMs() } as const;
    return changed((await store.update(row.id, failed, ['provisioning'])) ?? (await ready(deps, row)));
  }
  const inUse = await store.findVersion(row.id, row.version);
  const running = { status: 'running', step: null, updatedAtMs: clock.nowMs() } as const;
  const isNewModel = inUse?.model !== row.model;
  const changes = isNewModel ? { ...running, version: row.version + 1 } : running;
  const provisioned = changed((await store.update(row.id, changes, ['provisioning'])) ?? (await ready(deps, row)));
  await resumeRuns(deps, provisioned);
  return provisioned;
}

/** @throws GatewayError 404 where the vault that it borrows has vanished */
async function checkVault({ store }: LifecycleDeps, { workspaceId, settings }: InternRow): Promise<void> {
  const { attached_vault_id: attached } = settings;
  if (attached === null || (await store.find(attached))?.workspaceId === workspaceId) return;
  throw new GatewayError('not_found', 'The attached vault is gone: set vault_id anew, or to null.');
}

/** What another call has provisioned at the same moment. */
async function ready({ store }: LifecycleDeps, { id }: InternRow): Promise<InternRow | undefined> {
  const row = await store.find(id);
  return row?.status === 'running' ? row : undefined;
}

/** Runs that paused while the agent was stopped. */
async function resumeRuns({ runs, jobs, clock }: LifecycleDeps, { id }: InternRow): Promise<void> {
  for (const open of await runs.openOf(id)) await giveToJob({ runs, jobs, clock }, open);
}

/** For what waits for a job: it may have one already. */
export async function giveToJob(
  { runs, jobs, clock }: Pick<LifecycleDeps, 'runs' | 'jobs' | 'clock'>,
  found: InternRunRow,
): Promise<void> {
  const changes = { state: 'queued', turn: found.turn + 1, updatedAtMs: clock.nowMs() } as const;
  const run = found.state === 'paused' ? await runs.change(found.id, ['paused'], changes, found.turn) : found;
  if (run?.state === 'queued') await addJob(jobs, run);
}

export async function addJob(jobs: Jobs, run: InternRunRow): Promise<void> {
  await jobs.add({ kind: INTERN_RUN, subjectId: run.id, id: jobIdOf(run) });
}

function limitOf({ settings: { budget } }: InternRow): Pick<KeyRow, 'limitNanoUsd' | 'limitReset'> {
  return {
    limitNanoUsd: nanoFromUsd(budget.limit_usd),
    limitReset: budget.interval === 'lifetime' ? null : budget.interval,
  };
}

/** The key that pays: it has no text, so that only runs use it. */
async function putKey({ keys, admitKey, clock }: LifecycleDeps, row: InternRow): Promise<void> {
  const limit = limitOf(row);
  const nowMs = clock.nowMs();
  if ((await keys.find(row.keyHash)) !== undefined) {
    // It stays disabled where it is: that is the word of an admin.
    await keys.update(row.keyHash, { ...limit, updatedAtMs: nowMs });
    return;
  }
  const creator = await admitKey(row.creatorKeyHash);
  const outcome = await keys.insertInWorkspace(
    keyResource.newRow({
      hash: row.keyHash,
      label: 'intern',
      name: `Intern: ${row.name}`,
      kind: 'normal',
      createdAtMs: nowMs,
      workspaceId: row.workspaceId,
      creatorUserId: creator.memberId,
      issuerKeyHash: creator.keyHash,
      issuerLabel: creator.label,
      ...(creator.kind === 'normal' && { rootKeyHash: creator.rootKeyHash ?? creator.keyHash }),
      ...limit,
    }),
  );
  // Another call has provisioned it at the same moment.
  if (outcome === 'inserted' || (await keys.find(row.keyHash)) !== undefined) return;
  if (outcome === 'not new')
    throw new GatewayError('permission_denied', 'The key that pays was deleted: create another intern.');
  throw new GatewayError('permission_denied', `The key that pays cannot be made: there is ${outcome}.`);
}

/** Each step may run again. After three failures the agent says so, and a further call goes on. */
async function remove(deps: LifecycleDeps, { id, keyHash, workspaceId }: InternRow): Promise<void> {
  const { store, runs, jobs, keys, clock, containers } = deps;
  await store.update(id, { status: 'destroying', step: null, updatedAtMs: clock.nowMs() });
  for (let attempt = 1; ; attempt++)
    try {
      for (const run of await runs.openOf(id)) await cancelRun({ runs, jobs, clock }, run);
      await keys.update(keyHash, { disabled: true, updatedAtMs: clock.nowMs() });
      await containers?.removeContainer({ accountId: deps.accountId, workspaceId }, containerOf(id));
      await deps.removeSecrets(id);
      await store.remove(id);
      return;
    } catch (error) {
      if (attempt < DESTROY_TRIES) continue;
      await store.update(id, { status: 'destroy_failed', failure: 'It could not be removed: delete it again.' });
      throw error;
    }
}

export async function cancelRun(
  { runs, jobs, clock }: Pick<LifecycleDeps, 'runs' | 'jobs' | 'clock'>,
  run: InternRunRow,
): Promise<InternRunRow> {
  const cancelled = await runs.cancel(run.id, clock.nowMs());
  await jobs.cancel(INTERN_RUN, jobIdOf(cancelled ?? run));
  return cancelled ?? (await runs.find(run.id)) ?? run;
}
