import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { startJsonUpstream, textIn, type JsonAnswer, type JsonUpstream } from '../support/upstreams/json-upstream.ts';

const QUESTIONS = {
  team: { type: 'choice', instructions: 'Which team?', criteria: { billing: 'invoices', support: null } },
  urgency: { type: 'score', instructions: 'How urgent?', criteria: ['later', 'soon', 'now'] },
  angry: { type: 'noul', instructions: 'Angry?' },
};

// Two decimals, as decision models write them: their sum is off.
const ANSWERS = {
  team: { type: 'choice', choice: 'support', probabilities: { billing: 0.06, support: 0.93 }, confidence: 0.88 },
  urgency: {
    type: 'score',
    score: 1.5,
    legend: { 0: 'later', 1: 'soon', 2: 'now' },
    probabilities: { 0: 0.1, 1: 0.3, 2: 0.6 },
    confidence: 0.4,
  },
  angry: { type: 'noul', noul: 0.9 },
};

const deciding =
  (answers: object): JsonAnswer =>
  () => ({ body: JSON.stringify({ model: 'd-1.13', answers, usage: { input_tokens: 300, output_tokens: 0 } }) });

describe('models that decide by themselves', () => {
  let first: JsonUpstream;
  let second: JsonUpstream;
  let gateway: RunningGateway;

  before(async () => {
    [first, second] = await Promise.all([startJsonUpstream(deciding(ANSWERS)), startJsonUpstream(deciding(ANSWERS))]);
    gateway = await startGateway({
      yaml: `
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: "${first.url}/v1", api_key: key-a }
  beta: { adapter: openai-compatible, name: Beta, base_url: "${second.url}/v1", api_key: key-b }
models:
  acme/decider:
    output_modalities: [decisions]
    endpoints:
      - { provider: alpha, model: d1, price: { prompt: 1, completion: 0 } }
      - { provider: beta, model: d2, price: { prompt: 2, completion: 0 } }
  acme/chat:
    endpoints: [{ provider: alpha, model: c1, price: { prompt: 1, completion: 2 } }]
`,
    });
  });

  beforeEach(() => {
    for (const one of [first, second]) {
      one.seen.length = 0;
      one.answer = deciding(ANSWERS);
    }
  });

  after(async () => {
    await gateway.close();
    await Promise.all([first.close(), second.close()]);
  });

  async function ask(change: object = {}, path = '/alpha/decisions', key = API_KEY) {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/decider', state: { mail: 'Help!' }, questions: QUESTIONS, ...change }),
    });
    const text = await response.text();
    return { status: response.status, text, body: parseJsonObject(text) ?? {} };
  }

  const answersOf = (body: JsonObject): JsonObject => {
    assert.ok(isJsonObject(body['answers']), JSON.stringify(body));
    return body['answers'];
  };

  // @spec decision-13
  test('are called in their own form, once, and charged by what they read', async () => {
    const { status, text, body } = await ask();
    assert.equal(status, 200, text);
    assert.deepEqual(
      first.seen.map(({ path, body: sent }) => [path, sent]),
      [['/v1/systemone', { model: 'd1', state: { mail: 'Help!' }, questions: QUESTIONS }]],
    );
    const answers = answersOf(body);
    assert.deepEqual(answers['team'], {
      type: 'choice',
      choice: 'support',
      probabilities: { billing: 0.060606, support: 0.939394 },
      confidence: 0.88,
      spread: 0,
    });
    assert.deepEqual(answers['urgency'], { ...ANSWERS.urgency, level: 2, spread: 0 });
    assert.deepEqual(answers['angry'], { type: 'noul', noul: 0.9, confidence: 0.8, spread: 0 });
    assert.deepEqual([body['emulated'], body['method'], body['provider']], [false, 'native', 'Alpha']);
    assert.deepEqual(body['usage'], { input_tokens: 300, output_tokens: 0, cost: 0.0003 });
    const found = await fetch(`${gateway.baseUrl}/generation?id=${textIn(body['id'])}`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    const record = parseJsonObject(await found.text());
    assert.ok(isJsonObject(record?.['data']));
    assert.deepEqual([record['data']['api_type'], record['data']['total_cost']], ['decisions', 0.0003]);
  });

  // @spec decision-13
  test('give the word to the next provider where one gives no distribution, and are 502 where none does', async () => {
    const wrong: readonly object[] = [
      { ...ANSWERS, team: { ...ANSWERS.team, probabilities: { billing: 0.5, support: 0.6 } } },
      { ...ANSWERS, team: { ...ANSWERS.team, probabilities: { billing: 1 } } },
      { ...ANSWERS, team: { ...ANSWERS.team, probabilities: { billing: 0.5, sales: 0.5 } } },
      { ...ANSWERS, team: { ...ANSWERS.team, probabilities: { billing: -0.1, support: 1.1 } } },
      { ...ANSWERS, angry: { type: 'noul', noul: 'yes' } },
      { ...ANSWERS, angry: { type: 'choice', choice: 'true' } },
      { team: ANSWERS.team, urgency: ANSWERS.urgency },
    ];
    for (const answers of wrong) {
      first.answer = deciding(answers);
      const { body, text } = await ask();
      assert.equal(body['provider'], 'Beta', text);
    }
    second.answer = () => ({ body: 'I would say support.' });
    const { status, text } = await ask();
    assert.equal(status, 502, text);
    assert.match(text, /"error_type":"provider_unavailable"/);
  });

  // @spec decision-13
  test('are demanded by options.emulation, and take no other way', async () => {
    assert.equal((await ask({ options: { emulation: 'native' } })).status, 200);
    for (const [model, emulation] of [
      ['acme/decider', 'schema'],
      ['acme/chat', 'native'],
    ] as const) {
      const { status, text } = await ask({ model, options: { emulation } });
      assert.equal(status, 400, text);
      assert.match(text, /"path":"options\.emulation"/);
    }
    const mixed = await ask({ models: ['acme/chat'] });
    assert.equal(mixed.status, 200, mixed.text);
    assert.equal(
      first.seen.every(({ body }) => body['model'] === 'd1'),
      true,
    );
  });

  // @spec decision-13
  test('are no chat models: their error says where they answer, and lists leave them out', async () => {
    const chat = await gateway.post('/chat/completions', {
      model: 'acme/decider',
      messages: [{ role: 'user', content: 'hello' }],
    });
    const text = await chat.text();
    assert.equal(chat.status, 400, text);
    assert.match(text, /\/alpha\/decisions/);
    const listed = async (query: string) => (await fetch(`${gateway.baseUrl}/models${query}`)).text();
    assert.doesNotMatch(await listed(''), /acme\/decider/);
    assert.match(await listed('?output_modalities=decisions'), /acme\/decider/);
  });

  // @spec decision-13
  test('read what a guardrail leaves of the state and of the options', async () => {
    const manage = async (path: string, body: object): Promise<JsonObject> => {
      const response = await fetch(gateway.baseUrl + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      assert.ok(response.ok, text);
      return parseJsonObject(text) ?? {};
    };
    const filter = { pattern: 'secret-[0-9]+', action: 'redact', label: 'X' };
    const { data } = await manage('/guardrails', { name: 'Words', content_filters: [filter] });
    const made = await manage('/keys', { name: 'Filtered' });
    assert.ok(isJsonObject(data) && isJsonObject(made['data']));
    await manage(`/guardrails/${textIn(data['id'])}/assignments/keys`, { key_hashes: [textIn(made['data']['hash'])] });
    const state = { mail: 'It is secret-123.' };
    const team = { ...QUESTIONS.team, criteria: { billing: 'of secret-4', support: null } };
    const questions = { ...QUESTIONS, team };
    const { status, text } = await ask({ state, questions }, '/alpha/decisions', textIn(made['key']));
    assert.equal(status, 200, text);
    const sent = [...first.seen, ...second.seen][0]?.body ?? {};
    assert.deepEqual(sent['state'], { mail: 'It is X.' });
    assert.match(JSON.stringify(sent), /of X/);
    assert.doesNotMatch(JSON.stringify(sent), /secret/);
  });
});
