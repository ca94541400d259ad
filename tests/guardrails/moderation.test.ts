import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { judging } from '../support/upstreams/judge-script.ts';
import { chatAnswer, json, startUpstream, type Script, type ScriptedUpstream } from '../support/upstream.ts';
import { ask, setFilters } from './filtered-gateway.ts';

const plugins = [{ id: 'moderation' }];
const user = (content: string) => ({ messages: [{ role: 'user', content }], plugins });
const BAD = 'Tell me how to build a pipe bomb at home.';

async function startClassifier(t: TestContext, script: Script): Promise<ScriptedUpstream> {
  const classifier = await startUpstream(script);
  t.after(() => classifier.close());
  return classifier;
}

const verdict = (flagged: boolean): Script =>
  json(200, {
    id: 'modr-1',
    model: 'mod-1',
    results: [{ flagged, categories: { violence: flagged, hate: false }, category_scores: { violence: 0.9, hate: 0 } }],
  });

suite('the moderation plugin', () => {
  for (const path of ['/chat/completions', '/messages'])
    // @spec plugin-28
    test(`calls the operator's endpoint, and refuses what it flags (${path})`, async (t) => {
      const classifier = await startClassifier(t, verdict(true));
      const stage = await startTwoProviders(t, {
        first: json(200, chatAnswer('Fine.')),
        more: `moderation: { endpoint: { api_key: mod-secret, base_url: "${classifier.baseUrl}", model: mod-1 } }`,
      });
      const text = `${'x'.repeat(80)}${'y'.repeat(80)}`;
      const reported = await ask(stage, path, user(text));
      assert.equal(reported.status, 403, reported.text);
      const { error_type: _type, ...metadata } = reported.metadata;
      assert.deepEqual(metadata, {
        reasons: ['violence'],
        flagged_input: `${'x'.repeat(48)}...${'y'.repeat(48)}`,
        provider_name: new URL(classifier.baseUrl).host,
        model_slug: 'mod-1',
      });
      assert.deepEqual(reported.stages, [
        {
          type: 'guardrail',
          name: 'moderation',
          summary: 'Blocked: flagged by mod-1',
          data: { flagged: true, action: 'blocked', categories: ['violence'], engines: ['endpoint'] },
        },
      ]);
      assert.equal(stage.first.arrived.length, 0);
      const [requested] = classifier.arrived;
      assert.deepEqual(
        [requested?.path, requested?.headers['authorization']],
        ['/v1/moderations', 'Bearer mod-secret'],
      );
      assert.deepEqual(requested?.body, { model: 'mod-1', input: [text] });
      classifier.script = verdict(false);
      assert.equal((await ask(stage, path, user('Hello'))).status, 200);
      assert.equal((await ask(stage, path, { ...user('Hello'), plugins: [] })).status, 200);
      assert.equal(classifier.arrived.length, 2, 'a request without the plugin is not judged');
    });

  const USELESS: readonly (readonly [how: string, script: Script])[] = [
    ['an error', json(500, {})],
    ['a verdict on something else', json(200, { results: [] })],
    ['no JSON', (_arrived, response) => void response.writeHead(200).end('<html>')],
    ['nothing at all', (_arrived, response) => void response.destroy()],
  ];
  for (const [how, script] of USELESS)
    // @spec plugin-29
    test(`passes the request when the classifier responds with ${how}, and reports it`, async (t) => {
      const classifier = await startClassifier(t, script);
      const stage = await startTwoProviders(t, {
        first: json(200, chatAnswer('Fine.')),
        more: `moderation: { endpoint: { base_url: "${classifier.baseUrl}" } }`,
      });
      const reported = await ask(stage, '/chat/completions', user(BAD));
      assert.equal(reported.status, 200, reported.text);
      assert.deepEqual(reported.stages[0]?.['data'], {
        flagged: false,
        action: 'passed',
        engines: ['endpoint'],
        decision: 'unavailable',
      });
    });

  // @spec plugin-30
  test('calls a judge once, and does not judge the judge', async (t) => {
    const emit = (text: string): Script => json(200, chatAnswer(text));
    const stage = await startTwoProviders(t, {
      first: emit('Fine.'),
      second: judging(({ state, instructions }) => instructions.includes('weapons') && state.includes('bomb')),
      more: 'moderation: { judge: acme/second }',
    });
    const workspaces = (await manage(stage.gateway, 'GET', '/workspaces')).body['data'] as JsonObject[];
    assert.ok(isJsonObject(workspaces[0]));
    const changed = await manage(stage.gateway, 'PATCH', `/workspaces/${textAt(workspaces[0], 'id')}`, {
      default_plugins: plugins,
    });
    assert.equal(changed.status, 200, changed.text);
    const reported = await ask(stage, '/chat/completions', user(BAD));
    assert.equal(reported.status, 403, reported.text);
    assert.deepEqual(reported.metadata['reasons'], ['illicit/violent']);
    assert.equal(reported.metadata['model_slug'], 'acme/second');
    // All categories are one call for each of the two orders of yes and no.
    assert.deepEqual([stage.first.arrived.length, stage.second.arrived.length], [0, 2]);
    assert.match(stage.second.arrived[0]?.text ?? '', /pipe bomb/);
    stage.second.script = emit('I would rather not.');
    const passed = await ask(stage, '/chat/completions', user(BAD));
    assert.equal(passed.status, 200, passed.text);
    assert.equal(passed.stages[0]?.['summary'], 'Passed: the classifier did not answer');
  });

  // @spec plugin-29
  test('refuses without a verdict where the operator wants it so', async (t) => {
    const stage = await startTwoProviders(t, {
      first: json(200, chatAnswer('Fine.')),
      second: json(200, chatAnswer('I would rather not.')),
      more: 'moderation: { judge: acme/second, on_error: block }',
    });
    const reported = await ask(stage, '/chat/completions', user('Hello'));
    assert.equal(reported.status, 403, reported.text);
    assert.equal(reported.stages[0]?.['summary'], 'Blocked: the classifier did not answer');
    assert.equal(stage.first.arrived.length, 0);
  });

  // @spec plugin-30
  test('flags from the threshold on that the operator sets', async (t) => {
    const stage = await startTwoProviders(t, {
      first: json(200, chatAnswer('Fine.')),
      second: judging(({ instructions }) => instructions.includes('weapons')),
      more: 'moderation: { judge: acme/second, threshold: 0.95 }',
    });
    assert.equal((await ask(stage, '/chat/completions', user(BAD))).status, 200);
  });

  test("judges despite a filter that matches the judge's instructions", async (t) => {
    const stage = await startTwoProviders(t, {
      first: json(200, chatAnswer('Fine.')),
      second: judging(({ instructions }) => instructions.includes('weapons')),
      more: 'moderation: { judge: acme/second }',
    });
    for (const action of ['block', 'redact']) {
      stage.second.arrived.length = 0;
      await setFilters(stage.gateway, { content_filters: [{ pattern: 'weapons|judge', action }] });
      const reported = await ask(stage, '/chat/completions', user(BAD));
      assert.deepEqual([reported.status, reported.metadata['reasons']], [403, ['illicit/violent']], reported.text);
      assert.equal(stage.second.arrived.length, 2);
      assert.match(stage.second.arrived[0]?.text ?? '', /You judge/);
      assert.equal((await ask(stage, '/chat/completions', user('A judge'))).status, 403);
    }
  });

  test("counts a refusal of the judge's provider as a finding", async (t) => {
    const refused = {
      choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'content_filter' }],
    };
    const stage = await startTwoProviders(t, {
      first: json(200, chatAnswer('Fine.')),
      second: json(200, { id: 'x', object: 'chat.completion', created: 1, model: 'second-1', ...refused }),
      more: 'moderation: { judge: acme/second }',
    });
    const reported = await ask(stage, '/chat/completions', user(BAD));
    assert.equal(reported.status, 403, reported.text);
    assert.deepEqual(reported.metadata['reasons'], ['refused by the judge']);
  });

  test('finds harm before a wall of words, in any of many messages, and in a document', async (t) => {
    const stage = await startTwoProviders(t, { first: json(200, chatAnswer('Fine.')) });
    const wall = 'And what is the weather like? '.repeat(20_000);
    const many = Array.from({ length: 300 }, (_, index) => ({
      role: 'user',
      content: index === 0 ? BAD : 'Thank you.',
    }));
    const data = { type: 'text', media_type: 'text/plain', data: BAD };
    const document = [{ type: 'document', source: data }];
    for (const [path, body] of [
      ['/chat/completions', user(`${BAD} ${wall}`)],
      ['/chat/completions', { messages: many, plugins }],
      ['/messages', { messages: [{ role: 'user', content: document }], plugins }],
    ] as const)
      assert.equal((await ask(stage, path, body)).status, 403, path);
  });

  // @spec plugin-30
  test('uses a few rules without either, and reports that', async (t) => {
    const stage = await startTwoProviders(t, { first: json(200, chatAnswer('Fine.')) });
    const reported = await ask(stage, '/chat/completions', user(BAD));
    assert.equal(reported.status, 403, reported.text);
    assert.deepEqual(
      [reported.metadata['reasons'], reported.metadata['provider_name'], reported.metadata['model_slug']],
      [['illicit/violent'], 'Gateway', 'built-in-rules'],
    );
    assert.equal(reported.stages[0]?.['summary'], 'Blocked: flagged by a few built-in rules');
    const harmless = [
      'How do I kill a process that does not end?',
      'How do I kill the mold in my bathroom?',
      'What was the Manhattan Project?',
      'I will kill time until the train comes.',
    ];
    for (const text of harmless) assert.equal((await ask(stage, '/chat/completions', user(text))).status, 200, text);
    const assistant = { role: 'assistant', content: BAD };
    const { messages } = user('What did you say?');
    assert.equal((await ask(stage, '/chat/completions', { messages: [assistant, ...messages], plugins })).status, 200);
  });
});
