import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeChat } from '../../../../tests/support/wire/chat/request.ts';
import { createWarnings } from '../warnings.ts';
import { decode as decodeMessages } from '../../../../tests/support/wire/messages/request.ts';
import { locateTurns, splitRuns } from './source-positions.ts';

test('finds the path of every block in a chat body', () => {
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
  const request = decodeChat({
    model: 'acme/one',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: 'Yes.', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'a', content: 'Done' },
    ],
  });
  const placed = locateTurns(request, createWarnings());
  assert.deepEqual(
    placed.map(({ path, blocks }) => [path, ...blocks.map((block) => block.path)]),
    [
      ['messages[0]', 'messages[0].content'],
      ['messages[1]', 'messages[1].content[0]'],
      ['messages[2]', 'messages[2].content', 'messages[2].tool_calls[0]'],
      ['messages[3]', 'messages[3]'],
    ],
  );
  assert.deepEqual(
    splitRuns(placed).map((run) => run.map(({ turn }) => turn.role)),
    [['system', 'user'], ['assistant'], ['tool']],
  );
});

test('sends the line by which a client marks its requests to no other vendor', () => {
  const line = 'x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli;';
  const placed = (system: readonly string[]) => {
    const warnings = createWarnings();
    const request = decodeMessages({
      model: 'acme/one',
      max_tokens: 10,
      system: system.map((text) => ({ type: 'text', text })),
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const [first] = locateTurns(request, warnings);
    const texts = first?.blocks.map(({ block, path }) => (block.type === 'text' ? [path, block.text] : []));
    return [texts, warnings.list.map(({ path }) => path)];
  };
  assert.deepEqual(placed([line, 'Be brief.']), [[['system[1]', 'Be brief.']], ['system[0]']]);
  assert.deepEqual(placed(['Be brief.']), [[['system[0]', 'Be brief.']], []]);
});
