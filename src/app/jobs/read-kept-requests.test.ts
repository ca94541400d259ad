import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleGeneration } from '../../../tests/support/store/generations.ts';
import type { GenerationContent } from '../../telemetry/serialize-content.ts';
import { createReadKeptRequests } from './read-kept-requests.ts';

const content: GenerationContent = {
  input: { messages: [{ role: 'user', content: 'Hi.' }] },
  output: { completion: 'Hello.', reasoning: null },
  error: null,
  privacy: { zdr: false, data_collection: 'allow' },
};
const OPEN = { preferences: [], zeroRetention: {}, paidTraining: true, freeTraining: true };

async function readOne(of: Partial<GenerationContent> | undefined, policy: object = {}) {
  const row = sampleGeneration({ id: 'gen-1' });
  const read = createReadKeptRequests({
    kept: { page: (_search, after) => Promise.resolve(after === undefined ? [row] : []) },
    readContent: () => Promise.resolve(of && { ...content, ...of }),
    policyOf: () => ({ ...OPEN, ...policy }) as never,
  });
  const search = { workspaceId: row.workspaceId, fromMs: 0, toMs: 1, models: [] };
  return (await Array.fromAsync(read(search)))[0];
}

test('looks at a bounded number of requests, also where none is of the model that is wanted', async () => {
  const rows = Array.from({ length: 100 }, (_, at) => sampleGeneration({ id: `gen-${at}` }));
  let pages = 0;
  const read = createReadKeptRequests({
    kept: { page: () => Promise.resolve(++pages > 1_000 ? [] : rows) },
    readContent: () => Promise.resolve(content),
    policyOf: () => OPEN as never,
  });
  const search = { workspaceId: 'w', fromMs: 0, toMs: 1, models: ['acme/none'] };
  assert.deepEqual(await Array.fromAsync(read(search)), []);
  assert.equal(pages, 500);
});

// @spec evaluation-19
test('finds requests by the model that was requested, and by the one that served', async () => {
  const row = sampleGeneration({ id: 'gen-1', model: 'acme/served', modelRequested: 'acme/latest' });
  const read = createReadKeptRequests({
    kept: { page: () => Promise.resolve([row]) },
    readContent: () => Promise.resolve(content),
    policyOf: () => OPEN as never,
  });
  for (const [model, count] of [
    ['acme/latest', 1],
    ['acme/served', 1],
    ['acme/other', 0],
  ] as const) {
    const search = { workspaceId: row.workspaceId, fromMs: 0, toMs: 1, models: [model] };
    assert.equal((await Array.fromAsync(read(search))).length, count, model);
  }
});

// @spec evaluation-19
test('leaves requests out whose content may not be sent to any model, or is not whole', async () => {
  assert.partialDeepStrictEqual(await readOne({}), {
    id: 'gen-1',
    messages: [{ role: 'user', content: 'Hi.' }],
    response: 'Hello.',
  });
  assert.equal(await readOne(undefined), undefined, 'not kept');
  const { privacy: _privacy, ...older } = content;
  assert.equal(await readOne({ ...older, privacy: undefined as never }), undefined, 'of an earlier version');
  assert.equal(await readOne({ privacy: { zdr: true, data_collection: 'allow' } }), undefined);
  assert.equal(await readOne({ privacy: { zdr: false, data_collection: 'deny' } }), undefined);
  assert.equal(await readOne({}, { paidTraining: false }), undefined, 'a rule of the workspace');
  assert.equal(await readOne({ is_cut: true }), undefined);
  assert.equal(await readOne({ output: { completion: null, reasoning: null } }), undefined);
  const calls = [{ id: 'c', name: 'look', arguments: '{}' }];
  assert.equal(
    await readOne({ output: { completion: 'I look.', reasoning: null, tool_calls: calls } }),
    undefined,
    'what it goes on with is not in the response',
  );
  const picture = { role: 'user', content: [{ type: 'image', left_out: true }] };
  assert.equal(await readOne({ input: { messages: [picture] } }), undefined);
  const result = { role: 'tool', content: [{ type: 'tool_result', tool_call_id: 'c', content: [] }] };
  assert.equal(await readOne({ input: { messages: [result] } }), undefined);
});
