import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { loadConfig } from '../../config/load-config.ts';
import { systemClock } from '../../lib/clock.ts';
import { createLog } from '../../telemetry/logs.ts';
import { openContainerArea } from './container-area.ts';

async function open(yaml: string) {
  const lines: string[] = [];
  const general = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const config = loadConfig({ argv: ['--config', 'test.yaml'], env: {}, readFile: () => yaml });
  const area = await openContainerArea(config, { PATH: '/nothing' }, systemClock, { ...createLog('silent'), general });
  await area.close();
  return { area, log: lines.join('') };
}

// @spec container-2
test('stays off, says why and lets the gateway start where nothing isolates', async () => {
  const off = await open('');
  assert.deepEqual([off.area.shell, off.log], [undefined, ''], 'off is silent');
  const noRoot = await open('containers: { runtime: auto }');
  assert.equal(noRoot.area.shell, undefined);
  assert.match(noRoot.log, /containers\.rootfs is not set/);
  const noProgram = await open('containers: { runtime: bubblewrap, rootfs: /srv }');
  assert.equal(noProgram.area.shell, undefined);
  assert.match(noProgram.log, process.platform === 'linux' ? /install bubblewrap/ : /on Linux alone/);
});
