import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageOf } from './input-items.ts';

test('shows tools among the input without what opens their servers', () => {
  const server = { type: 'mcp', server_label: 'files', server_url: 'https://mcp.example' };
  const tools = [
    { ...server, authorization: 'secret', headers: { key: 'secret' } },
    { type: 'function', name: 'ls' },
  ];
  const items = [{ id: 'in_1', type: 'additional_tools', role: 'developer', tools }];
  const { data } = pageOf(items, { limit: 20, order: 'asc', after: undefined, showsImages: true });
  assert.deepEqual(data, [{ ...items[0], tools: [server, { type: 'function', name: 'ls' }] }]);
});
