import type { AdmitKey } from '../../accounts/keys/authenticate.ts';
import type { Workspaces } from '../../accounts/workspaces/workspaces.ts';
import type { PolicyCache } from '../../accounts/policy/policy-cache.ts';
import type { Catalog } from '../../catalog/model.ts';
import { createBackfillKind } from '../../classifiers/backfill.ts';
import { createClassifiers, type Classifiers } from '../../classifiers/classifiers.ts';
import { createClassifyKind, type ClassifyKindDeps } from '../../classifiers/classify-kind.ts';
import { createClassifierIntake, type ClassifierIntake } from '../../classifiers/intake.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { createHousekeeping } from '../../lib/async/housekeeping.ts';
import type { Clock } from '../../lib/clock.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Notifications } from '../../notifications/notifications.ts';
import { judgeOf } from '../../pipeline/decisions/judge-model.ts';
import { createGenerate, type GenerateDeps } from '../../pipeline/generate.ts';
import type { InvalidationBus } from '../../state/contract.ts';
import type { Database } from '../../store/engine/database.ts';
import { DAY_MS } from '../../store/usage/hours.ts';
import { createClassifierStore, type ClassifierStore } from '../../store/classifiers/classifiers.ts';
import { createKeptGenerations } from '../../store/classifiers/kept-generations.ts';
import { createGenerationStore } from '../../store/generations/generations.ts';
import type { PolicySubject } from '../../store/accounts/policy-layers.ts';
import type { ContentLog } from '../../telemetry/content-log.ts';
import type { Log } from '../../telemetry/logs.ts';
import type { ClientFormat } from '../../wire/format.ts';

export interface ClassifierDeps {
  readonly database: Database;
  readonly invalidations?: InvalidationBus | undefined;
  readonly policies: Pick<PolicyCache, 'policyOf'>;
  readonly box: () => Promise<SecretBox>;
  readonly jobs: Jobs;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly log: Log;
}

/** What takes conversations for classifiers, in every process that serves. */
export interface ClassifierInput {
  readonly store: ClassifierStore;
  readonly intake: ClassifierIntake;
  start(): void;
  close(): Promise<void>;
}

/** A classifier that was made or changed in another process is known after this, where the change was not announced. */
const REFRESH_MS = 10_000;

export function openClassifierInput(deps: ClassifierDeps): ClassifierInput {
  const { jobs, catalog, clock, log, box } = deps;
  const store = createClassifierStore(deps);
  const intake = createClassifierIntake({
    store,
    jobs,
    policyOf: (owner) => deps.policies.policyOf(owner),
    box,
    catalog,
    clock,
    onFailed: (error, id) =>
      log.general.warn({ err: error, id }, 'a conversation could not be handed to its classifier'),
  });
  const refreshing = createHousekeeping({
    async work() {
      await intake.refresh();
      return false;
    },
    everyMs: REFRESH_MS,
    pauseMs: REFRESH_MS,
    onFailed: (error) => log.general.warn({ err: error }, 'classifiers could not be read: tried again later'),
  });
  return {
    store,
    intake,
    start: () => refreshing.start(),
    async close() {
      await refreshing.stop();
      await intake.close();
    },
  };
}

export interface ClassifierAreaDeps extends Pick<
  ClassifierDeps,
  'box' | 'jobs' | 'catalog' | 'clock' | 'database' | 'policies'
> {
  readonly input: Pick<ClassifierInput, 'store'>;
  readonly workspaces: Pick<Workspaces, 'idOf'>;
  readonly admitKey: AdmitKey;
  readonly notifications: Pick<Notifications, 'raise'>;
  readonly formats: { readonly chat: ClientFormat };
  readonly content: Pick<ContentLog, 'read'>;
  readonly waitForRecords: () => Promise<void>;
  /** For tests. */
  readonly classifyRetryMs?: number | undefined;
}

/** Custom classifiers: their management, and the jobs that sort. */
export function openClassifiers(deps: ClassifierAreaDeps, generateDeps: GenerateDeps): Classifiers {
  const { input, jobs, admitKey, clock, notifications } = deps;
  const { store } = input;
  const judging = { catalog: deps.catalog, plugins: generateDeps.plugins };
  const calling = {
    ...judging,
    store,
    admitKey,
    generate: createGenerate(generateDeps),
    format: deps.formats.chat,
    clock,
  };
  const generations = createGenerationStore(deps);
  const keeping = {
    kept: createKeptGenerations(deps.database),
    readContent: (id: string) => deps.content.read(id),
    policyOf: (subject: PolicySubject) => deps.policies.policyOf(subject),
    findGeneration: (id: string) => generations.find(id),
    waitForRecords: deps.waitForRecords,
  };
  jobs.register(createBackfillKind({ ...calling, ...keeping }));
  jobs.register(
    createClassifyKind({
      ...calling,
      box: deps.box,
      onLimit: onceADay(
        clock,
        (row) =>
          void notifications.raise({
            type: 'classifier.capped',
            severity: 'warning',
            subject: `classifier:${row.id}`,
            workspaceId: row.workspaceId,
            title: `The classifier "${row.name}" has reached its cost limit of the day`,
            text: 'It sorts nothing more until 00:00 UTC. Raise its limit, or lower its sampling rate.',
            facts: { classifier_id: row.id, classifier: row.name },
            link: '/ui/requests?request_origin=classifier',
            mark: `classifier.capped ${row.id} ${new Date(clock.nowMs()).toISOString().slice(0, 10)}`,
          }),
      ),
      retryMs: deps.classifyRetryMs,
    }),
  );
  return createClassifiers({
    ...calling,
    ...keeping,
    jobs,
    workspaces: deps.workspaces,
    checkModel: (slug) => void judgeOf(judging, { models: [slug] }),
  });
}

const CLASSIFIERS_MAX = 10_000;

/** Once for each classifier and day, UTC, in this process. */
function onceADay(clock: Pick<Clock, 'nowMs'>, notify: ClassifyKindDeps['onLimit']): ClassifyKindDeps['onLimit'] {
  const notified = new Map<string, number>();
  return (row) => {
    const day = Math.floor(clock.nowMs() / DAY_MS);
    if (notified.get(row.id) === day) return;
    if (notified.size >= CLASSIFIERS_MAX) notified.clear();
    notified.set(row.id, day);
    notify(row);
  };
}
