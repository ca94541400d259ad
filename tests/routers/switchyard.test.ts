import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import {
  isJudged,
  judging,
  stageOf,
  startModelRow,
  type ModelRow,
  type RowAnswer,
} from '../support/routers/model-row.ts';
import { chatStream, stream as streamed, type Script } from '../support/upstream.ts';

const SLUG = 'service/switchyard';
const EASY = { reason: 'usual', rule: 'known_way', boundary: 'supported', p_solve: 0.9 };
const HARD = { reason: 'a proof', rule: 'long_reasoning', boundary: 'unsupported', p_solve: 0.5 };

const by = (algorithm: string): object => ({ plugins: [{ id: 'switchyard-router', algorithm }] });

/** Two models, of which the small one also gives the scripted verdicts. */
async function start(t: TestContext, verdict: () => string | Script, more = ''): Promise<ModelRow> {
  const small: Script = (arrived, response, request) => {
    const stated = isJudged(arrived) ? verdict() : '';
    return typeof stated === 'string'
      ? judging('small', () => stated)(arrived, response, request)
      : stated(arrived, response, request);
  };
  return startModelRow(
    t,
    {
      large: { price: 10, coding: 0.9, intelligence: 0.9 },
      small: { price: 0.5, coding: 0.4, intelligence: 0.4, script: small },
    },
    { more },
  );
}

const judgeAnswers = (value: object) => () => JSON.stringify(value);
const dataOf = (answer: RowAnswer): Readonly<Record<string, unknown>> =>
  stageOf(answer, 'switchyard-router')?.data ?? {};
const questionsIn = (row: ModelRow): number => row.upstreams['small']?.arrived.filter(isJudged).length ?? 0;

function toolTurns(...results: readonly string[]): readonly object[] {
  return results.flatMap((content, at) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: `call-${at}`, type: 'function', function: { name: 'bash', arguments: '{"command": "make"}' } },
      ],
    },
    { role: 'tool', tool_call_id: `call-${at}`, content },
  ]);
}

const INPUT = { role: 'user', content: 'Fix the build' };

suite('capability', () => {
  test('chooses the efficient model when the judge expects success, otherwise the capable one', async (t) => {
    const easy = await (await start(t, judgeAnswers(EASY))).ask(SLUG);
    assert.deepEqual([easy.status, easy.model, easy.metadata.strategy], [200, 'acme/small', 'switchyard']);
    const hard = await (await start(t, judgeAnswers(HARD))).ask(SLUG);
    assert.deepEqual([hard.model, hard.text], ['acme/large', 'I am large']);
  });

  // @spec router-7
  test('reports the forecast, the judge and its cost in the stage', async (t) => {
    const row = await start(t, judgeAnswers(EASY));
    const answer = await row.ask(SLUG);
    assert.deepEqual(dataOf(answer), {
      algorithm: 'capability',
      tier: 'efficient',
      source: 'judge',
      rule: 'known_way',
      boundary: 'supported',
      p_solve: 0.9,
      judge: 'acme/small',
      capable: 'acme/large',
      efficient: 'acme/small',
    });
    // 15 tokens at 0.5 USD a million, of the judge and of the answer each.
    assert.equal(stageOf(answer, 'switchyard-router')?.cost_usd, 0.0000075);
    assert.equal(answer.cost, 0.000015);
  });

  // @spec router-30
  test("shows the judge the user's request, and no instructions", async (t) => {
    const row = await start(t, judgeAnswers(EASY));
    const messages = [
      { role: 'system', content: 'The password is swordfish' },
      { role: 'user', content: 'Sort this list' },
      { role: 'assistant', content: 'An answer' },
      { role: 'user', content: 'Backwards, please' },
    ];
    await row.ask(SLUG, { messages });
    const requested = row.upstreams['small']?.arrived.find(isJudged);
    const sent = requested?.body['messages'] as readonly { readonly role: string; readonly content: string }[];
    assert.equal(sent.at(-1)?.content, '{"opening_task":"Sort this list","latest_message":"Backwards, please"}');
    assert.doesNotMatch(requested?.text ?? '', /swordfish|An answer/);
    assert.equal(requested?.body['max_tokens'], 4_096);
  });

  for (const [title, verdict] of [
    ['says something else', () => 'The small one, I think.'],
    ['contradicts itself', judgeAnswers({ ...EASY, boundary: 'unsupported' })],
    ['forecasts more than is possible', judgeAnswers({ ...EASY, p_solve: 7 })],
    ['fails', (): Script => (_arrived, response) => void response.writeHead(500).end('{}')],
    ['breaks off', (): Script => (_arrived, response) => void response.destroy()],
  ] as const)
    // @spec router-29
    test(`chooses the capable model when the judge ${title}`, async (t) => {
      const answer = await (await start(t, verdict)).ask(SLUG);
      assert.deepEqual([answer.status, answer.model], [200, 'acme/large']);
      const { tier, source, judge_failure: failure } = dataOf(answer);
      assert.deepEqual([tier, source], ['capable', 'default']);
      assert.ok(failure === 'invalid' || failure === 'failed');
    });

  test('does not wait for a silent judge', async (t) => {
    const silent = (): Script => () => undefined;
    const row = await start(t, silent, 'routers: { judge: { timeout_ms: 50 } }');
    const answer = await row.ask(SLUG);
    assert.deepEqual([answer.model, dataOf(answer)['judge_failure']], ['acme/large', 'timeout']);
  });

  test("uses the operator's judge", async (t) => {
    const row = await startModelRow(
      t,
      {
        large: { price: 10, intelligence: 0.9, script: judging('large', judgeAnswers(EASY)) },
        small: { price: 0.5, intelligence: 0.4 },
      },
      { more: 'routers: { judge: { models: [acme/large] } }' },
    );
    const answer = await row.ask(SLUG);
    assert.deepEqual([answer.model, dataOf(answer)['judge']], ['acme/small', 'acme/large']);
  });

  test('chooses the capable model without a judge', async (t) => {
    const row = await startModelRow(t, {
      large: { price: 10, intelligence: 0.9 },
      small: { price: 2, intelligence: 0.4 },
    });
    const answer = await row.ask(SLUG);
    assert.deepEqual([answer.model, dataOf(answer)['judge_failure']], ['acme/large', 'no_judge']);
  });
});

suite('stage and auto', () => {
  const crashed = { messages: [INPUT, ...toolTurns('cc1plus: out of memory')] };
  const passed = {
    messages: [
      INPUT,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'e', type: 'function', function: { name: 'edit_file', arguments: '{"path": "a"}' } }],
      },
      { role: 'tool', tool_call_id: 'e', content: 'done' },
      ...toolTurns('12 passed'),
    ],
  };
  const unclear = { messages: [INPUT, ...toolTurns('compiling')] };

  for (const algorithm of ['stage', 'auto'])
    test(`decides by tool results without a judge: ${algorithm}`, async (t) => {
      const row = await start(t, judgeAnswers(EASY));
      const bad = await row.ask(SLUG, { ...crashed, ...by(algorithm) });
      assert.deepEqual([bad.model, dataOf(bad)['source']], ['acme/large', 'signals']);
      const good = await row.ask(SLUG, { ...passed, ...by(algorithm) });
      assert.deepEqual([good.model, dataOf(good)['source'], dataOf(good)['confidence']], ['acme/small', 'signals', 1]);
      assert.equal(questionsIn(row), 0);
    });

  // @spec router-31
  test('calls the judge when tool results are inconclusive, with stage', async (t) => {
    const row = await start(t, judgeAnswers(HARD));
    const answer = await row.ask(SLUG, { ...unclear, ...by('stage') });
    assert.deepEqual([answer.model, dataOf(answer)['source'], questionsIn(row)], ['acme/large', 'judge', 1]);
  });

  // @spec router-32
  test('chooses the efficient model without a judge, with auto', async (t) => {
    const row = await start(t, judgeAnswers(HARD));
    const answer = await row.ask(SLUG, { ...unclear, ...by('auto') });
    assert.deepEqual([answer.model, dataOf(answer)['source'], questionsIn(row)], ['acme/small', 'default', 0]);
  });
});

suite('composite', () => {
  // @spec router-33
  test('keeps the decision while tools follow, unless they are conclusive', async (t) => {
    const row = await start(t, judgeAnswers(EASY));
    const ask = (...messages: readonly object[]): Promise<RowAnswer> => row.ask(SLUG, { messages, ...by('composite') });
    assert.equal((await ask(INPUT)).model, 'acme/small');
    const going = await ask(INPUT, ...toolTurns('compiling'));
    assert.deepEqual([going.model, dataOf(going)['held']], ['acme/small', true]);
    assert.equal((await ask(INPUT, ...toolTurns('out of memory'))).model, 'acme/large');
    assert.equal((await ask(INPUT, ...toolTurns('compiling', 'linking'))).model, 'acme/small');
    assert.equal(questionsIn(row), 1);
  });

  test('judges again when a person writes again', async (t) => {
    let verdict = EASY;
    const row = await start(t, () => JSON.stringify(verdict));
    const ask = (...messages: readonly object[]): Promise<RowAnswer> => row.ask(SLUG, { messages, ...by('composite') });
    await ask(INPUT);
    verdict = HARD;
    const again = { role: 'user', content: 'Now prove that it is correct' };
    assert.equal((await ask(INPUT, ...toolTurns('compiling'), again)).model, 'acme/large');
    assert.equal((await ask(INPUT, ...toolTurns('compiling'), again, ...toolTurns('checking'))).model, 'acme/large');
  });
});

suite('random and passthrough', () => {
  test('chooses by chance without a judge', async (t) => {
    let random = 0;
    const models = { large: { price: 10, intelligence: 0.9 }, small: { price: 0.5, intelligence: 0.4 } };
    const row = await startModelRow(t, models, { random: () => random });
    const first = await row.ask(SLUG, by('random'));
    random = 0.99;
    const second = await row.ask(SLUG, by('random'));
    assert.deepEqual([first.model, second.model, dataOf(second)['source']], ['acme/large', 'acme/small', 'random']);
  });

  test('keeps the requested order', async (t) => {
    const row = await start(t, judgeAnswers(EASY));
    const listed = { models: ['acme/small', 'acme/large'], ...by('passthrough') };
    assert.equal((await row.ask(SLUG, listed)).model, 'acme/small');
    const turned = { models: ['acme/large', 'acme/small'], ...by('passthrough') };
    assert.equal((await row.ask(SLUG, turned)).model, 'acme/large');
    assert.equal(questionsIn(row), 0);
  });
});

suite('the candidates', () => {
  const three = {
    large: { price: 10, coding: 0.9 },
    middle: { price: 2, coding: 0.6 },
    small: { price: 0.5, coding: 0.3 },
  };

  // @spec router-27
  test('are those that the request lists', async (t) => {
    const row = await startModelRow(t, three);
    const answer = await row.ask(SLUG, { models: ['acme/middle', 'acme/large'], ...by('auto') });
    const { capable, efficient } = dataOf(answer);
    assert.deepEqual([answer.model, capable, efficient], ['acme/middle', 'acme/large', 'acme/middle']);
  });

  // @spec router-27
  test('are otherwise the operator’s pair', async (t) => {
    const more = 'routers: { switchyard: { efficient: acme/middle, capable: acme/large } }';
    const row = await startModelRow(t, three, { more });
    assert.equal((await row.ask(SLUG, by('auto'))).model, 'acme/middle');
  });

  // @spec router-27
  test('are otherwise the best and the cheapest of all', async (t) => {
    const row = await startModelRow(t, three);
    const answer = await row.ask(SLUG, by('auto'));
    const { capable, efficient } = dataOf(answer);
    assert.deepEqual([answer.model, capable, efficient], ['acme/small', 'acme/large', 'acme/small']);
  });

  test("include the capable model for fallback, with the router's strategy", async (t) => {
    const failing: Script = (_arrived, response) => void response.writeHead(503).end('{}');
    const row = await startModelRow(t, { ...three, small: { ...three.small, script: failing } });
    const answer = await row.ask(SLUG, by('auto'));
    assert.deepEqual([answer.model, answer.metadata.strategy], ['acme/large', 'switchyard']);
  });

  test('may be empty, which is a 404', async (t) => {
    const row = await startModelRow(t, three);
    const answer = await row.ask(SLUG, { provider: { only: ['nobody'] } });
    assert.equal(answer.status, 404);
    assert.match(answer.message ?? '', /No models match your request and model restrictions/);
  });

  // @spec router-28
  test('rejects an unknown algorithm with 400 and its field', async (t) => {
    const row = await startModelRow(t, three);
    const answer = await row.ask(SLUG, by('best'));
    assert.deepEqual([answer.status, answer.message?.includes('algorithm')], [400, true]);
  });
});

suite('an explanation', () => {
  test('shows the decision, calls no judge and says so', async (t) => {
    const row = await start(t, judgeAnswers(EASY));
    const explained = await row.explain(SLUG);
    const [router] = explained['routers'] as readonly Record<string, unknown>[];
    assert.deepEqual([router?.['capable'], router?.['efficient']], ['acme/large', 'acme/small']);
    assert.match(JSON.stringify(explained['service_metadata']), /"judge":"is not called here/);
    assert.ok(Object.values(row.upstreams).every(({ arrived }) => arrived.length === 0));
  });
});

suite('streams and the messages endpoint', () => {
  test('decides on a stream before it begins', async (t) => {
    const stream: Script = (arrived, response, request) =>
      isJudged(arrived)
        ? judging('small', judgeAnswers(EASY))(arrived, response, request)
        : streamed(chatStream('I am small'))(arrived, response, request);
    const row = await startModelRow(t, {
      large: { price: 10, intelligence: 0.9 },
      small: { price: 0.5, intelligence: 0.4, script: stream },
    });
    const messages = [INPUT];
    const response = await row.gateway.post('/chat/completions', { model: SLUG, stream: true, messages });
    const text = await response.text();
    assert.match(text, /"model":"acme\/small"/);
    assert.match(text, /\[DONE\]/);
  });

  test('aborts the judge when the caller hangs up', async (t) => {
    const gone = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const silent = (): Script => (_arrived, response) => {
      response.on('close', () => gone.resolve());
      reached.resolve();
    };
    const row = await start(t, silent);
    const caller = new AbortController();
    const requested = row.gateway.post('/chat/completions', { model: SLUG, messages: [INPUT] }, {}, caller.signal);
    await reached.promise;
    caller.abort();
    await assert.rejects(requested);
    await gone.promise;
    assert.equal(row.upstreams['large']?.arrived.length, 0);
  });

  test("does not take tool results in a user turn for a person's words", async (t) => {
    const row = await start(t, judgeAnswers(EASY));
    const response = await row.gateway.post('/messages', {
      model: SLUG,
      max_tokens: 100,
      ...by('stage'),
      messages: [
        { role: 'user', content: 'Fix the build' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'bash', input: { command: 'make' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'out of memory' }] },
      ],
    });
    const body = (await response.json()) as { model: string };
    assert.deepEqual([response.status, body.model, questionsIn(row)], [200, 'acme/large', 0]);
  });
});
