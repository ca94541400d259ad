import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Turn } from '../../canonical/request.ts';
import { decide, type Algorithm, type Decision } from './decide.ts';
import type { Candidates } from './candidates.ts';
import type { Judgement } from './judge.ts';
import {
  assistant,
  candidateModel,
  remembering,
  requestOf,
  use,
  user,
  type Remembering,
} from '../../../tests/support/plugins/switchyard-candidates.ts';

const EFFICIENT = candidateModel('a/small', 1);
const MIDDLE = candidateModel('a/middle', 3);
const CAPABLE = candidateModel('a/large', 10);
const CANDIDATES: Candidates = {
  ranked: [CAPABLE, MIDDLE, EFFICIENT],
  capable: CAPABLE,
  efficient: EFFICIENT,
  from: 'ranking',
  spell: ({ slug }) => slug,
};

const EASY: Judgement = { verdict: { rule: 'known_way', boundary: 'supported', pSolve: 0.9 }, costNanoUsd: 5 };
const HARD: Judgement = { verdict: { rule: 'long_reasoning', boundary: 'unsupported', pSolve: 0.4 }, costNanoUsd: 5 };
const SILENT: Judgement = { costNanoUsd: 0, failure: 'timeout' };

/** A conversation with one router, whose judge returns the given verdict, or must not be called. */
class Conversation {
  readonly algorithm: Algorithm;
  readonly choice: Remembering;
  /** The prompts of the judge. */
  readonly requested: string[] = [];

  constructor(algorithm: Algorithm, choice: Remembering = remembering()) {
    this.algorithm = algorithm;
    this.choice = choice;
  }

  decide(turns: readonly Turn[], judgement?: Judgement, sessionId?: string): Promise<Decision> {
    return decide(this.algorithm, {
      request: requestOf(turns, [], sessionId),
      candidates: CANDIDATES,
      choice: this.choice,
      judge: ({ opening, latest }) => {
        this.requested.push(latest ?? opening);
        if (judgement === undefined) throw new Error('nobody was to be asked');
        return Promise.resolve(judgement);
      },
    });
  }

  async notify(turns: readonly Turn[], judgement?: Judgement): Promise<readonly (string | undefined)[]> {
    const { tier, source } = await this.decide(turns, judgement);
    return [tier, source];
  }
}

const ask = [user('Fix the tests')];
const passed = [...ask, ...use('edit_file', { path: 'a' }, 'done'), ...use('bash', { command: 'pytest' }, '3 passed')];
const crashed = [...ask, ...use('bash', { command: 'psql' }, 'psql: connection refused')];
const unclear = [...ask, ...use('read_file', { path: 'a' }, 'def f(): pass')];

suite('capability', () => {
  test('follows the judge’s forecast', async () => {
    assert.deepEqual(await new Conversation('capability').notify(ask, EASY), ['efficient', 'judge']);
    assert.deepEqual(await new Conversation('capability').notify(ask, HARD), ['capable', 'judge']);
  });

  test('takes the capable one without a verdict', async () => {
    assert.deepEqual(await new Conversation('capability').notify(ask, SILENT), ['capable', 'default']);
  });

  test('ignores the signals of tools', async () => {
    assert.deepEqual(await new Conversation('capability').notify(crashed, EASY), ['efficient', 'judge']);
  });

  test('judges again after each message of a person, not after tool calls', async () => {
    const conversation = new Conversation('capability');
    await conversation.notify(ask, EASY);
    assert.deepEqual(await conversation.notify(unclear), ['efficient', 'judge']);
    assert.deepEqual(await conversation.notify([...unclear, assistant('Done'), user('Now prove it')], HARD), [
      'capable',
      'judge',
    ]);
    assert.deepEqual(conversation.requested, ['Fix the tests', 'Now prove it']);
  });

  test('judges repeated words again', async () => {
    const conversation = new Conversation('capability');
    await conversation.notify(ask, EASY);
    assert.deepEqual(await conversation.notify(ask, HARD), ['capable', 'judge']);
  });

  test('falls back to the capable model from either choice', async () => {
    const { order } = await new Conversation('capability').decide(ask, EASY);
    assert.deepEqual(order, [EFFICIENT, CAPABLE, MIDDLE]);
  });
});

suite('stage', () => {
  // @spec router-31
  test('decides by tool results without a judge', async () => {
    assert.deepEqual(await new Conversation('stage').notify(passed), ['efficient', 'signals']);
    assert.deepEqual(await new Conversation('stage').notify(crashed), ['capable', 'signals']);
  });

  test('follows the judge where they do not decide', async () => {
    assert.deepEqual(await new Conversation('stage').notify(unclear, EASY), ['efficient', 'judge']);
    assert.deepEqual(await new Conversation('stage').notify(ask, HARD), ['capable', 'judge']);
    assert.deepEqual(await new Conversation('stage').notify(unclear, SILENT), ['capable', 'default']);
  });
});

suite('auto', () => {
  test('decides like stage, and never calls a judge', async () => {
    assert.deepEqual(await new Conversation('auto').notify(crashed), ['capable', 'signals']);
    assert.deepEqual(await new Conversation('auto').notify(passed), ['efficient', 'signals']);
    assert.deepEqual(await new Conversation('auto').notify(unclear), ['efficient', 'default']);
    assert.deepEqual(await new Conversation('auto').notify(ask), ['efficient', 'default']);
  });
});

suite('composite', () => {
  test('keeps the verdict on a person’s message while tools go on', async () => {
    const conversation = new Conversation('composite');
    assert.deepEqual(await conversation.notify(ask, EASY), ['efficient', 'judge']);
    assert.deepEqual(await conversation.notify(unclear), ['efficient', 'judge']);
    assert.equal((await conversation.decide(unclear)).isHeld, true);
  });

  test('prefers the signals of tools, for that turn only', async () => {
    const conversation = new Conversation('composite');
    await conversation.notify(ask, EASY);
    assert.deepEqual(await conversation.notify(crashed), ['capable', 'signals']);
    assert.deepEqual(await conversation.notify(unclear), ['efficient', 'judge']);
  });

  test('tools that failed do not count once a person speaks', async () => {
    const conversation = new Conversation('composite');
    assert.deepEqual(await conversation.notify([...crashed, user('Never mind, write a poem')], EASY), [
      'efficient',
      'judge',
    ]);
  });

  test('keeps the tier when a judge fails later', async () => {
    const conversation = new Conversation('composite');
    await conversation.notify(ask, EASY);
    const later = [...unclear, assistant('Done'), user('And again')];
    assert.deepEqual(await conversation.notify(later, SILENT), ['efficient', 'default']);
  });

  test('takes the capable one when a judge fails at the start, whatever another conversation has', async () => {
    const conversation = new Conversation('composite');
    await conversation.notify(ask, EASY);
    assert.deepEqual(await conversation.notify(ask, SILENT), ['capable', 'default']);
  });

  test("judges a turn of tools by its person's message where there is no earlier verdict", async () => {
    const conversation = new Conversation('composite');
    assert.deepEqual(await conversation.notify(unclear, HARD), ['capable', 'judge']);
    assert.deepEqual(conversation.requested, ['Fix the tests']);
  });
});

suite('random', () => {
  // @spec router-34
  test('draws by lot, each as likely as the other', async () => {
    const decisions = [0, 0.34, 0.67, 0.999].map(async (random) => {
      const { order, source } = await new Conversation('random', remembering({ random })).decide(ask);
      assert.equal(source, 'random');
      return order;
    });
    const firsts = (await Promise.all(decisions)).map(([first]) => first);
    assert.deepEqual(firsts, [CAPABLE, MIDDLE, EFFICIENT, EFFICIENT]);
  });

  test('falls back to the others', async () => {
    const { order } = await new Conversation('random', remembering({ random: 0.5 })).decide(ask);
    assert.deepEqual(order, [MIDDLE, CAPABLE, EFFICIENT]);
  });

  test('keeps what was given for a named session, and draws again for others', async () => {
    const choice = remembering({ random: 0.999 });
    const first = await new Conversation('random', choice).decide(ask, undefined, 'session-1');
    const again = await new Conversation('random', { ...choice, random: () => 0 }).decide(ask, undefined, 'session-1');
    assert.deepEqual(again.order, first.order);
    const other = await new Conversation('random', { ...choice, random: () => 0 }).decide(ask);
    assert.equal(other.order[0], CAPABLE);
  });
});

const ALGORITHMS = ['capability', 'stage', 'auto', 'random', 'composite', 'passthrough'] as const;

suite('whatever the algorithm', () => {
  test('returns every candidate once, with one of the tier first, and calls a judge at most once', async () => {
    const piece = fc.constantFrom<readonly Turn[]>(
      [user('Fix it')],
      [assistant('Done')],
      use('bash', { command: 'make' }, 'Traceback'),
      use('bash', { command: 'make' }, 'out of memory'),
      use('edit_file', {}, 'done'),
      use('read_file', {}, 'text'),
      use('bash', { command: 'pytest' }, '3 passed'),
    );
    const given = fc.record({
      algorithm: fc.constantFrom(...ALGORITHMS),
      turns: fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.flat()),
      judgement: fc.constantFrom(EASY, HARD, SILENT),
      random: fc.double({ min: 0, max: 0.999, noNaN: true }),
      session: fc.option(fc.constant('session-1'), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(given, async ({ algorithm, turns, judgement, random, session }) => {
        const conversation = new Conversation(algorithm, remembering({ random }));
        const { order, tier, source } = await conversation.decide(turns, judgement, session);
        assert.deepEqual(new Set(order), new Set(CANDIDATES.ranked));
        assert.equal(order.length, CANDIDATES.ranked.length);
        if (tier !== undefined) assert.equal(order[0], tier === 'capable' ? CAPABLE : EFFICIENT);
        const mayAsk = algorithm === 'capability' || algorithm === 'stage' || algorithm === 'composite';
        assert.ok(conversation.requested.length <= (mayAsk ? 1 : 0));
        if (source === 'judge') assert.equal(conversation.requested.length, 1);
      }),
      { seed: 20_261_122, numRuns: 500 },
    );
  });

  // @spec router-34
  test('keeps the ranked order with passthrough', async () => {
    const { order, source, tier } = await new Conversation('passthrough').decide(crashed);
    assert.deepEqual([order, source, tier], [CANDIDATES.ranked, 'default', undefined]);
  });

  test('chooses a model that is the best and the cheapest without a judge', async () => {
    for (const algorithm of ['capability', 'stage', 'auto', 'composite'] as const) {
      const { order, source } = await decide(algorithm, {
        request: requestOf(ask),
        candidates: { ...CANDIDATES, efficient: CAPABLE },
        choice: remembering(),
        judge: () => Promise.reject(new Error('nobody was to be asked')),
      });
      assert.deepEqual([order[0], source], [CAPABLE, 'default']);
    }
  });

  test('calls no judge in a rehearsal, and says that it would', async () => {
    for (const algorithm of ['capability', 'stage', 'composite'] as const) {
      const decision = await new Conversation(algorithm, remembering({ isRehearsal: true })).decide(ask);
      assert.deepEqual([decision.tier, decision.wantsJudge], ['capable', true]);
    }
  });

  test('judges nothing where no person wrote', async () => {
    assert.deepEqual(await new Conversation('capability').notify([]), ['capable', 'default']);
  });
});
