import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { manage } from '../support/byok.ts';
import { askedOf, fusionTool, hasResult, resultRead, says, startPanel, type Says } from '../support/panel.ts';
import { objectOf } from '../support/told.ts';
import { ask, testTool, type Asking, type ToolTurns } from '../support/tool-turns.ts';

const PLUGIN = { id: 'fusion', analysis_models: ['acme/one', 'acme/two'], tools: [] };
/** A place whose first choice nobody serves, one that is taken already, and who writes. */
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
const calmly: Says = (who, arrived) =>
  who === 'outer' && !('tools' in arrived.body) ? { text: 'By myself.' } : says(who, arrived);

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
      test(`offers the panel to whichever model was asked: ${format}, ${stream ? 'stream' : 'whole'}`, async (t) => {
        const turns = await startPanel(t);
        const told = await ask(turns, asking('acme/outer', format, stream), { plugins: [PLUGIN] });
        assert.match(told.text, /In the end: tea\.$/);
        assert.deepEqual(panelOf(turns), ['acme/one', 'acme/two']);
        // Nobody else was named, so the outer model compares.
        assert.equal(askedOf(turns, 'judge').length, 0);
        assert.equal(askedOf(turns, 'outer').length, 3);
      });
    }

  test('leaves it to the model whether to ask the panel', async (t) => {
    const turns = await startPanel(t, (who) => ({ text: `${who} knows.` }));
    const told = await ask(turns, asking('acme/outer'), { plugins: [PLUGIN] });
    assert.equal(told.text, 'outer knows.');
    assert.equal(askedOf(turns, 'one').length, 0);
  });

  test('with tool_choice "required" has the model call, in the first turn alone', async (t) => {
    const turns = await startPanel(t);
    await ask(turns, asking('acme/outer'), { plugins: [PLUGIN], tool_choice: 'required' });
    const [first, ...later] = askedOf(turns, 'outer').map(({ body }) => body['tool_choice']);
    assert.deepEqual([first, later.includes('required')], ['required', false]);
  });

  test('is bypassed by enabled: false, also where its slug is asked for', async (t) => {
    const turns = await startPanel(t, calmly, { yaml: PRESETS });
    const plugins = [{ ...PLUGIN, enabled: false }];
    for (const model of ['acme/outer', 'service/fusion']) {
      const told = await ask(turns, asking(model), { plugins });
      assert.equal(told.text, 'By myself.', model);
    }
    assert.equal(askedOf(turns, 'one').length, 0);
  });

  test('adds to an entry of the caller what that does not say', async (t) => {
    const turns = await startPanel(t);
    const own = { type: 'service:fusion', parameters: { analysis_models: ['acme/three'] } };
    await ask(turns, asking('acme/outer'), { plugins: [{ ...PLUGIN, model: 'acme/judge' }], tools: [own] });
    assert.deepEqual(panelOf(turns), ['acme/three']);
    assert.equal(askedOf(turns, 'judge').length, 1);
  });

  test('as the default of a workspace reaches requests of callers, and none that serve one', async (t) => {
    const turns = await startPanel(t);
    const defaults = { default_plugins: [{ ...PLUGIN, model: 'acme/judge' }] };
    const { status, text } = await manage(turns.gateway, 'PATCH', '/workspaces/default', defaults);
    assert.equal(status, 200, text);
    await ask(turns, asking('acme/outer'), {});
    assert.deepEqual(panelOf(turns), ['acme/one', 'acme/two']);
    for (const who of ['one', 'two', 'judge'] as const)
      for (const { text: asked } of askedOf(turns, who)) assert.doesNotMatch(asked, /service_fusion/);
  });

  for (const [member, value] of [
    ['analysis_models', []],
    ['max_tool_calls', 17],
    ['preset', 'general'],
    ['tools', [{ type: 'service:fusion' }]],
  ] as const) {
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
  test('service/fusion is the first model of its preset that can be asked, which also compares and writes', async (t) => {
    const turns = await startPanel(t, says, { yaml: PRESETS });
    const answer = await whole(turns, { model: 'service/fusion', plugins: [{ id: 'fusion', tools: [] }] });
    assert.equal(answer['model'], 'acme/outer');
    const { strategy, requested } = objectOf(answer['service_metadata']);
    assert.deepEqual([strategy, requested], ['fusion', 'service/fusion']);
    assert.deepEqual(panelOf(turns), ['acme/one', 'acme/two'], 'nobody takes two places');
    assert.equal(askedOf(turns, 'outer').length, 3);
  });

  test('service/fusion-flash has the panel of general-fast, unless the request names another', async (t) => {
    const turns = await startPanel(t, says, { yaml: PRESETS });
    await whole(turns, { model: 'service/fusion-flash' });
    assert.deepEqual(panelOf(turns), ['acme/three']);
    await whole(turns, { model: 'service/fusion-flash', plugins: [{ id: 'fusion', preset: 'general-high' }] });
    assert.deepEqual(panelOf(turns), ['acme/one', 'acme/two']);
  });

  test('what the request names counts before the preset', async (t) => {
    const turns = await startPanel(t, says, { yaml: PRESETS });
    const plugins = [{ id: 'fusion', preset: 'general-fast', analysis_models: ['acme/two'], model: 'acme/outer' }];
    await whole(turns, { model: 'service/fusion', plugins });
    assert.deepEqual(panelOf(turns), ['acme/two']);
  });

  test('a preset of the tool puts its own analyst beside the model that answers', async (t) => {
    const yaml = PRESETS.replaceAll('model: acme/outer', 'model: acme/judge');
    const turns = await startPanel(t, says, { yaml });
    const tool = { type: 'service:fusion', parameters: { preset: 'general-fast', tools: [] } };
    await whole(turns, { model: 'acme/outer', tools: [tool] });
    assert.deepEqual(panelOf(turns), ['acme/three']);
    assert.equal(askedOf(turns, 'judge').length, 1);
  });

  test('where nobody of the presets is configured, the strongest of the other models take the places', async (t) => {
    const endpoint = (who: string): string =>
      `endpoints: [{ provider: chatty, model: ${who}, price: { prompt: 1, completion: 2 } }]`;
    const models = `
  acme/best: { ${endpoint('outer')}, scores: { intelligence: 0.9 } }
  acme/good: { ${endpoint('one')}, scores: { intelligence: 0.8 } }
  acme/fair: { ${endpoint('two')}, scores: { intelligence: 0.7 } }
`;
    const turns = await startPanel(t, says, { yaml: models });
    const answer = await whole(turns, { model: 'service/fusion', plugins: [{ id: 'fusion', tools: [] }] });
    assert.equal(answer['model'], 'acme/best');
    const asked = askedOf(turns, 'one').length + askedOf(turns, 'two').length;
    assert.equal(asked, 2);
  });

  test('behind a panel stands no panel: a member that is itself a fusion slug answers by itself', async (t) => {
    const turns = await startPanel(
      t,
      (who, arrived, turn) => {
        if (arrived.body['model'] !== WRITER) return calmly(who, arrived, turn);
        return hasResult(arrived.body) ? { text: 'Done.' } : { calls: [{ name: 'service_fusion' }] };
      },
      { yaml: PRESETS },
    );
    const plugin = { id: 'fusion', analysis_models: ['service/fusion'], model: 'acme/judge', tools: [] };
    const told = await ask(turns, asking('acme/messages'), { plugins: [plugin] });
    assert.equal(told.text, 'Done.');
    assert.deepEqual(
      askedOf(turns, 'outer').map(({ body }) => 'tools' in body),
      [false],
    );
    assert.equal(askedOf(turns, 'one').length, 0);
  });
});

test('a tool that asks a model may ask a panel, which asks none', async (t) => {
  const helper = testTool('files', async ({ signal }, { generate }) => {
    const { answer } = await generate(
      {
        models: ['acme/outer'],
        turns: [{ role: 'user', blocks: [{ type: 'text', text: 'Tea?' }] }],
        tools: [{ type: 'server', name: 'service:fusion', parameters: objectOf(fusionTool()['parameters']) }],
      },
      signal,
    );
    return { result: answer.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('') };
  });
  const turns = await startPanel(
    t,
    (who, arrived, turn) => {
      if (arrived.body['model'] !== WRITER) return says(who, arrived);
      return turn === 0 ? { calls: [{ name: 'service_files' }] } : { text: 'Done.' };
    },
    { serverTools: [helper] },
  );
  const told = await ask(turns, asking('acme/messages'), { tools: [{ type: 'service:files' }] });
  assert.equal(told.text, 'Done.');
  assert.equal(askedOf(turns, 'one').length, 1);
});
