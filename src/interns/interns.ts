import type { Principal } from '../accounts/principal.ts';
import { parseJsonObject, type Json } from '../lib/json.ts';
import { randomText } from '../lib/ids.ts';
import { DECISIONS, type Decision } from '../resources/interns.ts';
import type {
  InternInputRow,
  InternRow,
  InternRunRow,
  InternScheduleRow,
  InternSessionRow,
} from '../store/interns/columns.ts';
import { VERSIONS_MAX, type MemoryStore, type MemoryVersion } from '../store/interns/memory.ts';
import type { ScheduleStore } from '../store/interns/schedules.ts';
import type { Page, PageWindow } from '../store/engine/page.ts';
import { createFollow, type Follow } from './follow.ts';
import { callOf, type KeyedCall } from './idempotency.ts';
import {
  addJob,
  cancelRun,
  createLifecycle,
  creatorOf,
  mayChange,
  seesAll,
  selfDriveIsOff,
  type Lifecycle,
  type LifecycleDeps,
} from './lifecycle.ts';
import { changeMemory, NO_MEMORY } from './memory.ts';
import { newRun, newSession } from './new-run.ts';
import { callIsGone, conflict, noSuch, notPending, notYours, otherBody, runInProgress } from './refusals.ts';
import type { RunSignals } from './run-signals.ts';

const TITLE_CHARS_MAX = 80;
const SESSION_ID_CHARS = 24;
const APPROVAL_MODES = ['manual', 'self-drive'] as const;
type ApprovalMode = (typeof APPROVAL_MODES)[number];

/** A message to an agent. */
export interface ChatInput {
  readonly text: string;
  /** Absent: a new session. */
  readonly sessionId?: string | undefined;
  readonly approvalMode?: ApprovalMode | undefined;
  /** Absent: the caller sent no idempotency key. */
  readonly keyed?: KeyedCall | undefined;
}

/** What a caller says to a question of a run. */
export interface AnswerInput {
  readonly inputId: string;
  readonly sessionId?: string | undefined;
  readonly decision: Decision;
  readonly text: string;
  /** Absent: the caller sent no idempotency key. */
  readonly keyed?: KeyedCall | undefined;
}

export interface ShownInput {
  readonly row: InternInputRow;
  readonly summary: string;
  readonly input: string;
}

/** Where a follower begins: after this step of this run. */
export interface Followed {
  readonly run: InternRunRow;
  readonly after: number;
}

export interface Interns extends Lifecycle, Follow {
  /** Begins a run, or goes on with the one that waits in the session. @throws GatewayError 409 */
  chat(caller: Principal, internId: string, input: ChatInput): Promise<Followed>;
  /** @throws GatewayError 403, 404, 409 for what was answered before */
  answer(caller: Principal, internId: string, input: AnswerInput): Promise<Followed>;
  findRun(caller: Principal, internId: string, runId: string): Promise<InternRunRow>;
  /** A run whose texts the caller may read. @throws GatewayError 403 for a run of another key's session */
  openRun(caller: Principal, internId: string, runId: string): Promise<InternRunRow>;
  /** @throws GatewayError 403 for a session of another key */
  openSession(caller: Principal, internId: string, sessionId: string): Promise<InternRow>;
  cancel(caller: Principal, internId: string, runId: string): Promise<InternRunRow>;
  runs: LifecycleDeps['runs'];
  /** Those that the caller may answer. @param internId absent: of all interns of the caller's workspace */
  inputs(
    caller: Principal,
    filter: { readonly internId?: string; readonly pendingOnly: boolean },
    window: PageWindow,
  ): Promise<Page<ShownInput>>;
  /** Those that the caller may read, with what each is about. */
  sessions(caller: Principal, internId: string, window: PageWindow): Promise<Page<ShownSession>>;
  schedules(caller: Principal, internId: string): Promise<readonly InternScheduleRow[]>;
  /** @throws GatewayError 403 for a key that may not change the agent, 404 for a version that is not kept */
  memory(caller: Principal, internId: string, version?: number): Promise<MemoryVersion>;
  /** @throws GatewayError 400 for a text that is too long */
  remember(caller: Principal, internId: string, text: string): Promise<MemoryVersion>;
}

export interface ShownSession {
  readonly row: InternSessionRow;
  /** The beginning of its first message; empty: it is no longer kept. */
  readonly title: string;
}

export interface InternsDeps extends LifecycleDeps {
  readonly signals: RunSignals;
  readonly schedules: ScheduleStore;
  readonly memory: MemoryStore;
}

export function createInterns(deps: InternsDeps): Interns {
  const lifecycle = createLifecycle(deps);
  const { runs } = deps;
  const findRun: Interns['findRun'] = async (caller, internId, runId) => {
    const { id } = await lifecycle.get(caller, internId);
    const run = await runs.find(runId);
    if (run?.internId !== id) throw noSuch('run');
    return run;
  };
  return {
    ...lifecycle,
    ...createFollow(deps),
    runs,
    findRun,
    chat: async (caller, internId, input) => chat(deps, caller, await lifecycle.get(caller, internId), input),
    answer: async (caller, internId, input) => answer(deps, caller, await lifecycle.get(caller, internId), input),
    async cancel(caller, internId, runId) {
      const run = await findRun(caller, internId, runId);
      const intern = await lifecycle.get(caller, internId);
      await checkSession(deps, caller, intern, run.sessionId);
      const cancelled = await cancelRun(deps, run);
      deps.signals.changed(run.id);
      return cancelled;
    },
    async openRun(caller, internId, runId) {
      const run = await findRun(caller, internId, runId);
      await checkSession(deps, caller, await lifecycle.get(caller, internId), run.sessionId);
      return run;
    },
    async openSession(caller, internId, sessionId) {
      const intern = await lifecycle.get(caller, internId);
      await checkSession(deps, caller, intern, sessionId);
      return intern;
    },
    async inputs(caller, { internId, pendingOnly }, window) {
      const intern = internId === undefined ? undefined : await lifecycle.get(caller, internId);
      const workspaceId = intern?.workspaceId ?? caller.workspaceId;
      const onlyOf = (await seesAll(deps, caller, workspaceId))
        ? undefined
        : { keyHash: caller.keyHash, creatorId: creatorOf(caller) };
      const page = await runs.listInputs({ workspaceId, internId: intern?.id, pendingOnly, onlyOf }, window);
      const rows = await Promise.all(page.rows.map((row) => showInput(deps, row)));
      return { ...page, rows };
    },
    async sessions(caller, internId, window) {
      const intern = await lifecycle.get(caller, internId);
      const page = await runs.sessions(intern.id, window, await onlyOfCaller(deps, caller, intern));
      const promptOf = ({ firstRunId }: InternSessionRow): string => `${firstRunId ?? ''} prompt`;
      const texts = await runs.named(intern.id, page.rows.map(promptOf));
      const rows = page.rows.map((row) => ({
        row,
        title: (texts.get(promptOf(row)) ?? '').slice(0, TITLE_CHARS_MAX),
      }));
      return { ...page, rows };
    },
    schedules: async (caller, internId) => deps.schedules.ofIntern((await lifecycle.get(caller, internId)).id),
    async memory(caller, internId, version) {
      const { id } = await lifecycle.getOwn(caller, internId);
      const kept = await deps.memory.last(id, version === undefined ? 1 : VERSIONS_MAX);
      const found = version === undefined ? (kept[0] ?? NO_MEMORY) : kept.find((each) => each.version === version);
      if (found === undefined) throw noSuch('version of the memory');
      return found;
    },
    async remember(caller, internId, text) {
      const { id, settings } = await lifecycle.getOwn(caller, internId);
      const by = `key ${caller.label}`;
      return changeMemory(deps, id, { kind: 'replace', text, by, bytesMax: settings.memory.max_bytes });
    },
  };
}

/** A key that may not change an agent sees its own sessions alone. */
async function onlyOfCaller(deps: InternsDeps, caller: Principal, intern: InternRow): Promise<string | undefined> {
  return (await mayChange(deps, caller, intern)) ? undefined : caller.keyHash;
}

export async function showInput({ runs }: Pick<InternsDeps, 'runs'>, row: InternInputRow): Promise<ShownInput> {
  const texts = await runs.ofRun({ internId: row.internId, runId: row.runId });
  const request = parseJsonObject(texts.get(`${row.step} ${row.kind}`) ?? '') ?? {};
  const { summary, input } = request;
  return { row, summary: asText(summary), input: asText(input) };
}

function asText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

async function chat(deps: InternsDeps, caller: Principal, intern: InternRow, input: ChatInput): Promise<Followed> {
  const { runs, clock, selfDrive, jobs } = deps;
  const { text, sessionId = randomText(SESSION_ID_CHARS), approvalMode, keyed } = input;
  const replayed = await findReplayed(deps, keyed);
  if (replayed !== undefined) return replayed;
  const { approval, limits } = intern.settings;
  const mode = approvalMode ?? approval.mode;
  if (mode === 'self-drive' && !selfDrive) throw selfDriveIsOff();
  const isPrivileged = await mayChange(deps, caller, intern);
  // A key that may not change the agent cannot lift its approvals either.
  if (mode === 'self-drive' && approval.mode === 'manual' && !isPrivileged) throw notYours();
  const session = await runs.findSession(intern.id, sessionId);
  // What was said and allowed in a session is of the key that began it.
  if (session !== undefined && session.keyHash !== caller.keyHash && !isPrivileged) throw notYours();
  const waiting = (await runs.ofSession(intern.id, sessionId, 1)).find(({ state }) => state === 'waiting_input');
  if (waiting !== undefined) return supersede(deps, caller, { run: waiting, message: text, keyed });
  const nowMs = clock.nowMs();
  const run = newRun(intern, { sessionId, runTrigger: 'chat', approvalMode: mode }, nowMs);
  const begun = await runs.begin(
    {
      run,
      session: newSession(run, caller.keyHash),
      prompt: text,
      call: keyed && callOf(keyed, run.id, nowMs),
      concurrentMax: limits.max_concurrent_runs,
      ownSessionOnly: !isPrivileged,
    },
    nowMs,
  );
  switch (begun.outcome) {
    case 'begun':
      await addJob(jobs, begun.run);
      return { run: begun.run, after: 0 };
    case 'replayed':
      return { run: begun.run, after: 0 };
    case 'body':
      throw otherBody();
    case 'busy':
      throw runInProgress();
    case 'full':
      throw conflict('run_in_progress', 'As many runs of this intern are under way as its limits allow: wait for one.');
    case 'foreign':
      throw notYours();
    case 'closed':
      throw callIsGone();
    case 'stopped':
    default:
      throw conflict('not_running', 'The intern does not run: provision it first.');
  }
}

/** What the same call made before: it must neither begin nor answer anything once more. */
async function findReplayed({ runs, clock }: InternsDeps, keyed: KeyedCall | undefined): Promise<Followed | undefined> {
  const found = keyed && (await runs.findCalled(keyed.id, clock.nowMs()));
  if (found === undefined) return undefined;
  if (found.bodyHash !== keyed?.bodyHash) throw otherBody();
  return { run: found.run, after: 0 };
}

/** What the user writes in place of an answer is a denial, and the next message of the run. */
async function supersede(
  deps: InternsDeps,
  caller: Principal,
  {
    run,
    message,
    keyed,
  }: { readonly run: InternRunRow; readonly message: string; readonly keyed: KeyedCall | undefined },
): Promise<Followed> {
  const pending = (await deps.runs.inputsOf(run.id)).find(({ state }) => state === 'pending');
  if (pending === undefined) throw runInProgress();
  return settle(
    deps,
    pending,
    {
      decision: 'deny',
      text: 'denied: the user wrote something else',
      by: caller.keyHash,
      state: 'superseded',
      message,
    },
    keyed,
  );
}

async function answer(
  deps: InternsDeps,
  caller: Principal,
  intern: InternRow,
  { inputId, sessionId, decision, text, keyed }: AnswerInput,
): Promise<Followed> {
  const { runs } = deps;
  const replayed = await findReplayed(deps, keyed);
  if (replayed !== undefined) return replayed;
  const input = await runs.findInput(intern.id, inputId);
  // Whatever a tool or a model made up is no call of ours.
  if (input === undefined || (sessionId !== undefined && input.sessionId !== sessionId)) throw notPending();
  await checkSession(deps, caller, intern, input.sessionId);
  const denied = text === '' ? 'denied by the user' : `denied by the user: ${text}`;
  const refusal = decision === 'deny' ? denied : decision;
  const said = input.kind === 'question' ? text || decision : refusal;
  return settle(deps, input, { decision, text: said, by: caller.keyHash, state: 'answered' }, keyed);
}

async function settle(
  { runs, jobs, clock, signals }: InternsDeps,
  input: InternInputRow,
  given: Omit<Parameters<InternsDeps['runs']['answer']>[1], 'call'>,
  keyed: KeyedCall | undefined,
): Promise<Followed> {
  const nowMs = clock.nowMs();
  const answered = await runs.answer(input, { ...given, call: keyed && callOf(keyed, input.runId, nowMs) }, nowMs);
  if (!('run' in answered)) throw answered.outcome === 'body' ? otherBody() : notPending();
  const { run } = answered;
  if (answered.outcome === 'answered') {
    await addJob(jobs, run);
    signals.changed(run.id);
  }
  return { run, after: input.step - 1 };
}

/** @throws GatewayError 403 where another key began the session, and the caller may not change the agent */
async function checkSession(deps: InternsDeps, caller: Principal, intern: InternRow, sessionId: string): Promise<void> {
  const session = await deps.runs.findSession(intern.id, sessionId);
  if (session?.keyHash !== caller.keyHash && !(await mayChange(deps, caller, intern))) throw notYours();
}

/** The content of a `tool` message: `{"decision": "allow_once"}`, or plain text, of which all but the exact words deny. */
export function parseAnswer(content: string): Pick<AnswerInput, 'decision' | 'text'> {
  const object = parseJsonObject(content);
  const said = object === undefined ? content.trim() : object['decision'];
  const decision = DECISIONS.find((one) => one === said) ?? 'deny';
  const text = object === undefined ? content : object['text'];
  return { decision, text: typeof text === 'string' && text !== decision ? text : '' };
}
