import type { AdmitKey } from '../accounts/keys/authenticate.ts';
import type { Principal } from '../accounts/principal.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { KeptShell } from '../canonical/tools/shell.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { LoopTurns } from '../lib/async/loop-turns.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import type { EvaluationCalls } from '../pipeline/evaluation/evaluation-calls.ts';
import type { BlobStore } from '../store/accounts/blobs.ts';
import type { DatasetStore } from '../store/evaluations/datasets.ts';
import type { EvaluationRunStore } from '../store/evaluations/runs.ts';
import type { ScoreStore } from '../store/evaluations/scores.ts';

export interface EvaluationDeps {
  readonly datasets: DatasetStore;
  readonly runs: EvaluationRunStore;
  readonly scores: ScoreStore;
  /** The files of datasets, by the ids of datasets. */
  readonly blobs: Pick<BlobStore, 'write' | 'open' | 'remove'>;
  readonly calls: EvaluationCalls;
  /**
   * Reads a body of the chat format as a request of that key would be read, its preset included.
   * @param isCached its answer may come from the response cache
   * @throws GatewayError 400, 404
   */
  readonly decode: (
    body: JsonObject,
    principal: Pick<Principal, 'workspaceId'>,
    isCached: boolean,
  ) => Promise<GenerationRequest>;
  /** In which checks run commands. Absent: the gateway has no containers. */
  readonly containers?: KeptShell | undefined;
  readonly admitKey: AdmitKey;
  readonly jobs: Pick<Jobs, 'add' | 'cancel'>;
  readonly clock: Clock;
  readonly turns: LoopTurns;
  /** The slug of a model in the catalog, without a variant. `undefined`: there is none. */
  readonly slugOf: (model: string) => string | undefined;
  /** Published or imported scores have changed: every process reads them again. */
  readonly scoresChanged: () => Promise<void>;
}
