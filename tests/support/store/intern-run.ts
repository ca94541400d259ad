import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Block } from '../../../src/canonical/blocks.ts';
import { NO_USAGE } from '../../../src/canonical/usage.ts';
import { newRun, newSession } from '../../../src/interns/new-run.ts';
import type { RunnerDeps } from '../../../src/interns/runner-deps.ts';
import { createRunKind, INTERN_RUN, jobIdOf } from '../../../src/interns/runner.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { createSecretBox, secretFrom } from '../../../src/lib/secret-box.ts';
import type { OpenAgent } from '../../../src/pipeline/agent/agent-steps.ts';
import { DEFAULT_INTERN_SETTINGS, type InternSettings } from '../../../src/resources/interns.ts';
import type { Job } from '../../../src/store/jobs/columns.ts';
import type { Database } from '../../../src/store/engine/database.ts';
import type { InternRow, InternRunRow } from '../../../src/store/interns/columns.ts';
import { createInternStore } from '../../../src/store/interns/interns.ts';
import { createMemoryStore } from '../../../src/store/interns/memory.ts';
import { createRunStore } from '../../../src/store/interns/runs.ts';
import { samplePrincipal } from '../principal.ts';

const RULES: InternSettings['approval']['rules'] = [
  { tool: 'write', decision: 'allow' },
  { tool: 'read', decision: 'allow' },
];
const box = createSecretBox([secretFrom('a secret of forty-odd letters for this test')]);

/** A model that calls a tool once, and then says something. */
function scriptedAgent(tool: 'write' | 'read', costNanoUsd: number) {
  const ran: string[] = [];
  let asked = 0;
  const agent: OpenAgent = {
    find: (name) => ({ type: `service:${name}`, onlyReads: () => name === 'read' }),
    checkModel: () => Promise.resolve(),
    ask(turns, _budget, onCost) {
      asked++;
      onCost(costNanoUsd);
      const isFirst = !turns.some(({ role }) => role === 'tool');
      const blocks: Block[] = isFirst
        ? [{ type: 'tool-call', id: 'c1', name: tool, input: '{"a":1}', runBy: 'caller' }]
        : [{ type: 'text', text: 'done' }];
      const rest = { format: undefined, id: undefined, model: undefined, citations: [], usage: undefined };
      const response = { ...rest, blocks, end: undefined, failure: undefined, extras: [], warnings: [] };
      return Promise.resolve({ generationId: 'gen-1', model: 'a/b', response, usage: NO_USAGE, costNanoUsd });
    },
    run(call) {
      ran.push(call.input);
      return Promise.resolve({ outcome: { result: 'ok' }, costNanoUsd: 0 });
    },
  };
  return { agent, ran, asked: () => asked };
}

/** An agent in a database, with a run that waits for a job. */
export async function openScriptedRun(
  database: Database,
  tool: 'write' | 'read',
  { costNanoUsd = 0, settings: own = {} }: { costNanoUsd?: number; settings?: Partial<InternSettings> } = {},
) {
  const interns = createInternStore({ database });
  const runs = createRunStore({ database, box: () => Promise.resolve(box) });
  const memory = createMemoryStore({ database, box: () => Promise.resolve(box) });
  const scripted = scriptedAgent(tool, costNanoUsd);
  const nowMs = clock.nowMs();
  const settings = { ...DEFAULT_INTERN_SETTINGS, approval: { mode: 'manual', rules: RULES }, ...own } as const;
  const id = randomUUID();
  const { workspaceId } = samplePrincipal();
  const texts = { name: id, description: null, instructions: 'Be kind.', model: null };
  const rest = { step: null, failure: null, keyHash: 'k', creatorId: 'c', creatorKeyHash: 'c' };
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const row: InternRow = { id, workspaceId, ...texts, settings, version: 1, status: 'running', ...rest, ...times };
  const call = { id, bodyHash: '', subjectId: id, expiresAtMs: nowMs + 1_000 };
  assert.equal((await interns.create(row, call, nowMs)).outcome, 'created');
  const facts = { sessionId: 's', runTrigger: 'chat', approvalMode: 'manual' } as const;
  const run = newRun(row, facts, nowMs);
  const session = newSession(run, 'c');
  const begin = (other = run, ofSession = session) =>
    runs.begin({ run: other, session: ofSession, prompt: 'hi', concurrentMax: 1, ownSessionOnly: true }, nowMs);
  assert.equal((await begin()).outcome, 'begun');
  const admitted = samplePrincipal();
  const kind = (more: Partial<RunnerDeps> = {}) =>
    createRunKind({
      interns,
      runs,
      memory,
      openAgent: () => Promise.resolve(scripted.agent),
      readPreset: () => Promise.reject(new Error('there are no presets')),
      admitKey: () => admitted,
      clock,
      selfDrive: false,
      approvalMs: 60_000,
      changed: () => undefined,
      notices: { needsInput: () => undefined, failed: () => undefined },
      ...more,
    });
  const work = async (more: Partial<RunnerDeps> = {}, save = () => Promise.resolve()) => {
    const now = await runs.find(run.id);
    assert.ok(now);
    return kind(more).run({ job: jobOf(now), signal: new AbortController().signal, save });
  };
  const find = () => runs.find(run.id);
  return { interns, runs, memory, row, run, session, admitted, kind, jobOf, work, begin, ...scripted, find };
}

/** The job that works on a run now. */
function jobOf(run: InternRunRow): Job {
  return {
    id: jobIdOf(run),
    kind: INTERN_RUN,
    subjectId: run.id,
    state: 'running',
    attempt: 1,
    runAfterMs: 0,
    leaseOwner: 'o',
    leaseUntilMs: 0,
    isCancelled: false,
    checkpoint: {},
    error: null,
    createdAtMs: 0,
    updatedAtMs: 0,
    finishedAtMs: null,
    expiresAtMs: null,
  };
}
