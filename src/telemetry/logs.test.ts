import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { createFactLog } from './logs.ts';

const FACTS = {
  id: 'gen-1',
  text: 'quotes " and \\, lines\nand \u2028, ä and 😀',
  count: 3,
  stream: false,
  absent: undefined,
  nothing: null,
  rescues: ['prefill'],
  upstream: { status: 502, message: 'no "service"', code: undefined },
};

function logsAt(level: string, worker?: number) {
  const lines: string[] = [];
  const sink = { write: (line: string): void => void lines.push(line) };
  const logger = pino({ level, base: worker === undefined ? null : { worker } }, sink);
  return { logger, facts: createFactLog(logger, sink, worker), lines };
}

for (const worker of [undefined, 2])
  test(`formats a line of facts like the logger, ${worker === undefined ? 'in one process' : 'in a worker'}`, () => {
    const { logger, facts, lines } = logsAt('info', worker);
    for (const log of [logger, facts]) {
      log.info(FACTS, 'generation');
      log.warn(FACTS, 'generation "failed"');
    }
    const [info, warn, factsInfo, factsWarn] = lines.map((line) => line.replace(/"time":\d+/, '"time":0'));
    assert.deepEqual([factsInfo, factsWarn], [info, warn]);
  });

test('writes no line of facts below the log level', () => {
  const { facts, lines } = logsAt('warn');
  facts.info(FACTS, 'generation');
  assert.deepEqual(lines, []);
  facts.warn(FACTS, 'generation failed');
  assert.equal(lines.length, 1);
});
