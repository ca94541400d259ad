import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { samplePrincipal } from '../../tests/support/principal.ts';
import { ENGINES, type Place } from '../../tests/support/store/engines.ts';
import type { Block } from '../canonical/blocks.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import { systemClock as clock } from '../lib/clock.ts';
import { createSecretBox, secretFrom } from '../lib/secret-box.ts';
import type { OpenAgent } from '../pipeline/agent/agent-steps.ts';
import { DEFAULT_INTERN_SETTINGS, type InternSettings } from '../resources/interns.ts';
import type { Job } from '../store/jobs/columns.ts';
import { openDatabase, type Database } from '../store/engine/database.ts';
import type { InternRow, InternRunRow } from '../store/interns/columns.ts';
import { createInternStore } from '../store/interns/interns.ts';
import { createRunStore } from '../store/interns/runs.ts';
import type { RunnerDeps, StepBorder } from './runner-deps.ts';
import { createRunKind, INTERN_RUN, jobIdOf } from './runner.ts';

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
    functions: [],
    find: (name) => ({ type: `service:${name}`, onlyReads: () => name === 'read' }),
    checkModel: () => Promise.resolve(),
    ask(turns) {
      asked++;
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

class Crash extends Error {}

for (const engine of ENGINES)
  suite(`runs of interns: ${engine.name}`, () => {
    let place: Place;
    let database: Database;
    before(async () => {
      place = await engine.makePlace();
      database = await openDatabase({ ...place, clock });
    });
    after(async () => {
      await database.close();
      await place.remove();
    });

    async function open(tool: 'write' | 'read', { costNanoUsd = 0 } = {}) {
      const interns = createInternStore({ database });
      const runs = createRunStore({ database, box: () => Promise.resolve(box) });
      const scripted = scriptedAgent(tool, costNanoUsd);
      const nowMs = clock.nowMs();
      const settings = { ...DEFAULT_INTERN_SETTINGS, approval: { mode: 'manual', rules: RULES } } as const;
      const id = randomUUID();
      const { workspaceId } = samplePrincipal();
      const texts = { name: id, description: null, instructions: 'Be kind.', model: null };
      const rest = { step: null, failure: null, keyHash: 'k', creatorId: 'c', creatorKeyHash: 'c' };
      const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
      const row: InternRow = { id, workspaceId, ...texts, settings, version: 1, status: 'running', ...rest, ...times };
      const call = { id, bodyHash: '', subjectId: id, expiresAtMs: nowMs + 1_000 };
      assert.equal((await interns.create(row, call, nowMs)).outcome, 'created');
      const run: InternRunRow = {
        id: randomUUID(),
        internId: id,
        sessionId: 's',
        version: 1,
        runTrigger: 'chat',
        state: 'queued',
        turn: 1,
        step: 0,
        spentNanoUsd: 0,
        promptTokens: 0,
        completionTokens: 0,
        leftMs: 60_000,
        approvalMode: 'manual',
        ending: null,
        error: null,
        ...times,
        finishedAtMs: null,
      };
      const session = { internId: id, id: 's', title: '', keyHash: 'c', createdAtMs: nowMs, lastAtMs: nowMs };
      const begin = (other = run) => runs.begin({ run: other, session, prompt: 'hi', concurrentMax: 1 }, nowMs);
      assert.equal((await begin()).outcome, 'begun');
      const work = async (more: Partial<RunnerDeps> = {}, saves: () => Promise<void> = () => Promise.resolve()) => {
        const kind = createRunKind({
          interns,
          runs,
          openAgent: () => Promise.resolve(scripted.agent),
          admitKey: () => samplePrincipal(),
          clock,
          selfDrive: false,
          approvalMs: 60_000,
          changed: () => undefined,
          ...more,
        });
        const now = await runs.find(run.id);
        assert.ok(now);
        const job: Job = {
          id: jobIdOf(now),
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
        const signal = new AbortController().signal;
        return kind.run({ job, signal, save: saves });
      };
      return { interns, runs, run, work, begin, ...scripted, find: async () => runs.find(run.id) };
    }

    const BORDERS = ['planned', 'started', 'acted', 'done'] as const;
    const crashAt = (n: number, at: StepBorder['at']) => ({
      onBorder: (border: StepBorder) => {
        if (border.n === n && border.at === at) throw new Crash();
      },
    });

    for (const n of [1, 2, 3])
      for (const at of BORDERS)
        // @spec intern-11
        test(`writes once, and ends, after a crash at step ${n}, ${at}`, async () => {
          const { work, find, ran, runs, run } = await open('write');
          await assert.rejects(work(crashAt(n, at)), Crash);
          await work();
          const isUnknown = n === 2 && (at === 'started' || at === 'acted');
          if (isUnknown) {
            assert.equal((await find())?.state, 'waiting_input');
            const [input] = await runs.inputsOf(run.id);
            assert.equal(input?.kind, 'question');
            const answer = { decision: 'deny', text: 'it ran', by: 'c', state: 'answered' } as const;
            assert.ok(input && (await runs.answer(input, answer, clock.nowMs())));
            assert.equal(await runs.answer(input, answer, clock.nowMs()), undefined);
            await work();
          }
          assert.equal((await find())?.state, 'done');
          assert.equal(ran.length, isUnknown && at === 'started' ? 0 : 1);
        });

    // @spec intern-11
    test('reads once more after a crash, without a question', async () => {
      const { work, find, ran } = await open('read');
      await assert.rejects(work(crashAt(2, 'acted')), Crash);
      await work();
      assert.equal((await find())?.state, 'done');
      assert.equal(ran.length, 2);
    });

    test('acts no more once another process has the run', async () => {
      const { work, ran } = await open('write');
      const lost = () => Promise.reject(new Crash());
      await assert.rejects(work({}, lost), Crash);
      assert.deepEqual(ran, []);
    });

    // @spec intern-16
    test('ends at what one run may cost', async () => {
      const { work, find, asked } = await open('write', { costNanoUsd: 1_000_000_000 });
      await work();
      const run = await find();
      assert.deepEqual([run?.state, run?.ending, run?.spentNanoUsd, asked()], ['done', 'budget', 1_000_000_000, 1]);
    });

    // @spec intern-16
    test('ends at a limit on spending, and fails for an error of the request', async () => {
      for (const [error, state, ending] of [
        [new GatewayError('payment_required', 'too little'), 'done', 'budget'],
        [new GatewayError('invalid_request', 'no'), 'failed', null],
      ] as const) {
        const { work, find, agent } = await open('write');
        await work({ openAgent: () => Promise.resolve({ ...agent, ask: () => Promise.reject(error) }) });
        const run = await find();
        assert.deepEqual([run?.state, run?.ending], [state, ending]);
      }
    });

    test('tries an upstream error again', async () => {
      const { work, find, agent } = await open('write');
      const ask = () => Promise.reject(new GatewayError('provider_unavailable', 'away'));
      await assert.rejects(work({ openAgent: () => Promise.resolve({ ...agent, ask }) }), { status: 502 });
      await work();
      assert.equal((await find())?.state, 'done');
    });

    // @spec intern-10
    test('begins one of two runs of a session at the same moment, and one of an intern', async () => {
      const { begin, run } = await open('write');
      const others = await Promise.all([begin({ ...run, id: randomUUID() }), begin({ ...run, id: randomUUID() })]);
      assert.deepEqual(
        others.map(({ outcome }) => outcome),
        ['busy', 'busy'],
      );
    });

    // @spec intern-15
    test('expires what was not answered in time', async () => {
      const { work, find, runs, run, interns } = await open('write');
      const intern = await interns.find(run.internId);
      assert.ok(intern);
      await interns.update(run.internId, {
        version: 2,
        settings: { ...intern.settings, approval: { mode: 'manual', rules: [] } },
      });
      await runs.change(run.id, ['queued'], { version: 2 });
      await work({ approvalMs: 0 });
      assert.equal((await find())?.state, 'waiting_input');
      await runs.expire(clock.nowMs(), 10);
      assert.equal((await find())?.state, 'expired');
    });

    test('deletes the texts of old runs alone', async () => {
      const { work, runs, run } = await open('read');
      await work();
      await runs.clearAway(clock.nowMs() - 60_000);
      const owner = { internId: run.internId, runId: run.id };
      assert.equal((await runs.ofRun(owner)).get('prompt'), 'hi');
      await runs.clearAway(clock.nowMs() + 1);
      assert.equal((await runs.ofRun(owner)).size, 0);
    });
  });
