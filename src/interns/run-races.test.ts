import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { ENGINES, type Place } from '../../tests/support/store/engines.ts';
import { openScriptedRun } from '../../tests/support/store/intern-run.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import { systemClock as clock } from '../lib/clock.ts';
import type { InternSettings } from '../resources/interns.ts';
import { openDatabase, type Database } from '../store/engine/database.ts';
import type { StepBorder } from './runner-deps.ts';

const ALLOW_SESSION = { decision: 'allow_session', text: 'allow_session', by: 'c', state: 'answered' } as const;
const NO_RULES: Partial<InternSettings> = { approval: { mode: 'manual', rules: [] } };

for (const engine of ENGINES)
  suite(`races of runs of interns: ${engine.name}`, () => {
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

    /** Holds the work at a border until it is let go. */
    function stopAt(n: number, at: StepBorder['at']) {
      const reached = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<void>();
      const onBorder = async (border: StepBorder): Promise<void> => {
        if (border.n !== n || border.at !== at) return;
        reached.resolve();
        await goOn.promise;
      };
      return { onBorder, reached: reached.promise, goOn: () => goOn.resolve() };
    }

    /** A run that waits for an approval of its first call. */
    async function openWaiting() {
      const opened = await openScriptedRun(database, 'write', { settings: NO_RULES });
      await opened.work();
      assert.equal((await opened.find())?.state, 'waiting_input');
      const [input] = await opened.runs.inputsOf(opened.run.id);
      assert.ok(input);
      return { ...opened, input };
    }

    // @spec intern-18
    test('writes once where a process stands still before the call while another one makes it', async () => {
      const { work, find, ran } = await openScriptedRun(database, 'write');
      const late = stopAt(2, 'planned');
      const first = work(late);
      await late.reached;
      const other = stopAt(3, 'started');
      const second = work(other);
      await other.reached;
      late.goOn();
      await assert.rejects(first, { name: 'RunEnded' });
      other.goOn();
      await second;
      assert.equal((await find())?.state, 'done');
      assert.deepEqual(ran, ['{"a":1}']);
    });

    // @spec intern-18
    test('keeps nothing of a process that was late with the answer of the model', async () => {
      const { work, find, runs, run } = await openScriptedRun(database, 'write', { costNanoUsd: 7 });
      const late = stopAt(1, 'acted');
      const first = work(late);
      await late.reached;
      const other = stopAt(3, 'started');
      const second = work(other);
      await other.reached;
      late.goOn();
      await assert.rejects(first, { name: 'RunEnded' });
      assert.equal((await find())?.step, 3);
      other.goOn();
      await second;
      assert.equal((await find())?.spentNanoUsd, 14);
      assert.deepEqual(
        (await runs.steps(run.id)).map(({ n, state }) => [n, state]),
        [
          [1, 'done'],
          [2, 'done'],
          [3, 'done'],
        ],
      );
    });

    // @spec intern-18
    test('does not fail a run whose earlier job is given up', async () => {
      const { kind, jobOf, runs, find, input, run } = await openWaiting();
      const waiting = await find();
      assert.ok(waiting);
      const job = jobOf(waiting);
      await runs.answer(input, ALLOW_SESSION, clock.nowMs());
      await kind().onGivenUp?.(job, 'Each process that ran it ended before it did.');
      assert.equal((await runs.find(run.id))?.state, 'queued');
    });

    // @spec intern-13
    test('takes one of two decisions at the same moment', async () => {
      const { runs, input, work, ran, find } = await openWaiting();
      const deny = { ...ALLOW_SESSION, decision: 'deny', text: 'denied' } as const;
      const answers = await Promise.all(
        [ALLOW_SESSION, deny, ALLOW_SESSION].map((answer) => runs.answer(input, answer, clock.nowMs())),
      );
      assert.deepEqual(answers.map(({ outcome }) => outcome).toSorted(), ['answered', 'closed', 'closed']);
      assert.equal((await find())?.turn, 2);
      await work();
      const { decision } = (await runs.inputsOf(input.runId))[0] ?? {};
      assert.equal(ran.length, decision === 'deny' ? 0 : 1);
    });

    // @spec intern-17
    test('withdraws what a cancelled run waits for, and allows nothing by a decision that comes after', async () => {
      const { runs, input, run } = await openWaiting();
      await runs.cancel(run.id, clock.nowMs());
      assert.equal((await runs.findInput(run.internId, input.id))?.state, 'cancelled');
      assert.equal((await runs.answer(input, ALLOW_SESSION, clock.nowMs())).outcome, 'closed');
      assert.equal(await runs.isAllowedIn(run.internId, 's', input.inputHash), false);
      assert.equal(await runs.cancel(run.id, clock.nowMs()), undefined);
    });

    // @spec intern-15
    test('does not expire a run that waits for another decision by then', async () => {
      const { runs, input, work, find } = await openWaiting();
      await runs.answer(input, ALLOW_SESSION, clock.nowMs());
      await work();
      assert.equal((await find())?.state, 'done');
      await runs.expire(input.expiresAtMs + 1, 10);
      assert.equal((await find())?.state, 'done');
      assert.equal((await runs.findInput(input.internId, input.id))?.state, 'answered');
    });

    // @spec intern-6
    test('finds runs that paused while their agent was provisioned', async () => {
      const { runs, run, work, interns, find } = await openScriptedRun(database, 'write');
      await interns.update(run.internId, { status: 'stopped' });
      await work();
      assert.equal((await find())?.state, 'paused');
      const stranded = async () => (await runs.stranded(clock.nowMs() + 1, 1_000)).some(({ id }) => id === run.id);
      assert.equal(await stranded(), false);
      await interns.update(run.internId, { status: 'running' });
      assert.equal(await stranded(), true);
    });

    // @spec intern-5
    test('stops between two steps when its key is gone', async () => {
      const { work, find, asked, ran, admitted } = await openScriptedRun(database, 'write');
      let admissions = 0;
      await work({
        admitKey: () => {
          // It is looked at before the agent is opened, and before each step.
          if (++admissions > 2) throw new GatewayError('authentication', 'The API key is disabled.');
          return admitted;
        },
      });
      const run = await find();
      assert.deepEqual([run?.state, run?.error, asked(), ran], ['failed', 'payer_gone', 1, []]);
    });

    // @spec intern-16
    test('counts what a call of the model cost that broke off', async () => {
      const { work, find, agent } = await openScriptedRun(database, 'write');
      const ask: typeof agent.ask = (_turns, _budget, onCost) => {
        onCost(400_000_000);
        return Promise.reject(new GatewayError('provider_unavailable', 'It broke off.'));
      };
      const openAgent = () => Promise.resolve({ ...agent, ask });
      for (let tries = 0; tries < 3; tries++) await assert.rejects(work({ openAgent }), { status: 502 });
      await work({ openAgent });
      const run = await find();
      assert.deepEqual([run?.state, run?.ending, run?.spentNanoUsd], ['done', 'budget', 1_200_000_000]);
    });

    // @spec intern-16
    test('makes no call whose arguments were cut at the limit of tokens', async () => {
      const { work, find, agent, ran } = await openScriptedRun(database, 'write');
      const ask: typeof agent.ask = async (...args) => {
        const answered = await agent.ask(...args);
        return { ...answered, response: { ...answered.response, end: { type: 'end', finish: 'length' } } };
      };
      await work({ openAgent: () => Promise.resolve({ ...agent, ask }) });
      const run = await find();
      assert.deepEqual([run?.state, run?.ending, ran], ['done', 'length', []]);
    });

    // @spec intern-10
    test('continues no session that another key began, also where both begin at the same moment', async () => {
      const { begin, run, session, work, find } = await openScriptedRun(database, 'read');
      await work();
      assert.equal((await find())?.state, 'done');
      const other = { ...run, id: randomUUID() };
      assert.equal((await begin(other, { ...session, keyHash: 'd' })).outcome, 'foreign');
      assert.equal((await begin(other, session)).outcome, 'begun');
    });

    test('keeps no text of a session outside of what is encrypted', async () => {
      const { run } = await openScriptedRun(database, 'read');
      const rows = await database.kysely
        .selectFrom('intern_sessions')
        .selectAll()
        .where('intern_id', '=', run.internId)
        .execute();
      assert.deepEqual(
        rows.map(({ title, first_run_id }) => [title, first_run_id]),
        [['', run.id]],
      );
    });

    // @spec intern-10
    test('begins and answers once for each idempotency key', async () => {
      const { runs, input, run } = await openWaiting();
      const call = { id: randomUUID(), bodyHash: 'b', subjectId: run.id, expiresAtMs: clock.nowMs() + 60_000 };
      const answer = () => runs.answer(input, { ...ALLOW_SESSION, call }, clock.nowMs());
      const outcomes = (await Promise.all([answer(), answer(), answer()])).map(({ outcome }) => outcome);
      assert.deepEqual(outcomes.toSorted(), ['answered', 'replayed', 'replayed']);
      const other = await runs.answer(input, { ...ALLOW_SESSION, call: { ...call, bodyHash: 'c' } }, clock.nowMs());
      assert.equal(other.outcome, 'body');
    });
  });
