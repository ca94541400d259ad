import type { ClassifierAreaDeps } from './classifier-area.ts';
import { createKeptGenerations } from '../../store/classifiers/kept-generations.ts';
import type { ContentLog } from '../../telemetry/content-log.ts';
import { createReadKeptRequests } from './read-kept-requests.ts';
import type { KeptShell } from '../../canonical/tools/shell.ts';
import { join } from 'node:path';
import type { AdmitKey } from '../../accounts/keys/authenticate.ts';
import type { Presets } from '../../accounts/presets.ts';
import type { OwnMeasurement, Score } from '../../catalog/model.ts';
import type { Config } from '../../config/config.ts';
import type { EvaluationDeps } from '../../evaluations/deps.ts';
import { createEvaluations, type Evaluations } from '../../evaluations/evaluations.ts';
import { createEvaluationKind } from '../../evaluations/runner.ts';
import { readWithPreset, withFullNames } from '../../http/generation/apply-preset.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { createHousekeeping } from '../../lib/async/housekeeping.ts';
import type { Notifications } from '../../notifications/notifications.ts';
import type { NewEvent } from '../../notifications/raise.ts';
import { createEvaluationCalls } from '../../pipeline/evaluation/evaluation-calls.ts';
import { createGenerate, type GenerateDeps } from '../../pipeline/generate.ts';
import { createBlobStore } from '../../store/accounts/blobs.ts';
import type { Database } from '../../store/engine/database.ts';
import type { RunRow, ScoreRow } from '../../store/evaluations/columns.ts';
import { createDatasetStore } from '../../store/evaluations/datasets.ts';
import { createEvaluationRunStore } from '../../store/evaluations/runs.ts';
import { createScoreStore } from '../../store/evaluations/scores.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { decodeHeaderDirectives } from '../../wire/gateway/headers.ts';
import type { LiveCatalog } from '../catalog/live-catalog.ts';
import { filesDirectory } from '../file-area.ts';
import type { SharedDeps } from '../shared-deps.ts';

/** Benchmark runs, and the scores that the catalog has of them. */
export interface EvaluationArea {
  readonly evaluations: Evaluations;
  /** Reads the scores, and looks after runs where this process does. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface EvaluationAreaDeps extends SharedDeps {
  readonly config: Config;
  readonly database: Database;
  readonly live: LiveCatalog;
  readonly presets: Pick<Presets, 'use'>;
  readonly admitKey: AdmitKey;
  readonly jobs: Jobs;
  readonly formats: { readonly chat: ClientFormat };
  readonly waitForRecords: () => Promise<void>;
  readonly content: Pick<ContentLog, 'read'>;
  readonly policies: ClassifierAreaDeps['policies'];
  /** Absent: there are none, and no check runs a command. */
  readonly containers: KeptShell | undefined;
  readonly notifications: Pick<Notifications, 'raise'>;
  /** One process of a gateway does. */
  readonly keepsStore: boolean;
}

const TOPIC = 'model scores';
const FOLDER = 'evaluations';
const LOOK_EVERY_MS = 15_000;
const LOOK_PAUSE_MS = 100;
const PPM = 1_000_000;
const PLAIN = decodeHeaderDirectives({});
const CACHED = decodeHeaderDirectives({ 'x-service-cache': 'true' });

export function openEvaluationArea(deps: EvaluationAreaDeps, generateDeps: GenerateDeps): EvaluationArea {
  const { config, database, live, admitKey, jobs, clock, turns, log, formats, state } = deps;
  const { chat } = formats;
  const scores = createScoreStore(database);
  const readScores = async (): Promise<void> => live.scored(scoresByModel(await scores.all()));
  const onUnread = (error: unknown): void => log.general.warn({ err: error }, 'scores of models could not be read');
  state.invalidations.subscribe(TOPIC, () => void readScores().catch(onUnread));
  const evaluationDeps: EvaluationDeps = {
    datasets: createDatasetStore(database),
    runs: createEvaluationRunStore(database),
    scores,
    blobs: createBlobStore({ folder: join(filesDirectory(config), FOLDER) }),
    calls: createEvaluationCalls({
      generateDeps,
      generate: createGenerate(generateDeps),
      format: chat,
      decisionMs: config.decisions.timeoutMs,
    }),
    async decode(body, principal, isCached) {
      const sent = { principal, body, text: JSON.stringify(body), headers: isCached ? CACHED : PLAIN };
      const request = await readWithPreset(deps.presets, chat.id, (...of) => chat.decodeRequest(...of), sent);
      return withFullNames(request, (name) => live.catalog.rename?.(name) ?? name);
    },
    containers: deps.containers,
    admitKey,
    jobs,
    clock,
    turns,
    slugOf: (model) => (live.catalog.resolve?.(model)?.model ?? live.catalog.find(model))?.slug,
    async scoresChanged() {
      await readScores();
      state.invalidations.announce(TOPIC, '');
    },
  };
  jobs.register(
    createEvaluationKind({
      ...evaluationDeps,
      waitForRecords: deps.waitForRecords,
      onFinished: (run) => void deps.notifications.raise(noticeOfRun(run)),
    }),
  );
  const evaluations = createEvaluations({
    ...evaluationDeps,
    readKept: createReadKeptRequests({
      kept: createKeptGenerations(database),
      readContent: (id) => deps.content.read(id),
      policyOf: (subject) => deps.policies.policyOf(subject),
    }),
    checkBody: (body) => void chat.decodeRequest(body, JSON.stringify(body), PLAIN),
  });
  const housekeeping = createHousekeeping({
    async work() {
      await evaluations.revive();
      return false;
    },
    everyMs: LOOK_EVERY_MS,
    pauseMs: LOOK_PAUSE_MS,
    onFailed: (error) => log.general.warn({ err: error }, 'benchmark runs could not be looked at: tried again later'),
  });
  return {
    evaluations,
    async start() {
      await readScores().catch(onUnread);
      if (deps.keepsStore) housekeeping.start();
    },
    close: () => housekeeping.stop(),
  };
}

function noticeOfRun({ id, name, datasetName, state, reason, turn }: RunRow): NewEvent {
  const title = `The benchmark run "${name ?? datasetName}"`;
  return {
    type: 'evaluation.done',
    severity: state === 'done' ? 'info' : 'warning',
    subject: `evaluation:${id}`,
    title: state === 'done' ? `${title} is done` : `${title} ${state === 'paused' ? 'was paused' : 'has failed'}`,
    text: reason === null ? 'Its results are there.' : `The reason: ${reason}. What it has got is there.`,
    facts: { run_id: id, run: name, dataset: datasetName, state, reason },
    link: '/ui/evaluations',
    mark: `evaluation.done ${id} ${turn}`,
  };
}

function scoresByModel(rows: readonly ScoreRow[]): ReadonlyMap<string, readonly Score[]> {
  const bySlug = Map.groupBy(rows, ({ model }) => model);
  return new Map([...bySlug].map(([slug, found]) => [slug, found.map(scoreOf)]));
}

function scoreOf(row: ScoreRow): Score {
  const own: OwnMeasurement = {
    kind: row.source,
    ...(row.items !== null && { items: row.items }),
    ...(row.lowPpm !== null && { low: row.lowPpm / PPM }),
    ...(row.highPpm !== null && { high: row.highPpm / PPM }),
    ...(row.costNanoUsd !== null && { costNanoUsd: row.costNanoUsd }),
    ...(row.license !== null && { license: row.license }),
  };
  return {
    metric: row.metric,
    score: row.scorePpm / PPM,
    date: row.measuredOn,
    ...(row.citation !== null && { source: row.citation }),
    own,
  };
}
