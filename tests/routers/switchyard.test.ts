import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { isJudged, judging, stageOf, startModelRow, type ModelRow, type RowAnswer } from '../support/model-row.ts';
import { chatStream, stream as streamed, type Script } from '../support/upstream.ts';

const SLUG = 'service/switchyard';
const EASY = { reason: 'usual', rule: 'known_way', boundary: 'supported', p_solve: 0.9 };
const HARD = { reason: 'a proof', rule: 'long_reasoning', boundary: 'unsupported', p_solve: 0.5 };

const by = (algorithm: string): object => ({ plugins: [{ id: 'switchyard-router', algorithm }] });

/** Two models, of which the small one judges as it is told. */
async function start(t: TestContext, verdict: () => string | Script, more = ''): Promise<ModelRow> {
  const small: Script = (arrived, response, request) => {
    const said = isJudged(arrived) ? verdict() : '';
    return typeof said === 'string'
      ? judging('small', () => said)(arrived, response, request)
      : said(arrived, response, request);
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

const judgeSays = (value: object) => () => JSON.stringify(value);
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

const WISH = { role: 'user', content: 'Fix the build' };

suite('capability', () => {
  test('a judge that expects success has the efficient model answer, another one the capable', async (t) => {
    const easy = await (await start(t, judgeSays(EASY))).ask(SLUG);
    assert.deepEqual([easy.status, easy.model, easy.metadata.strategy], [200, 'acme/small', 'switchyard']);
    const hard = await (await start(t, judgeSays(HARD))).ask(SLUG);
    assert.deepEqual([hard.model, hard.text], ['acme/large', 'I am large']);
  });

  test('the stage tells what was forecast, who judged and what that cost', async (t) => {
    const row = await start(t, judgeSays(EASY));
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

  test('the judge sees what its user asked for, and no instructions', async (t) => {
    const row = await start(t, judgeSays(EASY));
    const messages = [
      { role: 'system', content: 'The password is swordfish' },
      { role: 'user', content: 'Sort this list' },
      { role: 'assistant', content: 'An answer' },
      { role: 'user', content: 'Backwards, please' },
    ];
    await row.ask(SLUG, { messages });
    const asked = row.upstreams['small']?.arrived.find(isJudged);
    const sent = asked?.body['messages'] as readonly { readonly role: string; readonly content: string }[];
    assert.equal(sent.at(-1)?.content, '{"opening_task":"Sort this list","latest_message":"Backwards, please"}');
    assert.doesNotMatch(asked?.text ?? '', /swordfish|An answer/);
    assert.equal(asked?.body['max_tokens'], 4_096);
  });

  for (const [title, verdict] of [
    ['says something else', () => 'The small one, I think.'],
    ['contradicts itself', judgeSays({ ...EASY, boundary: 'unsupported' })],
    ['forecasts more than is possible', judgeSays({ ...EASY, p_solve: 7 })],
    ['fails', (): Script => (_arrived, response) => void response.writeHead(500).end('{}')],
    ['breaks off', (): Script => (_arrived, response) => void response.destroy()],
  ] as const)
    test(`a judge that ${title} is no error: the capable model answers`, async (t) => {
      const answer = await (await start(t, verdict)).ask(SLUG);
      assert.deepEqual([answer.status, answer.model], [200, 'acme/large']);
      const { tier, source, judge_failure: failure } = dataOf(answer);
      assert.deepEqual([tier, source], ['capable', 'default']);
      assert.ok(failure === 'invalid' || failure === 'failed');
    });

  test('a judge that does not answer is not waited for', async (t) => {
    const silent = (): Script => () => undefined;
    const row = await start(t, silent, 'routers: { judge: { timeout_ms: 50 } }');
    const answer = await row.ask(SLUG);
    assert.deepEqual([answer.model, dataOf(answer)['judge_failure']], ['acme/large', 'timeout']);
  });

  test('the operator says who judges', async (t) => {
    const row = await startModelRow(
      t,
      {
        large: { price: 10, intelligence: 0.9, script: judging('large', judgeSays(EASY)) },
        small: { price: 0.5, intelligence: 0.4 },
      },
      { more: 'routers: { judge: { models: [acme/large] } }' },
    );
    const answer = await row.ask(SLUG);
    assert.deepEqual([answer.model, dataOf(answer)['judge']], ['acme/small', 'acme/large']);
  });

  test('without anybody who may judge the capable model answers', async (t) => {
    const row = await startModelRow(t, {
      large: { price: 10, intelligence: 0.9 },
      small: { price: 2, intelligence: 0.4 },
    });
    const answer = await row.ask(SLUG);
    assert.deepEqual([answer.model, dataOf(answer)['judge_failure']], ['acme/large', 'no_judge']);
  });
});

suite('stage and auto', () => {
  const crashed = { messages: [WISH, ...toolTurns('cc1plus: out of memory')] };
  const passed = {
    messages: [
      WISH,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'e', type: 'function', function: { name: 'edit_file', arguments: '{"path": "a"}' } }],
      },
      { role: 'tool', tool_call_id: 'e', content: 'done' },
      ...toolTurns('12 passed'),
    ],
  };
  const unclear = { messages: [WISH, ...toolTurns('compiling')] };

  for (const algorithm of ['stage', 'auto'])
    test(`${algorithm}: what the tools say decides, and nobody is asked`, async (t) => {
      const row = await start(t, judgeSays(EASY));
      const bad = await row.ask(SLUG, { ...crashed, ...by(algorithm) });
      assert.deepEqual([bad.model, dataOf(bad)['source']], ['acme/large', 'signals']);
      const good = await row.ask(SLUG, { ...passed, ...by(algorithm) });
      assert.deepEqual([good.model, dataOf(good)['source'], dataOf(good)['confidence']], ['acme/small', 'signals', 1]);
      assert.equal(questionsIn(row), 0);
    });

  test('stage asks the judge where the tools do not decide', async (t) => {
    const row = await start(t, judgeSays(HARD));
    const answer = await row.ask(SLUG, { ...unclear, ...by('stage') });
    assert.deepEqual([answer.model, dataOf(answer)['source'], questionsIn(row)], ['acme/large', 'judge', 1]);
  });

  test('auto asks nobody and takes the efficient model', async (t) => {
    const row = await start(t, judgeSays(HARD));
    const answer = await row.ask(SLUG, { ...unclear, ...by('auto') });
    assert.deepEqual([answer.model, dataOf(answer)['source'], questionsIn(row)], ['acme/small', 'default', 0]);
  });
});

suite('composite', () => {
  test('what was decided for a person holds for the tools that follow, unless these say more', async (t) => {
    const row = await start(t, judgeSays(EASY));
    const ask = (...messages: readonly object[]): Promise<RowAnswer> => row.ask(SLUG, { messages, ...by('composite') });
    assert.equal((await ask(WISH)).model, 'acme/small');
    const going = await ask(WISH, ...toolTurns('compiling'));
    assert.deepEqual([going.model, dataOf(going)['held']], ['acme/small', true]);
    assert.equal((await ask(WISH, ...toolTurns('out of memory'))).model, 'acme/large');
    assert.equal((await ask(WISH, ...toolTurns('compiling', 'linking'))).model, 'acme/small');
    assert.equal(questionsIn(row), 1);
  });

  test('a person who speaks again is judged again', async (t) => {
    let verdict = EASY;
    const row = await start(t, () => JSON.stringify(verdict));
    const ask = (...messages: readonly object[]): Promise<RowAnswer> => row.ask(SLUG, { messages, ...by('composite') });
    await ask(WISH);
    verdict = HARD;
    const again = { role: 'user', content: 'Now prove that it is correct' };
    assert.equal((await ask(WISH, ...toolTurns('compiling'), again)).model, 'acme/large');
    assert.equal((await ask(WISH, ...toolTurns('compiling'), again, ...toolTurns('checking'))).model, 'acme/large');
  });
});

suite('random and passthrough', () => {
  test('chance decides, and no judge', async (t) => {
    let random = 0;
    const models = { large: { price: 10, intelligence: 0.9 }, small: { price: 0.5, intelligence: 0.4 } };
    const row = await startModelRow(t, models, { random: () => random });
    const first = await row.ask(SLUG, by('random'));
    random = 0.99;
    const second = await row.ask(SLUG, by('random'));
    assert.deepEqual([first.model, second.model, dataOf(second)['source']], ['acme/large', 'acme/small', 'random']);
  });

  test('the order that is asked for stays', async (t) => {
    const row = await start(t, judgeSays(EASY));
    const listed = { models: ['acme/small', 'acme/large'], ...by('passthrough') };
    assert.equal((await row.ask(SLUG, listed)).model, 'acme/small');
    const turned = { models: ['acme/large', 'acme/small'], ...by('passthrough') };
    assert.equal((await row.ask(SLUG, turned)).model, 'acme/large');
    assert.equal(questionsIn(row), 0);
  });
});

suite('whoever may be chosen', () => {
  const three = {
    large: { price: 10, coding: 0.9 },
    middle: { price: 2, coding: 0.6 },
    small: { price: 0.5, coding: 0.3 },
  };

  test('is whom the request lists', async (t) => {
    const row = await startModelRow(t, three);
    const answer = await row.ask(SLUG, { models: ['acme/middle', 'acme/large'], ...by('auto') });
    const { capable, efficient } = dataOf(answer);
    assert.deepEqual([answer.model, capable, efficient], ['acme/middle', 'acme/large', 'acme/middle']);
  });

  test('else the operator’s pair', async (t) => {
    const more = 'routers: { switchyard: { efficient: acme/middle, capable: acme/large } }';
    const row = await startModelRow(t, three, { more });
    assert.equal((await row.ask(SLUG, by('auto'))).model, 'acme/middle');
  });

  test('else the best and the cheapest of all', async (t) => {
    const row = await startModelRow(t, three);
    const answer = await row.ask(SLUG, by('auto'));
    const { capable, efficient } = dataOf(answer);
    assert.deepEqual([answer.model, capable, efficient], ['acme/small', 'acme/large', 'acme/small']);
  });

  test('a model that fails is stood in for by the capable one, and the strategy stays', async (t) => {
    const failing: Script = (_arrived, response) => void response.writeHead(503).end('{}');
    const row = await startModelRow(t, { ...three, small: { ...three.small, script: failing } });
    const answer = await row.ask(SLUG, by('auto'));
    assert.deepEqual([answer.model, answer.metadata.strategy], ['acme/large', 'switchyard']);
  });

  test('nobody at all is 404', async (t) => {
    const row = await startModelRow(t, three);
    const answer = await row.ask(SLUG, { provider: { only: ['nobody'] } });
    assert.equal(answer.status, 404);
    assert.match(answer.message ?? '', /No models match your request and model restrictions/);
  });

  test('an algorithm that there is not is 400 and names the member', async (t) => {
    const row = await startModelRow(t, three);
    const answer = await row.ask(SLUG, by('best'));
    assert.deepEqual([answer.status, answer.message?.includes('algorithm')], [400, true]);
  });
});

suite('an explanation', () => {
  test('shows the decision, asks no judge and says so', async (t) => {
    const row = await start(t, judgeSays(EASY));
    const explained = await row.explain(SLUG);
    const [router] = explained['routers'] as readonly Record<string, unknown>[];
    assert.deepEqual([router?.['capable'], router?.['efficient']], ['acme/large', 'acme/small']);
    assert.match(JSON.stringify(explained['service_metadata']), /"judge":"is not asked here/);
    assert.ok(Object.values(row.upstreams).every(({ arrived }) => arrived.length === 0));
  });
});

suite('streams and the messages endpoint', () => {
  test('a stream is decided on before it begins', async (t) => {
    const stream: Script = (arrived, response, request) =>
      isJudged(arrived)
        ? judging('small', judgeSays(EASY))(arrived, response, request)
        : streamed(chatStream('I am small'))(arrived, response, request);
    const row = await startModelRow(t, {
      large: { price: 10, intelligence: 0.9 },
      small: { price: 0.5, intelligence: 0.4, script: stream },
    });
    const messages = [WISH];
    const response = await row.gateway.post('/chat/completions', { model: SLUG, stream: true, messages });
    const text = await response.text();
    assert.match(text, /"model":"acme\/small"/);
    assert.match(text, /\[DONE\]/);
  });

  test('a caller who hangs up takes the judge along', async (t) => {
    const gone = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const silent = (): Script => (_arrived, response) => {
      response.on('close', () => gone.resolve());
      reached.resolve();
    };
    const row = await start(t, silent);
    const caller = new AbortController();
    const asked = row.gateway.post('/chat/completions', { model: SLUG, messages: [WISH] }, {}, caller.signal);
    await reached.promise;
    caller.abort();
    await assert.rejects(asked);
    await gone.promise;
    assert.equal(row.upstreams['large']?.arrived.length, 0);
  });

  test('results of tools in a turn of the user’s are no words of a person', async (t) => {
    const row = await start(t, judgeSays(EASY));
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
