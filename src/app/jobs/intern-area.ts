import type { AdmitKey } from '../../accounts/keys/authenticate.ts';
import type { WorkspaceMembers } from '../../accounts/workspaces/workspace-members.ts';
import type { Config } from '../../config/config.ts';
import { createInterns, type Interns } from '../../interns/interns.ts';
import { giveToJob } from '../../interns/lifecycle.ts';
import type { RunnerDeps, RunNotices } from '../../interns/runner-deps.ts';
import { createRunKind } from '../../interns/runner.ts';
import { createRunSignals } from '../../interns/run-signals.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { createHousekeeping } from '../../lib/async/housekeeping.ts';
import type { Clock } from '../../lib/clock.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Notifications } from '../../notifications/notifications.ts';
import { createAgentSteps } from '../../pipeline/agent/agent-steps.ts';
import { createGenerate, type GenerateDeps } from '../../pipeline/generate.ts';
import type { KeyStore } from '../../store/accounts/keys.ts';
import type { Database } from '../../store/engine/database.ts';
import { createInternStore, type InternStore } from '../../store/interns/interns.ts';
import { createRunStore } from '../../store/interns/runs.ts';
import type { Log } from '../../telemetry/logs.ts';
import type { ClientFormat } from '../../wire/format.ts';

/** Saved agents. */
export interface InternArea {
  readonly interns: Interns;
  start(): void;
  close(): Promise<void>;
}

export interface InternAreaDeps {
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
const LOOK_PAUSE_MS = 100;
const AT_ONCE_MAX = 100;

/** Where there are none, or another process has them: `undefined`. */
export function openInternArea(deps: InternAreaDeps, generateDeps: GenerateDeps): InternArea | undefined {
  const { config, database, box, keyStore: keys, admitKey, members, jobs, clock, log } = deps;
  if (!config.interns.enabled || !deps.keepsStore) return undefined;
  const { selfDrive, retentionMs } = config.interns;
  const store = createInternStore({ database });
  const runs = createRunStore({ database, box });
  const openAgent = createAgentSteps({
    generateDeps,
    generate: createGenerate(generateDeps),
    format: deps.formats.chat,
  });
  const signals = createRunSignals();
  const notices = noticesOf(deps, store);
  jobs.register(
    createRunKind({
      interns: store,
      runs,
      openAgent,
      admitKey,
      clock,
      selfDrive,
      approvalMs: APPROVAL_MS,
      changed: (runId) => signals.changed(runId),
      notices,
      onBorder: deps.onInternStep,
    }),
  );
  const housekeeping = createHousekeeping({
    async work() {
      const nowMs = clock.nowMs();
      for (const run of await runs.expire(nowMs, AT_ONCE_MAX)) {
        signals.changed(run.id);
        notices.failed(run);
      }
      // Their process ended between the run and its job, or between the agent and its runs.
      for (const run of await runs.stranded(nowMs - LOOK_EVERY_MS, AT_ONCE_MAX))
        await giveToJob({ runs, jobs, clock }, run);
      return runs.clearAway(nowMs - retentionMs);
    },
    everyMs: LOOK_EVERY_MS,
    pauseMs: LOOK_PAUSE_MS,
    onFailed: (error) => log.general.warn({ err: error }, 'runs of interns could not be looked at: tried again later'),
  });
  return {
    interns: createInterns({
      store,
      runs,
      keys,
      jobs,
      openAgent,
      admitKey,
      isAdmin: (workspaceId, userId) => members.isAdmin(workspaceId, userId),
      selfDrive,
      clock,
      signals,
    }),
    start: () => housekeeping.start(),
    close: () => housekeeping.stop(),
  };
}

/** They name agents and tools, and hold nothing of what a model, a tool or a person said. */
function noticesOf({ notifications, log }: InternAreaDeps, store: Pick<InternStore, 'find'>): RunNotices {
  return {
    needsInput: ({ id, name, workspaceId }, { id: inputId, runId, tool, kind, expiresAtMs }) =>
      void notifications.raise({
        type: 'intern.needs_input',
        severity: 'warning',
        subject: `intern:${id}`,
        workspaceId,
        title: `The intern "${name}" waits for a decision`,
        text: `A run asks about the tool ${tool}. Without a decision it ends at ${new Date(expiresAtMs).toISOString()}.`,
        facts: { intern_id: id, intern: name, run_id: runId, tool, kind },
        link: '/ui/interns',
        mark: `intern.needs_input ${inputId}`,
        markUntilMs: expiresAtMs,
      }),
    failed({ id: runId, internId, state }) {
      const notify = async (): Promise<void> => {
        const intern = await store.find(internId);
        if (intern === undefined) return;
        const { name, workspaceId } = intern;
        await notifications.raise({
          type: 'intern.failed',
          severity: 'warning',
          subject: `intern:${internId}`,
          workspaceId,
          title: `A run of the intern "${name}" ${state === 'expired' ? 'got no decision in time' : 'has failed'}`,
          text: 'Its steps and its error are on the page of the run.',
          facts: { intern_id: internId, intern: name, run_id: runId, state },
          link: '/ui/interns',
        });
      };
      notify().catch((error: unknown) => log.general.warn({ err: error }, 'a failed run could not be reported'));
    },
  };
}
