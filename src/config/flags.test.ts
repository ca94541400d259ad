import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from './config-error.ts';
import { parseFlags } from './flags.ts';

const SHAPES = { port: { type: 'string' }, verbose: { type: 'boolean', short: 'V' } } as const;

test('flags and words may stand in any order, and what follows -- is words', () => {
  assert.deepEqual(parseFlags(['a', '--port', '1', '-V', 'b', '--', '--port'], SHAPES), {
    values: { port: '1', verbose: true },
    words: ['a', 'b', '--port'],
  });
});

test('takes the last of a repeated flag', () => {
  assert.equal(parseFlags(['--port=1', '--port', '2'], SHAPES).values.port, '2');
});

test('accepts a value that begins with a dash when it is joined to its flag', () => {
  assert.equal(parseFlags(['--port=-1'], SHAPES).values.port, '-1');
});

for (const [argv, message] of [
  [['--prot=1'], '--prot: unknown flag; did you mean "--port"?'],
  [['--colour'], '--colour: unknown flag'],
  [['--constructor'], '--constructor: unknown flag'],
  [['-x'], '-x: unknown flag'],
  [['--port='], '--port needs a value'],
  [['--verbose=1'], '--verbose takes no value'],
] as const) {
  test(`reports a usage error for "${argv.join(' ')}"`, () => {
    assert.throws(
      () => parseFlags(argv, SHAPES),
      (error) => error instanceof ConfigError && error.isUsage && error.message === message,
    );
  });
}
