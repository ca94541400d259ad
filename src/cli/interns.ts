import { DEFAULT_WORKSPACE_ID } from '../accounts/principal.ts';
import { createSecrets } from '../accounts/byok/secrets.ts';
import { CONFIG_FLAGS, parseFlags } from '../config/flags.ts';
import { parseBlocks, textOf } from '../interns/history.ts';
import { INTERN_RUN, jobIdOf } from '../interns/runner.ts';
import { nextDueMs } from '../interns/schedule-rows.ts';
import { OPEN_MAX } from '../jobs/engine-deps.ts';
import { systemClock } from '../lib/clock.ts';
import { isUuid } from '../lib/ids.ts';
import { exactUsd } from '../lib/money.ts';
import type { Database } from '../store/engine/database.ts';
import type { InternInputRow, InternRow, InternRunRow } from '../store/interns/columns.ts';
import { createInternStore, type InternStore } from '../store/interns/interns.ts';
import { createRunStore, type RunStore } from '../store/interns/runs.ts';
import { createScheduleStore } from '../store/interns/schedules.ts';
import { createJobStore } from '../store/jobs/jobs.ts';
import { openAuditTrail, type RecordChange } from './audit/audit-trail.ts';
import { CommandError, unknownVerb, UsageError, type Io } from './command.ts';
import { configArgs, loadCheckedConfig } from './load-config.ts';
import { openConfiguredDatabase } from './open-database.ts';

const FLAGS = { ...CONFIG_FLAGS, workspace: { type: 'string' }, session: { type: 'boolean' } } as const;
/** Each with what it names. */
const VERBS = {
  list: undefined,
  waiting: undefined,
  runs: 'an intern',
  'schedule-preview': 'an intern',
  show: 'a run',
  approve: 'a call',
  deny: 'a call',
  cancel: 'a run',
} as const;
type Verb = keyof typeof VERBS;

const LISTED_MAX = 500;
/** Times of each schedule. */
const PREVIEWED = 5;

interface Area {
  readonly workspaceId: string;
  readonly database: Database;
  readonly store: InternStore;
  readonly runs: RunStore;
  readonly record: RecordChange;
  readonly print: (line: string) => void;
}

/** `model-gateway interns`: works on the store itself; a running gateway goes on with a run within seconds. */
export async function runInterns(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, FLAGS);
  const [word = '', operand, surplus] = words;
  const verb = Object.keys(VERBS).find((known): known is Verb => known === word);
  if (verb === undefined) throw unknownVerb('interns', word, Object.keys(VERBS));
  const wanted = VERBS[verb];
  if (wanted !== undefined && operand === undefined) throw new UsageError(`interns ${verb}: name ${wanted}`);
  const extra = wanted === undefined ? operand : surplus;
  if (extra !== undefined) throw new UsageError(`interns ${verb}: ${extra}: unexpected argument`);
  if (values.session === true && verb !== 'approve')
    throw new UsageError(`interns ${verb}: --session belongs to "interns approve"`);
  const { workspace: workspaceId = DEFAULT_WORKSPACE_ID } = values;
  if (!isUuid(workspaceId)) throw new UsageError('interns: --workspace takes the id of a workspace');
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  const database = await openConfiguredDatabase(config, { makes: false });
  const secrets = createSecrets(config);
  try {
    const area: Area = {
      workspaceId,
      database,
      store: createInternStore({ database }),
      runs: createRunStore({ database, box: () => secrets.box() }),
      record: openAuditTrail(database, io),
      // What models and tools wrote may hold anything; a terminal must not obey it.
      print: (line) => io.stdout.write(`${line.replace(/\p{Cc}/gu, ' ')}\n`),
    };
    await work(area, verb, operand ?? '', values.session === true);
    return 0;
  } finally {
    await database.close();
  }
}

async function work(area: Area, verb: Verb, operand: string, forSession: boolean): Promise<void> {
  switch (verb) {
    case 'list':
      return list(area);
    case 'waiting':
      return listWaiting(area);
    case 'runs':
      return listRuns(area, operand);
    case 'schedule-preview':
      return previewSchedules(area, operand);
    case 'show':
      return show(area, operand);
    case 'cancel':
      return cancel(area, operand);
    case 'approve':
      return answer(area, operand, forSession ? 'allow_session' : 'allow_once');
    case 'deny':
    default:
      return answer(area, operand, 'deny');
  }
}

async function list({ store, workspaceId, print }: Area): Promise<void> {
  const rows = await store.list({ workspaceId, statuses: [], after: undefined, limit: LISTED_MAX });
  for (const { id, status, model, name, settings } of rows ?? [])
    print(
      `${id}  ${status}  ${model ?? 'default model'}  ${settings.budget.limit_usd} USD ${settings.budget.interval}  ${name}`,
    );
}

async function waitingOf({ runs, workspaceId }: Area): Promise<readonly InternInputRow[]> {
  const page = await runs.listInputs({ workspaceId, pendingOnly: true }, { offset: 0, limit: LISTED_MAX });
  return page.rows;
}

async function listWaiting(area: Area): Promise<void> {
  for (const row of await waitingOf(area)) {
    const texts = await area.runs.ofRun({ internId: row.internId, runId: row.runId });
    area.print(
      `${row.id}  ${row.kind}  ${row.tool}  run ${row.runId}  until ${new Date(row.expiresAtMs).toISOString()}  ${texts.get(`${row.step} ${row.kind}`) ?? ''}`,
    );
  }
}

async function findIntern({ store, workspaceId }: Area, id: string): Promise<InternRow> {
  const intern = await store.find(id);
  if (intern?.workspaceId !== workspaceId)
    throw new CommandError(`There is no intern ${id} in the workspace; \`model-gateway interns list\` lists them.`);
  return intern;
}

/** The next times of each schedule: those of the clock changes may be a surprise. */
async function previewSchedules(area: Area, internId: string): Promise<void> {
  const { settings } = await findIntern(area, internId);
  const states = new Map((await createScheduleStore(area.database).ofIntern(internId)).map((row) => [row.id, row]));
  for (const schedule of settings.schedules) {
    const { id, cron, tz, enabled } = schedule;
    const isPaused = (states.get(id)?.pausedAtMs ?? null) !== null;
    area.print(`${id}  ${cron}  ${tz}  ${isPaused ? 'paused' : enabled ? 'on' : 'off'}`);
    let atMs: number | null = systemClock.nowMs();
    for (let count = 0; count < PREVIEWED && atMs !== null; count++) {
      atMs = nextDueMs(schedule, atMs);
      if (atMs !== null) area.print(`   ${new Date(atMs).toISOString()}`);
    }
  }
}

async function listRuns(area: Area, internId: string): Promise<void> {
  const { runs, print } = area;
  const intern = await findIntern(area, internId);
  const { rows } = await runs.list(intern.id, { offset: 0, limit: LISTED_MAX });
  for (const run of rows) print(formatRun(run));
}

function formatRun({ id, state, step, spentNanoUsd, createdAtMs, error }: InternRunRow): string {
  const failure = error === null ? '' : `  ${error}`;
  return `${id}  ${state}  ${step} steps  ${exactUsd(spentNanoUsd)} USD  ${new Date(createdAtMs).toISOString()}${failure}`;
}

async function findRun({ store, runs, workspaceId }: Area, id: string): Promise<InternRunRow> {
  const run = await runs.find(id);
  const intern = run && (await store.find(run.internId));
  if (run === undefined || intern?.workspaceId !== workspaceId)
    throw new CommandError(`There is no run ${id} in the workspace.`);
  return run;
}

async function show(area: Area, id: string): Promise<void> {
  const { runs, print } = area;
  const run = await findRun(area, id);
  const texts = await runs.ofRun({ internId: run.internId, runId: run.id });
  print(formatRun(run));
  print(`user  ${texts.get('prompt') ?? '(no longer kept)'}`);
  for (const { n, kind, name, state, costNanoUsd } of await runs.steps(run.id)) {
    const [input = '', output = ''] = [texts.get(`${n} input`), texts.get(`${n} output`)];
    print(`${n}  ${kind}  ${name}  ${state}  ${exactUsd(costNanoUsd)} USD  ${input}`);
    const said = kind === 'model' ? textOf(parseBlocks(output)) : output;
    if (said !== '') print(`   ${said}`);
  }
}

async function cancel(area: Area, id: string): Promise<void> {
  const run = await findRun(area, id);
  const cancelled = await area.runs.cancel(run.id, systemClock.nowMs());
  if (cancelled === undefined) throw new CommandError(`The run is over: ${run.state}.`);
  await createJobStore(area.database).cancel(jobIdOf(cancelled), 0);
  await area.record('interns cancel', `/interns/${run.internId}/runs/${run.id}`);
}

async function answer(area: Area, id: string, decision: 'allow_once' | 'allow_session' | 'deny'): Promise<void> {
  const { runs, database, record } = area;
  const input = (await waitingOf(area)).find((row) => row.id === id);
  if (input === undefined)
    throw new CommandError(
      `No call ${id} waits in the workspace; \`model-gateway interns waiting\` lists those that do.`,
    );
  const text = decision === 'deny' ? 'denied by the operator' : decision;
  const answered = await runs.answer(
    input,
    { decision, text, by: 'command line', state: 'answered' },
    systemClock.nowMs(),
  );
  if (!('run' in answered)) throw new CommandError('It was answered before, or its run is over.');
  const { run } = answered;
  const job = { id: jobIdOf(run), kind: INTERN_RUN, subjectId: run.id, delayMs: 0, checkpoint: {} };
  await createJobStore(database).add(job, OPEN_MAX);
  await record(`interns ${decision}`, `/interns/${input.internId}/inputs/${input.id}`);
}
