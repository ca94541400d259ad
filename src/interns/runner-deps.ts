import type { AgentRequestDeps } from './agent-request.ts';
import type { AdmitKey } from '../accounts/keys/authenticate.ts';
import type { Clock } from '../lib/clock.ts';
import type { OpenAgentSteps } from '../pipeline/agent/agent-steps.ts';
import type { InternInputRow, InternRow, InternRunRow } from '../store/interns/columns.ts';
import type { InternStore } from '../store/interns/interns.ts';
import type { MemoryStore } from '../store/interns/memory.ts';
import type { RunStore } from '../store/interns/runs.ts';

export interface StepBorder {
  readonly runId: string;
  readonly n: number;
  readonly kind: 'model' | 'tool';
  /** `acted`: it is done, and that is not stored yet. */
  readonly at: 'planned' | 'started' | 'acted' | 'done';
}

/** What people are notified of. */
export interface RunNotices {
  /** A run waits for a decision. */
  needsInput(intern: InternRow, input: InternInputRow): void;
  /** A run has failed, or no decision came in time. */
  failed(run: Pick<InternRunRow, 'id' | 'internId' | 'state' | 'scheduleId'>): void;
}

export interface RunnerDeps extends AgentRequestDeps {
  readonly interns: Pick<InternStore, 'find' | 'findVersion'>;
  readonly runs: RunStore;
  readonly memory: MemoryStore;
  readonly openAgent: OpenAgentSteps;
  readonly admitKey: AdmitKey;
  readonly clock: Clock;
  /** Whether risky tools may run without an approval. */
  readonly selfDrive: boolean;
  readonly approvalMs: number;
  /** Something of a run is stored. */
  readonly changed: (runId: string) => void;
  readonly notices: RunNotices;
  /** For tests: what happens at the border of a step. */
  readonly onBorder?: ((border: StepBorder) => Promise<void> | void) | undefined;
}
