import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { manage } from '../support/byok.ts';
import { requestedOf, fusionTool, hasResult, resultRead, states, startPanel, type States } from '../support/panel.ts';
import { objectOf } from '../support/reported.ts';
import { ask, testTool, type Asking, type ToolTurns } from '../support/tool-turns.ts';

const PLUGIN = { id: 'fusion', analysis_models: ['acme/one', 'acme/two'], tools: [] };
/** A place whose first choice is not served, a place that is already taken, and the model that writes. */
const PRESETS = `
routers:
  fusion:
    presets:
      general-high:
        analysis_models: [[acme/nowhere, acme/one], [acme/one, acme/two]]
        model: [acme/nowhere, acme/outer]
      general-fast: { analysis_models: acme/three, model: acme/outer }
`.replace('analysis_models: acme/three', 'analysis_models: [acme/three]');

/** The upstream's name of `acme/messages`. */
const WRITER = 'claude-sonnet-4-6';

const asking = (model: string, format: Asking['format'] = 'chat', stream = false): Asking => ({
  format,
  model,
  stream,
});

/** Without a tool that it could call, the outer model answers at once. */
const calmly: States = (who, arrived) =>
  who === 'outer' && !('tools' in arrived.body) ? { text: 'By myself.' } : states(who, arrived);

async function whole({ gateway }: ToolTurns, body: object): Promise<JsonObject> {
  const messages = [{ role: 'user', content: 'Tea?' }];
  const headers = { 'x-service-metadata': 'enabled' };
  const answer = await gateway.post('/chat/completions', { messages, ...body }, headers);
  return objectOf((await answer.json()) as JsonObject);
}

const panelOf = (turns: ToolTurns): readonly unknown[] =>
  (resultRead(turns)['responses'] as readonly JsonObject[]).map(({ model }) => model);

suite('the plugin', () => {
  for (const format of ['chat', 'messages'] as const)
    for (const stream of [true, false]) {
      test(`offers the panel to the requested model: ${format}, ${stream ? 'stream' : 'whole'}`, async (t) => {
        const turns = await startPanel(t);
        const reported = await ask(turns, asking('acme/outer', format, stream), { plugins: [PLUGIN] });
        assert.match(reported.text, /In the end: tea\.$/);
        assert.deepEqual(panelOf(turns), ['acme/one', 'acme/two']);
        // No other model is named, so the outer model compares.
        assert.equal(requestedOf(turns, 'judge').length, 0);
        assert.equal(requestedOf(turns, 'outer').length, 3);
      });
    }

  // @spec fusion-1
  test('leaves the decision to call the panel to the model', async (t) => {
    const turns = await startPanel(t, (who) => ({ text: `${who} knows.` }));
    const reported = await ask(turns, asking('acme/outer'), { plugins: [PLUGIN] });
    assert.equal(reported.text, 'outer knows.');
    assert.equal(requestedOf(turns, 'one').length, 0);
  });

  // @spec fusion-1
  test('forces the call with tool_choice "required", in the first turn only', async (t) => {
    const turns = await startPanel(t);
    await ask(turns, asking('acme/outer'), { plugins: [PLUGIN], tool_choice: 'required' });
    const [first, ...later] = requestedOf(turns, 'outer').map(({ body }) => body['tool_choice']);
    assert.deepEqual([first, later.includes('required')], ['required', false]);
  });

  // @spec fusion-15
  test('is bypassed by enabled: false, also with its slug', async (t) => {
    const turns = await startPanel(t, calmly, { yaml: PRESETS });
    const plugins = [{ ...PLUGIN, enabled: false }];
    for (const model of ['acme/outer', 'service/fusion']) {
      const reported = await ask(turns, asking(model), { plugins });
      assert.equal(reported.text, 'By myself.', model);
    }
    assert.equal(requestedOf(turns, 'one').length, 0);
  });

  test('completes an entry of the caller', async (t) => {
    const turns = await startPanel(t);
    const own = { type: 'service:fusion', parameters: { analysis_models: ['acme/three'] } };
    await ask(turns, asking('acme/outer'), { plugins: [{ ...PLUGIN, model: 'acme/judge' }], tools: [own] });
    assert.deepEqual(panelOf(turns), ['acme/three']);
    assert.equal(requestedOf(turns, 'judge').length, 1);
  });

  test('applies as a workspace default to requests of callers, and not to nested ones', async (t) => {
    const turns = await startPanel(t);
    const defaults = { default_plugins: [{ ...PLUGIN, model: 'acme/judge' }] };
    const { status, text } = await manage(turns.gateway, 'PATCH', '/workspaces/default', defaults);
    assert.equal(status, 200, text);
    await ask(turns, asking('acme/outer'), {});
    assert.deepEqual(panelOf(turns), ['acme/one', 'acme/two']);
    for (const who of ['one', 'two', 'judge'] as const)
      for (const { text: requested } of requestedOf(turns, who)) assert.doesNotMatch(requested, /service_fusion/);
  });

  for (const [member, value] of [
    ['analysis_models', []],
    ['max_tool_calls', 17],
    ['preset', 'general'],
    ['tools', [{ type: 'service:fusion' }]],
  ] as const) {
    // @spec fusion-2
    test(`refuses ${member}: ${JSON.stringify(value)} with its path`, async (t) => {
      const turns = await startPanel(t);
      const answer = await turns.gateway.post('/messages', {
        model: 'acme/outer',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'Tea?' }],
        plugins: [{ id: 'fusion', [member]: value }],
      });
      assert.equal(answer.status, 400);
      assert.match(await answer.text(), new RegExp(`plugins\\[0\\]\\.${member}`));
    });
  }
});

suite('the slugs', () => {
  // @spec fusion-4
  test('select the first available model of their preset, which also compares and writes', async (t) => {
    const turns = await startPanel(t, states, { yaml: PRESETS });
    const answer = await whole(turns, { model: 'service/fusion', plugins: [{ id: 'fusion', tools: [] }] });
    assert.equal(answer['model'], 'acme/outer');
    const { strategy, requested } = objectOf(answer['service_metadata']);
    assert.deepEqual([strategy, requested], ['fusion', 'service/fusion']);
    assert.deepEqual(panelOf(turns), ['acme/one', 'acme/two'], 'no model takes two places');
    assert.equal(requestedOf(turns, 'outer').length, 3);
  });

  // @spec fusion-3
  test('select general-fast for service/fusion-flash, unless the request names another preset', async (t) => {
    const turns = await startPanel(t, states, { yaml: PRESETS });
    await whole(turns, { model: 'service/fusion-flash' });
    assert.deepEqual(panelOf(turns), ['acme/three']);
    await whole(turns, { model: 'service/fusion-flash', plugins: [{ id: 'fusion', preset: 'general-high' }] });
    assert.deepEqual(panelOf(turns), ['acme/one', 'acme/two']);
  });

  // @spec fusion-3
  test('yield to models that the request names', async (t) => {
    const turns = await startPanel(t, states, { yaml: PRESETS });
    const plugins = [{ id: 'fusion', preset: 'general-fast', analysis_models: ['acme/two'], model: 'acme/outer' }];
    await whole(turns, { model: 'service/fusion', plugins });
    assert.deepEqual(panelOf(turns), ['acme/two']);
  });

  // @spec fusion-4
  test("combine a preset's analyst with the requested model", async (t) => {
    const yaml = PRESETS.replaceAll('model: acme/outer', 'model: acme/judge');
    const turns = await startPanel(t, states, { yaml });
    const tool = { type: 'service:fusion', parameters: { preset: 'general-fast', tools: [] } };
    await whole(turns, { model: 'acme/outer', tools: [tool] });
    assert.deepEqual(panelOf(turns), ['acme/three']);
    assert.equal(requestedOf(turns, 'judge').length, 1);
  });

  test('use the strongest other models when no model of the presets is configured', async (t) => {
    const endpoint = (who: string): string =>
      `endpoints: [{ provider: chatty, model: ${who}, price: { prompt: 1, completion: 2 } }]`;
    const models = `
  acme/best: { ${endpoint('outer')}, scores: { intelligence: 0.9 } }
  acme/good: { ${endpoint('one')}, scores: { intelligence: 0.8 } }
  acme/fair: { ${endpoint('two')}, scores: { intelligence: 0.7 } }
`;
    const turns = await startPanel(t, states, { yaml: models });
    const answer = await whole(turns, { model: 'service/fusion', plugins: [{ id: 'fusion', tools: [] }] });
    assert.equal(answer['model'], 'acme/best');
    const requestedCount = requestedOf(turns, 'one').length + requestedOf(turns, 'two').length;
    assert.equal(requestedCount, 2);
  });

  // @spec fusion-14
  test('run no panel inside a panel', async (t) => {
    const turns = await startPanel(
      t,
      (who, arrived, turn) => {
        if (arrived.body['model'] !== WRITER) return calmly(who, arrived, turn);
        return hasResult(arrived.body) ? { text: 'Done.' } : { calls: [{ name: 'service_fusion' }] };
      },
      { yaml: PRESETS },
    );
    const plugin = { id: 'fusion', analysis_models: ['service/fusion'], model: 'acme/judge', tools: [] };
    const reported = await ask(turns, asking('acme/messages'), { plugins: [plugin] });
    assert.equal(reported.text, 'Done.');
    assert.deepEqual(
      requestedOf(turns, 'outer').map(({ body }) => 'tools' in body),
      [false],
    );
    assert.equal(requestedOf(turns, 'one').length, 0);
  });
});

test('may be called by a tool that calls a model, without nesting', async (t) => {
  const helper = testTool('files', async ({ generate, signal }) => {
    const { response } = await generate(
      {
        models: ['acme/outer'],
        turns: [{ role: 'user', blocks: [{ type: 'text', text: 'Tea?' }] }],
        tools: [{ type: 'server', name: 'service:fusion', parameters: objectOf(fusionTool()['parameters']) }],
      },
      signal,
    );
    return { result: response.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('') };
  });
  const turns = await startPanel(
    t,
    (who, arrived, turn) => {
      if (arrived.body['model'] !== WRITER) return states(who, arrived);
      return turn === 0 ? { calls: [{ name: 'service_files' }] } : { text: 'Done.' };
    },
    { serverTools: [helper] },
  );
  const reported = await ask(turns, asking('acme/messages'), { tools: [{ type: 'service:files' }] });
  assert.equal(reported.text, 'Done.');
  assert.equal(requestedOf(turns, 'one').length, 1);
});
