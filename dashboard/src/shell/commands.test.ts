import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCommands, type Command } from './commands.ts';

const COMMANDS: readonly Command[] = ['Overview', 'Requests', 'Routing', 'anthropic/claude-sonnet', 'acme/one'].map(
  (name) => ({ kind: 'page', name, to: `/${name}` }),
);
const names = (text: string): readonly string[] => findCommands(text, COMMANDS).map(({ name }) => name);

test('finds names that begin so first, then words, then letters in order', () => {
  assert.deepEqual(names('r'), ['Routing', 'Requests', 'Overview', 'anthropic/claude-sonnet']);
  assert.deepEqual(names('claude'), ['anthropic/claude-sonnet']);
  assert.deepEqual(names('acs'), ['anthropic/claude-sonnet']);
  assert.deepEqual(names('nothing'), []);
});

test('opens what a pasted id names', () => {
  assert.equal(findCommands('gen-1795752118419-AYT0P3sg', COMMANDS)[0]?.to, '/ui/requests/gen-1795752118419-AYT0P3sg');
  assert.equal(findCommands('a'.repeat(64), COMMANDS)[0]?.to, `/ui/keys/${'a'.repeat(64)}`);
});
