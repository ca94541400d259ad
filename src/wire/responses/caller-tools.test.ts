import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { CallerToolKind } from '../../canonical/blocks.ts';
import { callItemOf, callOfItem, functionFor, resultText } from './caller-tools.ts';

const CALLS: readonly { kind: CallerToolKind; name: string; input: string; item: object }[] = [
  {
    kind: 'custom',
    name: 'apply_patch',
    input: '{"input":"*** Begin \\"Patch\\"\\n"}',
    item: { type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin "Patch"\n' },
  },
  {
    kind: 'local_shell',
    name: 'local_shell',
    input: '{"command":["ls","-l"],"workdir":"/src","timeout_ms":500,"env":{"A":"b"}}',
    item: {
      type: 'local_shell_call',
      action: {
        type: 'exec',
        command: ['ls', '-l'],
        env: { A: 'b' },
        timeout_ms: 500,
        working_directory: '/src',
        user: null,
      },
    },
  },
  {
    kind: 'shell',
    name: 'shell',
    input: '{"commands":["ls"]}',
    item: {
      type: 'shell_call',
      action: { commands: ['ls'], timeout_ms: null, max_output_length: null },
      environment: null,
    },
  },
  {
    kind: 'apply_patch',
    name: 'apply_patch',
    input: '{"operation_type":"update_file","path":"a.ts","diff":"@@\\n-a\\n+b"}',
    item: { type: 'apply_patch_call', operation: { type: 'update_file', path: 'a.ts', diff: '@@\n-a\n+b' } },
  },
  {
    kind: 'tool_search',
    name: 'tool_search',
    input: '{"query":"mail"}',
    item: { type: 'tool_search_call', execution: 'client', arguments: { query: 'mail' } },
  },
];

suite('calls of tools that callers run', () => {
  for (const { kind, name, input, item } of CALLS)
    // @spec responses-48
    test(`of ${kind} are the same as an item and as a function call`, () => {
      const encoded = callItemOf(kind, { callId: 'call_1', name, input });
      assert.deepEqual(encoded, { ...item, call_id: 'call_1' });
      assert.deepEqual(encoded && callOfItem(encoded), { kind, name, input });
    });

  test('have no item where the arguments have not its shape', () => {
    const wrong: readonly [CallerToolKind, string][] = [
      ['local_shell', '{"command":"ls"}'],
      ['local_shell', '{"command":["ls"],"env":{"A":1}}'],
      ['shell', '{"commands":["ls"],"timeout_ms":"1"}'],
      ['apply_patch', '{"operation_type":"update_file","path":"a"}'],
      ['apply_patch', '{"operation_type":"rename","path":"a","diff":""}'],
      ['tool_search', '["mail"]'],
      ['shell', '{"commands":'],
    ];
    for (const [kind, input] of wrong)
      assert.equal(callItemOf(kind, { callId: 'call_1', name: kind, input }), undefined, input);
  });

  test('of a search that the vendor makes by itself are none', () => {
    assert.equal(callOfItem({ type: 'tool_search_call', execution: 'server', arguments: {} }), undefined);
    assert.equal(callOfItem({ type: 'function_call', name: 'a', arguments: '{}' }), undefined);
  });
});

suite('the function that stands for a tool', () => {
  // @spec responses-45
  test('tells the model the grammar of a custom tool', () => {
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' };
    const { description, parameters, isCut } = functionFor('custom', { description: 'Patches files.', format });
    assert.equal(
      description,
      'Patches files.\n\nThe whole text for this tool goes into `input`.\n\nIt must match this lark grammar:\nstart: "a"',
    );
    assert.deepEqual(parameters?.['required'], ['input']);
    assert.equal(isCut, false);
  });

  // @spec responses-45
  test('tells no more than 16 KB of it', () => {
    const definition = 'é'.repeat(10_000);
    const described = functionFor('custom', { format: { type: 'grammar', syntax: 'regex', definition } });
    assert.equal(described.isCut, true);
    assert.equal(described.description?.match(/é/g)?.length, 8_192);
  });

  test('has the description and the parameters of a search that the caller makes', () => {
    const parameters = { type: 'object', properties: { q: { type: 'string' } } };
    const described = functionFor('tool_search', { execution: 'client', description: 'Finds tools.', parameters });
    assert.deepEqual(described, { description: 'Finds tools.', parameters, isCut: false });
  });
});

suite('the result of a call that a caller ran', () => {
  test('is its text, or the JSON of what it holds', () => {
    const output = [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } }];
    assert.deepEqual(resultText({ type: 'shell_call_output', output }), {
      text: JSON.stringify(output),
      failed: false,
    });
    assert.deepEqual(resultText({ type: 'local_shell_call_output', output: 'a' }), { text: 'a', failed: false });
    assert.deepEqual(resultText({ type: 'tool_search_output', tools: [] }), { text: '{"tools":[]}', failed: false });
    assert.deepEqual(resultText({ type: 'local_shell_call_output' }), { text: '', failed: false });
  });

  // @spec responses-50
  test('is a failure where a patch did not apply', () => {
    assert.deepEqual(resultText({ type: 'apply_patch_call_output', status: 'failed', output: 'no such file' }), {
      text: 'no such file',
      failed: true,
    });
  });
});
