import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatPretty } from './pretty-line.ts';

test('formats a line of the log as time, level, message and facts', () => {
  const line = JSON.stringify({
    level: 40,
    time: 1_763_900_000_120,
    status: 502,
    error: { type: 'x' },
    by: 'a b',
    msg: 'generation failed',
  });
  assert.equal(
    formatPretty(`${line}\n`),
    '12:13:20.120 WARN  generation failed        status=502 error={"type":"x"} by="a b"\n',
  );
  assert.equal(formatPretty('{"level":30,"time":0,"msg":"ready"}\n'), '00:00:00.000 INFO  ready\n');
});

test('passes on what is no line of the log, and no control characters to a terminal', () => {
  assert.equal(formatPretty('plain\n'), 'plain\n');
  const shown = formatPretty(JSON.stringify({ level: 30, time: 0, name: 'a\u001b[31m\u009b', msg: 'x\u001b[2J\ny' }));
  assert.doesNotMatch(shown.slice(0, -1), /\p{Cc}/u);
});
