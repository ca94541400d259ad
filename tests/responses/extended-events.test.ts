import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { textOf } from '../../src/wire/json-fields.ts';
import { ANALYSIS, fusionTool, PANEL, startPanel, states, type States } from '../support/panel.ts';
import { emit as emitTurn } from '../support/tool-turns.ts';
import { json } from '../support/upstream.ts';
import { ONE_OF_EACH, shareAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { speak } from '../support/upstreams/speak.ts';
import { checkStream, lastResponse, type SeenEvent } from '../support/wire/responses/stream-checker.ts';

const EXTENDED = { 'x-service-stream-events': 'extended' };
const PATCHES = /^response\.apply_patch_call_operation_diff\.(delta|done)$/;
const PANELS = /^response\.fusion_call\.[a-z_.]+$/;
const INPUT = [{ role: 'user', content: 'Tea?' }];

/** The events between the beginning and the end of the first item. */
function insideFirstItem(events: readonly SeenEvent[]): readonly SeenEvent[] {
  const names = events.map(({ name }) => name);
  return events.slice(names.indexOf('output_item.added') + 1, names.indexOf('output_item.done'));
}

suite('the patch of a caller that runs patches', () => {
  const upstreams = shareAllUpstreams();
  const diff = '@@\n-"tea"\n+"cäffe" 🌊';
  const input = JSON.stringify({ operation_type: 'update_file', path: 'a.txt', diff });
  const patching = async (served: string, given: string, headers: Record<string, string>): Promise<string> => {
    const { gateway, upstream } = upstreams();
    upstream.script = speak({ parts: [{ type: 'call', id: 'call_p', name: 'apply_patch', input: given }] });
    const body = { model: `acme/${served}`, input: INPUT, tools: [{ type: 'apply_patch' }], stream: true };
    const response = await gateway.post('/responses', body, headers);
    return response.text();
  };

  for (const served of ONE_OF_EACH)
    // @spec responses-134
    test(`comes as events of its own where the caller asks for them: ${served}`, async () => {
      const events = checkStream(await patching(served, input, EXTENDED), PATCHES);
      const inside = insideFirstItem(events);
      assert.deepEqual(
        inside.map(({ name, data }) => [name, data['delta'] ?? data['diff'], data['output_index']]),
        [
          ['apply_patch_call_operation_diff.delta', diff, 0],
          ['apply_patch_call_operation_diff.done', diff, 0],
        ],
      );
      const plain = checkStream(await patching(served, input, {}));
      assert.deepEqual(insideFirstItem(plain), [], 'without the header there are none');
      const outputs = [events, plain].map((all) =>
        JSON.stringify(lastResponse(all)['output']).replaceAll(/"apc_\w+"/g, ''),
      );
      assert.equal(outputs[0], outputs[1]);
    });

  // @spec responses-134
  test('has none where the patch deletes a file', async () => {
    const stream = await patching('chat', '{"operation_type": "delete_file", "path": "a.txt"}', EXTENDED);
    assert.deepEqual(insideFirstItem(checkStream(stream, PATCHES)), []);
  });
});

suite('a panel that the caller watches', () => {
  const ask = async (
    t: Parameters<typeof startPanel>[0],
    emit: States,
    body: object = {},
    headers: Record<string, string> = EXTENDED,
  ): Promise<string> => {
    const { gateway } = await startPanel(t, emit);
    const request = { model: 'acme/outer', input: INPUT, tools: [fusionTool()], stream: true, ...body };
    const response = await gateway.post('/responses', request, headers);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return text;
  };
  const steps = (events: readonly SeenEvent[], model?: string): readonly string[] =>
    events
      .filter(({ name, data }) => name.startsWith('fusion_call.') && (model === undefined || data['model'] === model))
      .map(({ name }) => name.slice('fusion_call.'.length));
  const thinking: States = (who, arrived) => {
    const stated = states(who, arrived);
    return who === 'one' && typeof stated !== 'function' ? { ...stated, thinking: 'Hm.' } : stated;
  };

  // @spec responses-135
  test('reports its members, its analysis and its end, in this order', async (t) => {
    const events = checkStream(await ask(t, thinking), PANELS);
    const all = steps(insideFirstItem(events));
    assert.deepEqual(steps(events), all, 'all of them belong to its item');
    assert.equal(all[0], 'in_progress');
    assert.deepEqual(all.slice(-3), ['analysis.in_progress', 'analysis.completed', 'completed']);
    assert.deepEqual(steps(events, 'acme/one'), [
      'panel.added',
      'panel.reasoning.delta',
      'panel.delta',
      'panel.completed',
    ]);
    for (const model of PANEL) {
      const own = events.filter(({ data }) => data['model'] === model);
      const delta = own.find(({ name }) => name === 'fusion_call.panel.delta')?.data['delta'];
      assert.equal(delta, `${model.slice(5)} says tea.`);
      assert.equal(own.at(-1)?.data['content'], delta);
    }
    const analyst = events.find(({ name }) => name === 'fusion_call.analysis.in_progress')?.data;
    assert.deepEqual([analyst?.['analyst_model'], analyst?.['judge_model']], ['acme/judge', 'acme/judge']);
    const analysis = events.find(({ name }) => name === 'fusion_call.analysis.completed')?.data['analysis'];
    assert.deepEqual(analysis, ANALYSIS);
  });

  // @spec responses-135
  test('reports members while others have not answered yet', async (t) => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const slow: States = (who, arrived) => {
      if (who !== 'two') return states(who, arrived);
      return async (...exchange) => {
        await held;
        const [{ body }] = exchange;
        await emitTurn('messages', { text: 'two says tea.' }, (body as JsonObject)['stream'] === true)(...exchange);
      };
    };
    const { gateway } = await startPanel(t, slow);
    const body = { model: 'acme/outer', input: INPUT, tools: [fusionTool()], stream: true };
    const response = await gateway.post('/responses', body, EXTENDED);
    let text = '';
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      if (!text.includes('panel.completed') || !text.includes('one says tea.')) continue;
      release();
    }
    assert.ok(text.indexOf('one says tea.') < text.indexOf('two says tea.'));
    checkStream(text, PANELS);
  });

  // @spec responses-135
  test('reports which members failed, and why', async (t) => {
    const emit: States = (who, arrived) =>
      who === 'two' ? json(400, { error: { message: 'no' } }) : states(who, arrived);
    const events = checkStream(await ask(t, emit), PANELS);
    assert.deepEqual(steps(events, 'acme/two'), ['panel.added', 'panel.failed']);
    const failed = events.find(({ name }) => name === 'fusion_call.panel.failed')?.data;
    assert.equal(typeof failed?.['error'], 'string');
    assert.equal(typeof failed?.['status_code'], 'number');
  });

  // @spec responses-135
  test('has no event of the analysis where that is missing', async (t) => {
    const emit: States = (who, arrived) => (who === 'judge' ? { text: 'No idea.' } : states(who, arrived));
    const all = steps(checkStream(await ask(t, emit), PANELS));
    assert.deepEqual(all.slice(-2), ['analysis.in_progress', 'completed']);
  });

  // @spec responses-135
  test('is the same item in the end for callers that do not watch, without these events', async (t) => {
    const watched = lastResponse(checkStream(await ask(t, states), PANELS));
    const unwatched = checkStream(await ask(t, states, {}, {}));
    assert.deepEqual(steps(unwatched), []);
    const shown = (response: JsonObject): string =>
      textOf(JSON.stringify(response['output']).replaceAll(/"(st|msg)_\w+"/g, '')) ?? '';
    assert.equal(shown(lastResponse(unwatched)), shown(watched));
  });
});
