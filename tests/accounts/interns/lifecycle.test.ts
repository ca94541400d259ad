import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MANAGEMENT_KEY } from '../../support/gateway.ts';
import { countingTool, setUp } from './support.ts';

const MANAGER = { authorization: `Bearer ${MANAGEMENT_KEY}` };

// @spec intern-1
test('is 404 with how to turn it on where interns are off', async (t) => {
  const { call } = await setUp(t, { yaml: '' });
  for (const [method, path] of [
    ['GET', '/interns'],
    ['POST', '/interns/x/provision'],
    ['GET', '/interns/x/runs/y/events'],
  ] as const) {
    const { status, text } = await call(method, path);
    assert.equal(status, 404);
    assert.match(text, /interns: \{ enabled: true \}/);
  }
});

// @spec intern-3, intern-27
test('creates one of twenty equal calls at the same moment', async (t) => {
  const { call } = await setUp(t);
  const body = { name: 'Ada' };
  const key = { 'idempotency-key': 'k1' };
  const answers = await Promise.all(Array.from({ length: 20 }, () => call('POST', '/interns', body, key)));
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.equal(answers.filter(({ status }) => status === 200).length, 19);
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.equal((await call('POST', '/interns', { name: 'Bob' }, key)).status, 409);
  assert.equal((await call('POST', '/interns', body)).status, 409);
  assert.equal((await call('POST', '/interns', { name: 'Cyd' })).status, 201);
  assert.equal((await call('POST', '/interns', { name: 'Cyd' })).status, 200);
  assert.equal((await call('POST', '/interns', body, { 'idempotency-key': 'a b' })).status, 400);
  const list = await call('GET', '/interns?limit=1');
  const { next_cursor: cursor } = list.body;
  assert.match(list.text, /"name":"Cyd"/);
  assert.match((await call('GET', `/interns?starting_after=${String(cursor)}&status=queued,running`)).text, /"Ada"/);
  const { body: last } = await call('GET', `/interns?starting_after=${String(cursor)}`);
  assert.deepEqual([list.body['has_more'], last['has_more'], 'next_cursor' in last], [true, false, false]);
  assert.equal((await call('GET', '/interns?starting_after=x')).status, 400);
  assert.equal((await call('GET', '/interns?status=asleep')).status, 400);
});

// @spec intern-4, intern-5
test('provisions with a key of its own, and says why it fails', async (t) => {
  const { call, intern } = await setUp(t);
  const id = await intern({ budget: { limit_usd: 2, interval: 'lifetime' } });
  const keys = await call('GET', '/keys', undefined, MANAGER);
  assert.match(keys.text, /"name":"Intern: Intern 1"[^}]*"limit":2,/);
  const made = await call('POST', '/interns', { name: 'lost', model: 'acme/none', provision: true });
  assert.match(made.text, /"status":"failed".*"lastFailureMessage":"[^,]*acme\/none/);
  for (const [path, members] of [
    ['model', { model: 'no slash' }],
    ['tools[0]', { tools: [{ type: 'service:no_such' }] }],
    ['limits.max_steps', { limits: { max_steps: 0 } }],
    ['vault_id', { vault_id: 'x' }],
  ] as const) {
    const { status, text } = await call('PATCH', `/interns/${id}`, members);
    assert.equal(status, 400, text);
    assert.ok(text.includes(path), text);
  }
});

// @spec intern-2, intern-7
test('hides from other workspaces, and deletes with its key', async (t) => {
  const { call, intern } = await setUp(t);
  const id = await intern();
  const workspace = await call('POST', '/workspaces', { name: 'Other', slug: 'other' }, MANAGER);
  const [, workspaceId] = /"id":"([^"]+)"/.exec(workspace.text) ?? [];
  const made = await call('POST', '/keys', { name: 'there', workspace_id: workspaceId }, MANAGER);
  const there = { authorization: `Bearer ${String(made.body['key'])}` };
  assert.equal((await call('GET', `/interns/${id}`, undefined, there)).status, 404);
  assert.equal((await call('GET', `/interns/${id}`, undefined, MANAGER)).status, 200);
  const [, keyHash] = /"key_hash":"(\w+)"/.exec((await call('GET', `/interns/${id}`)).text) ?? [];
  assert.equal((await call('DELETE', `/interns/${id}`)).status, 202);
  assert.equal((await call('GET', `/interns/${id}`)).status, 404);
  assert.match((await call('GET', `/keys/${keyHash}`, undefined, MANAGER)).text, /"disabled":true/);
});

// @spec intern-6, intern-8
test('pauses a run while it is stopped, and goes on with what it began with', async (t) => {
  const { tool, runs } = countingTool();
  const { call, intern, chat } = await setUp(t, { serverTools: [tool] });
  const id = await intern({ model: 'sandbox/tools', tools: [{ type: 'service:note' }] });
  const asked = await chat(id, 'write it down');
  assert.match((await call('POST', `/interns/${id}/suspend`)).text, /"status":"stopped"/);
  assert.equal((await chat(id, 'more')).status, 409);
  assert.equal((await call('PATCH', `/interns/${id}`, { tools: [] })).status, 200);
  const answer = { role: 'tool', tool_call_id: asked.question?.id, content: 'allow_once' };
  await chat(id, answer, { session_id: asked.sessionId });
  const run = `/interns/${id}/runs/${asked.runId}`;
  assert.match((await call('GET', run)).text, /"state":"paused"/);
  assert.deepEqual(runs, []);
  assert.match((await call('POST', `/interns/${id}/provision`)).text, /"status":"running"/);
  assert.match((await call('GET', `${run}/events`)).text, /event: end/);
  assert.equal(runs.length, 1);
});

// @spec intern-5
test('fails a run whose key is gone', async (t) => {
  const { call, intern, chat } = await setUp(t);
  const id = await intern();
  const [, keyHash] = /"key_hash":"(\w+)"/.exec((await call('GET', `/interns/${id}`)).text) ?? [];
  assert.equal((await call('DELETE', `/keys/${keyHash}`, undefined, MANAGER)).status, 200);
  const { raw } = await chat(id, 'hello');
  assert.match(raw, /payer_gone/);
});

// @spec intern-3, intern-4
test('creates and provisions once for twenty equal calls at the same moment', async (t) => {
  const { call } = await setUp(t);
  const body = { name: 'Ada', model: 'sandbox/echo', provision: true };
  const key = { 'idempotency-key': 'k1' };
  const answers = await Promise.all(Array.from({ length: 20 }, () => call('POST', '/interns', body, key)));
  for (const { status, text } of answers) {
    assert.ok(status === 200 || status === 201, text);
    assert.match(text, /"status":"(running|provisioning)"/);
  }
  assert.equal(new Set(answers.map(({ text }) => /"id":"([^"]+)"/.exec(text)?.[1])).size, 1);
  const keys = await call('GET', '/keys', undefined, MANAGER);
  assert.equal(keys.text.match(/"name":"Intern: Ada"/g)?.length, 1);
});

// @spec intern-5
test('leaves a key disabled that an admin has disabled', async (t) => {
  const { call, intern, chat } = await setUp(t);
  const id = await intern();
  const [, hash] = /"key_hash":"(\w+)"/.exec((await call('GET', `/interns/${id}`)).text) ?? [];
  assert.equal((await call('PATCH', `/keys/${hash}`, { disabled: true }, MANAGER)).status, 200);
  await call('PATCH', `/interns/${id}`, { budget: { limit_usd: 9 } });
  assert.match((await call('GET', `/keys/${hash}`, undefined, MANAGER)).text, /"disabled":true.*"limit":9,/);
  assert.match((await chat(id, 'hello')).raw, /payer_gone/);
  assert.match((await call('POST', `/interns/${id}/provision`)).text, /"status":"failed"/);
  assert.match((await call('GET', `/keys/${hash}`, undefined, MANAGER)).text, /"disabled":true/);
});

// @spec intern-5
test('fails to provision once more when an admin has deleted its key, and says so', async (t) => {
  const { call, intern } = await setUp(t);
  const id = await intern();
  const [, hash] = /"key_hash":"(\w+)"/.exec((await call('GET', `/interns/${id}`)).text) ?? [];
  assert.equal((await call('DELETE', `/keys/${hash}`, undefined, MANAGER)).status, 200);
  const { status, text } = await call('POST', `/interns/${id}/provision`);
  assert.deepEqual([status, /"status":"failed"/.test(text)], [202, true], text);
  assert.match(text, /The key that pays was deleted/);
});

// @spec intern-5
test('makes no key when the budget of an intern changes before it is provisioned', async (t) => {
  const { call } = await setUp(t);
  const { text } = await call('POST', '/interns', { name: 'Ada' });
  const [, id] = /"id":"([^"]+)"/.exec(text) ?? [];
  assert.equal((await call('PATCH', `/interns/${id}`, { budget: { limit_usd: 9 } })).status, 200);
  assert.doesNotMatch((await call('GET', '/keys', undefined, MANAGER)).text, /Intern: Ada/);
});
