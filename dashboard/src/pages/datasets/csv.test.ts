import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toCsv } from './csv.ts';

test('defuses cells that a spreadsheet would run, and leaves numbers as they are', () => {
  const rows = [
    ['=1+1', 1],
    ['+1', -2.5],
    ['-1', null],
    ['@a', 0],
    ['\ta', 0],
    ['\ra', 0],
  ] as const;
  const lines = toCsv('note', ['name', 'value'], rows).split('\r\n');
  assert.deepEqual(lines, ['# note', 'name,value', "'=1+1,1", "'+1,-2.5", "'-1,", "'@a,0", "'\ta,0", '"\'\ra",0']);
});

test('quotes what holds a comma, a quote or a line', () => {
  assert.equal(toCsv('n', ['a'], [['x, "y"'], ['l\nm']]), '# n\r\na\r\n"x, ""y"""\r\n"l\nm"');
});
