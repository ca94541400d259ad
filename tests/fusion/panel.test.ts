import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import {
  ANALYSIS,
  requestedOf,
  fusionTool,
  hasResult,
  PANEL,
  resultRead,
  states,
  startPanel,
  type States,
} from '../support/panel.ts';
import { objectOf } from '../support/reported.ts';
import { ask, type Asking } from '../support/tool-turns.ts';
import { chatAnswer, json, type Arrived } from '../support/upstream.ts';

const ASKINGS: readonly Asking[] = (['chat', 'messages'] as const).flatMap((format) =>
  [true, false].map((stream) => ({ format, model: 'acme/outer', stream })),
);
const CHAT: Asking = { format: 'chat', model: 'acme/outer', stream: false };
const nameOf = ({ format, stream }: Asking): string => `${format} caller, ${stream ? 'stream' : 'whole'}`;

const METADATA = { 'x-service-metadata': 'enabled' };

/** The named models fail with the status; the others respond as usual. */
function failing(statuses: Readonly<Record<string, number>>): States {
  return (who, arrived) => {
    const status = statuses[who];
    return status === undefined
      ? states(who, arrived)
      : json(status, { error: { message: 'no', type: 'x', code: 'y' } });
  };
}

/** The stage of the panel in a chat response. */
async function stageOf(...[turns, body]: [Parameters<typeof ask>[0], object]): Promise<JsonObject> {
  const answer = await turns.gateway.post(
    '/chat/completions',
    { model: 'acme/outer', messages: [{ role: 'user', content: 'Tea?' }], ...body },
    METADATA,
  );
  const { service_metadata: metadata } = (await answer.json()) as Record<string, JsonObject>;
  const pipeline = objectOf(metadata)['pipeline'] as readonly JsonObject[];
  return objectOf(pipeline.find(({ name }) => name === 'fusion'));
}

suite('a panel without failures', () => {
  for (const asking of ASKINGS) {
    // @spec fusion-8, fusion-9
    test(`is compared, and the outer model writes the response: ${nameOf(asking)}`, async (t) => {
      const turns = await startPanel(t);
      const reported = await ask(turns, asking, { tools: [fusionTool()] });
      assert.equal(reported.status, 200);
      assert.match(reported.text, /In the end: tea\.$/);
      const result = resultRead(turns);
      assert.deepEqual(result, {
        status: 'ok',
        analysis: ANALYSIS,
        responses: PANEL.map((model) => ({ model, content: `${model.slice(5)} says tea.` })),
      });
    });
  }

  // @spec fusion-7
  test('reads the prompt unchanged, and no other answer', async (t) => {
    const turns = await startPanel(t);
    await ask(turns, CHAT, { tools: [fusionTool()], messages: [{ role: 'user', content: 'Tea or coffee?' }] });
    const [requested] = requestedOf(turns, 'one');
    const [system, user, ...more] = (requested?.body['messages'] ?? []) as readonly JsonObject[];
    assert.deepEqual(more, []);
    assert.equal(objectOf(system)['role'], 'system');
    assert.match(JSON.stringify(user), /"Tea or coffee\?"/);
    assert.doesNotMatch(requested?.text ?? '', /says tea/);
  });

  // @spec fusion-7
  test('reads a longer conversation as a transcript without images', async (t) => {
    const turns = await startPanel(t);
    await ask(turns, CHAT, {
      tools: [fusionTool()],
      messages: [
        { role: 'system', content: 'Answer in verse.' },
        { role: 'user', content: 'Hello.' },
        { role: 'assistant', content: 'Good day.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          ],
        },
      ],
    });
    const { text } = requestedOf(turns, 'one')[0] as Arrived;
    for (const words of ['Answer in verse.', 'Good day.', 'What is this?', '[image]'])
      assert.ok(text.includes(words), words);
    assert.doesNotMatch(text, /iVBORw0KGgo/);
  });

  // @spec fusion-6
  test('gets the parameters; the analyst has temperature 0 and a schema', async (t) => {
    const turns = await startPanel(t);
    const parameters = {
      temperature: 0.7,
      max_completion_tokens: 321,
      reasoning: { effort: 'low' },
      cache_control: { type: 'ephemeral' },
    };
    await ask(turns, CHAT, { tools: [fusionTool(parameters)] });
    const member = requestedOf(turns, 'one')[0]?.body ?? {};
    assert.equal(member['temperature'], 0.7);
    assert.equal(member['max_tokens'] ?? member['max_completion_tokens'], 321);
    assert.equal(member['response_format'], undefined);
    const judge = requestedOf(turns, 'judge')[0]?.body ?? {};
    assert.equal(judge['temperature'], 0);
    assert.equal(objectOf(judge['response_format'] as JsonObject)['type'], 'json_schema');
    assert.match(JSON.stringify(judge), /one says tea/);
    assert.match(requestedOf(turns, 'two')[0]?.text ?? '', /"cache_control":\{"type":"ephemeral"\}/);
  });

  test('gets no maximum beyond what its models write', async (t) => {
    const endpoint = 'endpoints: [{ provider: chatty, model: three, price: { prompt: 1, completion: 2 } }]';
    const yaml = `  acme/short: { max_completion_tokens: 4096, ${endpoint} }\n`;
    const turns = await startPanel(t, states, { yaml });
    await ask(turns, CHAT, { tools: [fusionTool({ analysis_models: ['acme/one', 'acme/short'] })] });
    const limits = (['one', 'three'] as const).map((who) => {
      const { body } = requestedOf(turns, who)[0] as Arrived;
      return body['max_tokens'] ?? body['max_completion_tokens'];
    });
    assert.deepEqual(limits, [16_000, 4_096]);
  });

  // @spec fusion-19
  test('lists models, times and costs in the metadata', async (t) => {
    const stage = await stageOf(await startPanel(t), { tools: [fusionTool()] });
    assert.equal(stage['type'], 'fusion');
    assert.equal(stage['summary'], '3 of 3 models of the panel answered');
    const { members, analyst } = objectOf(stage['data']);
    for (const [at, member] of (members as readonly JsonObject[]).entries()) {
      const { ms, ...rest } = member;
      assert.equal(typeof ms, 'number');
      const cost = { prompt_tokens: 10, completion_tokens: 5, cost_usd: 0.00002 };
      assert.deepEqual(rest, { model: PANEL[at], status: 'ok', ...cost });
    }
    assert.equal(objectOf(analyst)['model'], 'acme/judge');
    assert.equal(stage['cost_usd'], 0.00008);
  });

  // @spec fusion-13
  test('runs once, however often the model calls', async (t) => {
    const turns = await startPanel(t, (who, arrived) => {
      if (who !== 'outer' || hasResult(arrived.body)) return states(who, arrived);
      return {
        calls: [
          { id: 'a', name: 'service_fusion' },
          { id: 'b', name: 'service_fusion' },
        ],
      };
    });
    await ask(turns, CHAT, { tools: [fusionTool()] });
    assert.equal(requestedOf(turns, 'one').length, 1);
    const result = resultRead(turns);
    assert.deepEqual([result['status'], result['failure_reason']], ['error', 'fusion_invocation_capped']);
  });

  test("is cut for the outer model's context, and whole for the caller", async (t) => {
    const long = 'word '.repeat(16_000);
    const endpoint = 'endpoints: [{ provider: chatty, model: outer, price: { prompt: 1, completion: 2 } }]';
    const yaml = `  acme/narrow: { context_length: 40000, ${endpoint} }\n`;
    const turns = await startPanel(
      t,
      (who, arrived) => (who === 'one' || who === 'two' ? { text: `${who}: ${long}` } : states(who, arrived)),
      { yaml },
    );
    const narrow = { ...CHAT, model: 'acme/narrow' };
    const reported = await ask(turns, narrow, { tools: [fusionTool()] });
    assert.match(reported.text, /In the end: tea\.$/);
    const read = resultRead(turns)['responses'] as readonly { readonly content: string }[];
    const lengths = read.map(({ content }) => content.length);
    // Half of 40,000 tokens, of which the short answer takes little.
    assert.ok(lengths[0] === lengths[1] && (lengths[0] ?? 0) > 29_000 && (lengths[0] ?? 0) < 31_000, lengths.join());
    const [detail] = reported.message['reasoning_details'] as readonly JsonObject[];
    const whole = objectOf(JSON.parse(detail?.['result'] as string) as JsonObject);
    assert.equal((whole['responses'] as readonly { readonly content: string }[])[0]?.content.length, long.length + 4);
  });

  // @spec fusion-9
  test('cites each source once, and the response has the citations', async (t) => {
    const cites = (text: string) =>
      json(200, {
        ...chatAnswer(text),
        choices: [
          {
            index: 0,
            finish_reason: 'stop',
            message: {
              role: 'assistant',
              content: text,
              annotations: [
                {
                  type: 'url_citation',
                  url_citation: { url: 'https://tea.test/', title: 'Tea', start_index: 0, end_index: 3 },
                },
              ],
            },
          },
        ],
      });
    const turns = await startPanel(t, (who, arrived) =>
      who === 'one' || who === 'three' ? cites(`${who} read it.`) : states(who, arrived),
    );
    const reported = await ask(turns, CHAT, { tools: [fusionTool()] });
    assert.deepEqual(resultRead(turns)['sources'], [{ title: 'Tea', url: 'https://tea.test/' }]);
    const urls = (reported.message['annotations'] as readonly JsonObject[]).map(
      (one) => objectOf(one['url_citation'])['url'],
    );
    assert.deepEqual(urls, ['https://tea.test/']);
  });

  test('may have one to eight models', async (t) => {
    const turns = await startPanel(t);
    const reported = await ask(turns, CHAT, { tools: [fusionTool({ analysis_models: ['acme/one'] })] });
    assert.match(reported.text, /tea\.$/);
    const nine = Array.from({ length: 9 }, () => 'acme/one');
    const refused = await turns.gateway.post('/chat/completions', {
      model: 'acme/outer',
      messages: [{ role: 'user', content: 'Tea?' }],
      tools: [fusionTool({ analysis_models: nine })],
    });
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), /tools\[0\]\.parameters\.analysis_models/);
  });
});

suite('a panel with some failures', () => {
  for (const asking of ASKINGS) {
    // @spec fusion-10
    test(`continues with the others, and names the failed ones: ${nameOf(asking)}`, async (t) => {
      const turns = await startPanel(t, failing({ two: 500 }));
      const reported = await ask(turns, asking, { tools: [fusionTool()] });
      assert.match(reported.text, /In the end: tea\.$/);
      const result = resultRead(turns);
      assert.equal(result['status'], 'ok');
      assert.deepEqual(
        (result['responses'] as readonly JsonObject[]).map(({ model }) => model),
        ['acme/one', 'acme/three'],
      );
      const [failed, ...more] = result['failed_models'] as readonly JsonObject[];
      assert.deepEqual([failed?.['model'], failed?.['status_code'], more], ['acme/two', 502, []]);
    });
  }

  test('reports them in the metadata', async (t) => {
    const stage = await stageOf(await startPanel(t, failing({ two: 500 })), { tools: [fusionTool()] });
    assert.equal(stage['summary'], '2 of 3 models of the panel answered');
    const statuses = (objectOf(stage['data'])['members'] as readonly JsonObject[]).map(({ status }) => status);
    assert.deepEqual(statuses, ['ok', 'failed', 'ok']);
  });

  // @spec fusion-10
  test('counts an empty answer as failed', async (t) => {
    const turns = await startPanel(t, (who, arrived) => (who === 'three' ? { text: '' } : states(who, arrived)));
    await ask(turns, CHAT, { tools: [fusionTool()] });
    const [failed] = resultRead(turns)['failed_models'] as readonly JsonObject[];
    assert.equal(failed?.['model'], 'acme/three');
  });

  test('calls a member again without tools when it rejects them', async (t) => {
    const turns = await startPanel(t, (who, arrived) =>
      who === 'one' && 'tools' in arrived.body
        ? json(400, { error: { message: 'tools are not supported', type: 'invalid_request_error' } })
        : states(who, arrived),
    );
    await ask(turns, CHAT, { tools: [fusionTool({ tools: [{ type: 'service:datetime' }] })] });
    assert.equal(resultRead(turns)['failed_models'], undefined);
    assert.equal(requestedOf(turns, 'one').length, 2);
  });
});

suite('a panel with only failures', () => {
  const FAILURES: readonly (readonly [string, States, readonly string[], string])[] = [
    ['upstreams that fail', failing({ one: 500, two: 500, three: 500 }), PANEL, 'all_panels_failed'],
    ['upstreams with rate limits', failing({ one: 429, two: 429, three: 429 }), PANEL, 'rate_limited'],
    ['models that do not exist', states, ['acme/nobody', 'acme/nowhere'], 'invalid_model'],
    ['different reasons', failing({ one: 429 }), ['acme/one', 'acme/nobody'], 'all_panels_failed'],
  ];
  for (const [what, emit, panel, reason] of FAILURES) {
    // @spec fusion-12
    test(`is an error result with the reason, and the outer model responds: ${what}`, async (t) => {
      const turns = await startPanel(t, emit);
      const reported = await ask(turns, CHAT, { tools: [fusionTool({ analysis_models: [...panel] })] });
      assert.equal(reported.status, 200);
      assert.match(reported.text, /In the end: tea\.$/);
      const result = resultRead(turns);
      assert.deepEqual([result['status'], result['failure_reason']], ['error', reason]);
      assert.equal((result['failed_models'] as readonly JsonObject[]).length, panel.length);
      assert.equal(requestedOf(turns, 'judge').length, 0, 'there is nothing to compare');
    });
  }
});

suite('an analyst that fails', () => {
  const FAULTS: readonly (readonly [string, States, string])[] = [
    [
      'says no JSON',
      (who, arrived) => (who === 'judge' ? { text: 'Tea, I think.' } : states(who, arrived)),
      'judge_not_valid_json',
    ],
    [
      'forgets members',
      (who, arrived) => (who === 'judge' ? { text: '{"consensus": []}' } : states(who, arrived)),
      'judge_schema_mismatch',
    ],
    [
      'says nothing',
      (who, arrived) => (who === 'judge' ? { text: '' } : states(who, arrived)),
      'judge_empty_completion',
    ],
    ['fails upstream', failing({ judge: 500 }), 'judge_upstream_error'],
  ];
  for (const [what, emit, fault] of FAULTS) {
    // @spec fusion-11
    test(`costs only the analysis: it ${what}`, async (t) => {
      const turns = await startPanel(t, emit);
      await ask(turns, CHAT, { tools: [fusionTool()] });
      const result = resultRead(turns);
      assert.deepEqual([result['status'], result['failure_reason'], result['analysis']], ['ok', fault, undefined]);
      assert.equal((result['responses'] as readonly JsonObject[]).length, 3);
    });
  }

  test('is parsed when its JSON is in a code fence', async (t) => {
    const text = `Here it is:\n\`\`\`json\n${JSON.stringify(ANALYSIS)}\n\`\`\``;
    const turns = await startPanel(t, (who, arrived) => (who === 'judge' ? { text } : states(who, arrived)));
    await ask(turns, CHAT, { tools: [fusionTool()] });
    assert.deepEqual(resultRead(turns)['analysis'], ANALYSIS);
  });
});

suite('tools of the panel', () => {
  const called =
    (name: string): States =>
    (who, arrived, turn) => {
      if (who !== 'one') return states(who, arrived);
      return turn < 9 && arrived.body['tool_choice'] !== 'none' ? { calls: [{ name }] } : { text: 'one has looked.' };
    };

  // @spec fusion-2
  test('are web search and web fetch by default', async (t) => {
    const turns = await startPanel(t);
    const { tools: _none, ...parameters } = fusionTool()['parameters'] as JsonObject;
    await ask(turns, CHAT, { tools: [{ type: 'service:fusion', parameters }] });
    for (const who of ['one', 'judge'] as const) {
      const tools = requestedOf(turns, who)[0]?.body['tools'] as readonly { function: { name: string } }[];
      assert.deepEqual(
        tools.map((tool) => tool.function.name),
        ['service_web_search', 'service_web_fetch'],
      );
    }
  });

  for (const [given, most] of [
    [undefined, 4],
    [2, 2],
  ] as const) {
    // @spec fusion-2
    test(`may be called ${most} times by each member with max_tool_calls ${given ?? 'not given'}`, async (t) => {
      const turns = await startPanel(t, called('service_datetime'));
      const parameters = {
        tools: [{ type: 'service:datetime' }],
        ...(given !== undefined && { max_tool_calls: given }),
      };
      await ask(turns, CHAT, { tools: [fusionTool(parameters)] });
      // Each call is a turn, and one without tools follows.
      assert.equal(requestedOf(turns, 'one').length, most + 1);
      const [first] = resultRead(turns)['responses'] as readonly JsonObject[];
      assert.equal(first?.['content'], 'one has looked.');
    });
  }

  for (const type of ['service:fusion', 'service:nothing', 'function']) {
    test(`cannot be ${type}`, async (t) => {
      const { gateway } = await startPanel(t);
      const answer = await gateway.post('/chat/completions', {
        model: 'acme/outer',
        messages: [{ role: 'user', content: 'Tea?' }],
        tools: [fusionTool({ tools: [{ type }] })],
      });
      assert.equal(answer.status, 400);
      assert.match(await answer.text(), /tools\[0\]\.parameters\.tools\[0\]\.type/);
    });
  }
});
