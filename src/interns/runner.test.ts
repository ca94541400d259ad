import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { ENGINES, type Place } from '../../tests/support/store/engines.ts';
import { openScriptedRun } from '../../tests/support/store/intern-run.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import { systemClock as clock } from '../lib/clock.ts';
import { openDatabase, type Database } from '../store/engine/database.ts';
import type { StepBorder } from './runner-deps.ts';

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

    const open = (tool: 'write' | 'read', options?: { costNanoUsd: number }) =>
      openScriptedRun(database, tool, options);

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
            assert.ok(input);
            assert.equal((await runs.answer(input, answer, clock.nowMs())).outcome, 'answered');
            assert.equal((await runs.answer(input, answer, clock.nowMs())).outcome, 'closed');
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
