import { DEFAULT_ACCOUNT_ID } from '../../accounts/principal.ts';
import type { AdmitKey } from '../../accounts/keys/authenticate.ts';
import type { WorkspaceMembers } from '../../accounts/workspaces/workspace-members.ts';
import type { Config } from '../../config/config.ts';
import type { AgentRequestDeps } from '../../interns/agent-request.ts';
import type { KeptShell } from '../../canonical/tools/shell.ts';
import { createInterns, type Interns } from '../../interns/interns.ts';
import { giveToJob } from '../../interns/lifecycle.ts';
import type { RunnerDeps, RunNotices } from '../../interns/runner-deps.ts';
import { createRunKind } from '../../interns/runner.ts';
import { createSchedules, type Schedules } from '../../interns/schedules.ts';
import { createRunSignals } from '../../interns/run-signals.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { createHousekeeping, type Housekeeping } from '../../lib/async/housekeeping.ts';
import type { Clock } from '../../lib/clock.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Notifications } from '../../notifications/notifications.ts';
import { createAgentSteps } from '../../pipeline/agent/agent-steps.ts';
import { createGenerate, type GenerateDeps } from '../../pipeline/generate.ts';
import type { KeyStore } from '../../store/accounts/keys.ts';
import type { Database } from '../../store/engine/database.ts';
import { createInternStore, type InternStore } from '../../store/interns/interns.ts';
import { createMemoryStore } from '../../store/interns/memory.ts';
import { createScheduleStore, type ScheduleStore } from '../../store/interns/schedules.ts';
import { createRunStore, type RunStore } from '../../store/interns/runs.ts';
import type { Log } from '../../telemetry/logs.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { noticesOf, scheduleNoticesOf } from './intern-notices.ts';

/** Saved agents. */
export interface InternArea {
  readonly interns: Interns;
  start(): void;
  close(): Promise<void>;
}

export interface InternAreaDeps extends AgentRequestDeps {
  readonly containers?: KeptShell | undefined;
  readonly removeSecrets: (internId: string) => Promise<void>;
  readonly config: Pick<Config, 'interns'>;
  readonly database: Database;
  readonly box: () => Promise<SecretBox>;
  readonly keyStore: KeyStore;
  readonly admitKey: AdmitKey;
  readonly members: Pick<WorkspaceMembers, 'isAdmin'>;
  readonly jobs: Jobs;
  readonly notifications: Pick<Notifications, 'raise'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly formats: { readonly chat: ClientFormat };
  /** One process of a gateway does. */
  readonly keepsStore: boolean;
  /** For tests. */
  readonly onInternStep?: RunnerDeps['onBorder'];
}

const APPROVAL_MS = 86_400_000;
const LOOK_EVERY_MS = 15_000;
const SCHEDULES_EVERY_MS = 5_000;
const LOOK_PAUSE_MS = 100;
const AT_ONCE_MAX = 100;

/** Where there are none, or another process has them: `undefined`. */
export function openInternArea(deps: InternAreaDeps, generateDeps: GenerateDeps): InternArea | undefined {
  const { config, database, box, keyStore: keys, admitKey, members, jobs, clock, log, readPreset, containers } = deps;
  if (!config.interns.enabled || !deps.keepsStore) return undefined;
  const { selfDrive } = config.interns;
  const store = createInternStore({ database });
  const runs = createRunStore({ database, box });
  const openAgent = createAgentSteps({
    generateDeps,
    generate: createGenerate(generateDeps),
    format: deps.formats.chat,
  });
  const signals = createRunSignals();
  const memory = createMemoryStore({ database, box });
  const scheduleStore = createScheduleStore(database);
  const onFailed = (error: unknown) =>
    log.general.warn({ err: error }, 'runs of interns could not be looked at: tried again later');
  const { schedules, notices } = openSchedules(deps, { store, runs, scheduleStore, onFailed });
  jobs.register(
    createRunKind({
      interns: store,
      runs,
      memory,
      openAgent,
      readPreset,
      admitKey,
      clock,
      selfDrive,
      approvalMs: APPROVAL_MS,
      changed: (runId) => signals.changed(runId),
      notices,
      onBorder: deps.onInternStep,
    }),
  );
  const rounds = roundsOf(deps, { runs, schedules, notices, changed: (runId) => signals.changed(runId), onFailed });
  return {
    interns: createInterns({
      store,
      runs,
      keys,
      jobs,
      openAgent,
      readPreset,
      containers,
      removeSecrets: deps.removeSecrets,
      accountId: DEFAULT_ACCOUNT_ID,
      admitKey,
      isAdmin: (workspaceId, userId) => members.isAdmin(workspaceId, userId),
      selfDrive,
      clock,
      signals,
      schedules: scheduleStore,
      memory,
    }),
    start() {
      for (const round of rounds) round.start();
    },
    async close() {
      await Promise.all(rounds.map((round) => round.stop()));
    },
  };
}

interface RoundDeps {
  readonly runs: RunStore;
  readonly schedules: Schedules;
  readonly notices: RunNotices;
  readonly changed: (runId: string) => void;
  readonly onFailed: (error: unknown) => void;
}

function roundsOf(
  { config, jobs, clock }: InternAreaDeps,
  { runs, schedules, notices, changed, onFailed }: RoundDeps,
): readonly Housekeeping[] {
  const lookAfterRuns = async (): Promise<boolean> => {
    const nowMs = clock.nowMs();
    for (const run of await runs.expire(nowMs, AT_ONCE_MAX)) {
      changed(run.id);
      notices.failed(run);
    }
    // Their process ended between the run and its job, or between the agent and its runs.
    for (const run of await runs.stranded(nowMs - LOOK_EVERY_MS, AT_ONCE_MAX))
      await giveToJob({ runs, jobs, clock }, run);
    return runs.clearAway(nowMs - config.interns.retentionMs);
  };
  const every = (everyMs: number, work: () => Promise<boolean>): Housekeeping =>
    createHousekeeping({ work, everyMs, pauseMs: LOOK_PAUSE_MS, onFailed });
  return [every(LOOK_EVERY_MS, lookAfterRuns), every(SCHEDULES_EVERY_MS, () => schedules.runDue())];
}

/** What begins runs by the clock, and what hears of runs that fail. */
function openSchedules(
  deps: InternAreaDeps,
  {
    store,
    runs,
    scheduleStore,
    onFailed,
  }: Pick<RoundDeps, 'runs' | 'onFailed'> & { readonly store: InternStore; readonly scheduleStore: ScheduleStore },
): Pick<RoundDeps, 'schedules' | 'notices'> {
  const { config, jobs, clock } = deps;
  const notices = noticesOf(deps, store);
  const schedules = createSchedules({
    runs,
    jobs,
    clock,
    selfDrive: config.interns.selfDrive,
    interns: store,
    schedules: scheduleStore,
    notices: scheduleNoticesOf(deps),
  });
  return {
    schedules,
    notices: {
      ...notices,
      failed(run) {
        notices.failed(run);
        schedules.failed(run).catch(onFailed);
      },
    },
  };
}
