import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { matchesName } from './name-pattern.ts';

suite('a pattern of names', () => {
  const cases: readonly (readonly [pattern: string, name: string, matches: boolean])[] = [
    ['read', 'read', true],
    ['read', 'read_file', false],
    ['*', '', true],
    ['*', 'anything', true],
    ['read_*', 'read_file', true],
    ['read_*', 'read_', true],
    ['read_*', 'a_read_file', false],
    ['*_file', 'read_file', true],
    ['*_file', 'read_files', false],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'a-c-b', false],
    // The same character must not serve as the beginning and as the end.
    ['ab*ba', 'aba', false],
    ['a.c', 'abc', false],
  ];
  for (const [pattern, name, matches] of cases)
    test(`${matches ? 'matches' : 'does not match'} ${JSON.stringify(name)} with ${pattern}`, () => {
      assert.equal(matchesName(pattern, name), matches);
    });
});
