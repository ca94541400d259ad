import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { foldEvents } from '../../../canonical/fold.ts';
import type { Block } from '../../../canonical/blocks.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { decodeWhole } from './response-in.ts';
import { response } from '../../../../tests/support/wire/responses/streams.ts';

function blocksOf(item: JsonObject): readonly Block[] {
  return foldEvents(decodeWhole(JSON.stringify(response([item])), {})).blocks;
}

suite('items of tools that the caller runs', () => {
  test('join the name of a function with its namespace', () => {
    const item = { type: 'function_call', id: 'fc_1', call_id: 'call_a', name: 'read', arguments: '{}' };
    const nameIn = (namespace: string): string | undefined => {
      const [block] = blocksOf({ ...item, namespace });
      return block?.type === 'tool-call' ? block.name : undefined;
    };
    assert.equal(nameIn('mcp__files'), 'mcp__files__read');
    assert.equal(nameIn('mcp__files__'), 'mcp__files__read');
    assert.equal(nameIn('functions'), 'read');
  });

  const commands = { commands: ['ls', 'pwd'], timeout_ms: null, max_output_length: 1_000 };
  for (const { item, name, input } of [
    {
      item: { type: 'local_shell_call', action: { type: 'exec', command: ['ls'], env: {}, working_directory: '/tmp' } },
      name: 'local_shell',
      input: { command: ['ls'], workdir: '/tmp' },
    },
    {
      item: { type: 'shell_call', action: commands },
      name: 'shell',
      input: { commands: ['ls', 'pwd'], max_output_length: 1_000 },
    },
    {
      item: { type: 'apply_patch_call', operation: { type: 'delete_file', path: 'a.txt' }, status: 'completed' },
      name: 'apply_patch',
      input: { operation_type: 'delete_file', path: 'a.txt' },
    },
    {
      item: { type: 'tool_search_call', execution: 'client', arguments: { query: 'files' } },
      name: 'tool_search',
      input: { query: 'files' },
    },
  ])
    test(`are calls of the function that stands for ${name}`, () => {
      assert.deepEqual(blocksOf({ id: 'x_1', call_id: 'call_a', ...item }), [
        { type: 'tool-call', id: 'call_a', name, input: JSON.stringify(input), runBy: 'caller' },
      ]);
    });

  test('are calls of the provider where their commands run in a container of its own', () => {
    const environment = { type: 'container_reference', container_id: 'cntr_1' };
    const [block] = blocksOf({ type: 'shell_call', id: 'sh_1', call_id: 'call_a', action: commands, environment });
    assert.ok(block?.type === 'tool-call' && block.runBy === 'upstream');
  });
});
