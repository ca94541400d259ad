import assert from 'node:assert/strict';
import { test } from 'node:test';

import { judgePaced, judgePeaks, judgePeer, judgeViewers, judgeWhole } from './goals.ts';
import type { Row, SettingResult } from './measure.ts';
import type { PacedResult } from './paced.ts';
import { NO_QUANTILES } from './statistics.ts';
import { listViewersSettings, listWholeSettings, planRun } from './suites.ts';
import type { VariantId } from './variants.ts';

const [, eight, , , , , open] = listWholeSettings(planRun(false));

function row(variant: VariantId, fields: Partial<Row> = {}): Row {
  const none = { perS: 0, ratio: 0, p50Us: 0, p99Us: 0, addedP50Us: 0, addedP99Us: 0, p999Us: 0, addedP999Us: 0 };
  const stream = { firstFrameP50Us: 0, addedFirstFrameP50Us: 0, addedFirstFrameP99Us: 0 };
  return { variant, label: variant, ...none, ...stream, loopP99Ms: 0, addedLoopP99Ms: 0, bad: 0, ...fields };
}

function result(setting: SettingResult['setting'] | undefined, ...rows: Row[]): readonly SettingResult[] {
  assert.ok(setting);
  return [{ setting, rows }];
}

const metOf = (goals: readonly { readonly met: boolean }[]): readonly boolean[] => goals.map(({ met }) => met);

test('holds whole answers to a share of the proxy, and misses it where an answer was wrong', () => {
  assert.deepEqual(metOf(judgeWhole(result(eight, row('chat', { ratio: 0.5 })))), [true]);
  assert.deepEqual(metOf(judgeWhole(result(eight, row('chat', { ratio: 0.49 })))), [false]);
  assert.deepEqual(metOf(judgeWhole(result(eight, row('chat', { ratio: 0.9, bad: 1 })))), [false]);
});

test('holds the open loop to p50, p99 and p99.9 over those of the proxy', () => {
  const fields = { addedP50Us: 150, addedP99Us: 1_001, addedP999Us: 5_000 };
  assert.deepEqual(metOf(judgeWhole(result(open, row('chat', fields)))), [true, false, true]);
});

test('holds the gateway with live views to 0.97 of itself without', () => {
  const [one, two] = listViewersSettings(planRun(false));
  const rows = (ratio: number): Row[] => [row('unviewed', { ratio: 1 }), row('viewed', { ratio })];
  assert.deepEqual(metOf(judgeViewers(result(one, ...rows(0.97)))), [true]);
  assert.deepEqual(metOf(judgeViewers(result(one, ...rows(0.96)))), [false]);
  assert.deepEqual(metOf(judgeViewers(result(two, row('unviewed-2'), row('viewed-2', { ratio: 1, bad: 1 })))), [false]);
});

test('compares with a peer only where it was measured', () => {
  assert.deepEqual(judgePeer(result(eight, row('chat'))), []);
  const chat = row('chat', { ofPeer: { perS: 5, p99: 0.3 } });
  assert.deepEqual(metOf(judgePeer(result(eight, chat, row('portkey')))), [true]);
  assert.deepEqual(metOf(judgePeer(result(open, chat, row('portkey')))), [false]);
  assert.deepEqual(metOf(judgePeer(result(eight, chat, row('portkey', { bad: 1 })))), [false]);
});

test('misses paced streams that pass at the second try', () => {
  const load: PacedResult['load'] = {
    completed: 500,
    bad: 0,
    elapsedMs: 1,
    frames: 1,
    late: { answers: 0, frames: 0 },
    latencyUs: NO_QUANTILES,
    firstFrameUs: NO_QUANTILES,
    lateUs: NO_QUANTILES,
    gapMs: NO_QUANTILES,
    stalls: 0,
  };
  const attempt = (variant: VariantId, passed: boolean): PacedResult => ({
    variant,
    label: variant,
    streams: 500,
    load,
    cpu: {},
    passed,
  });
  const goals = judgePaced([attempt('chat', false), attempt('chat', true), attempt('translated', true)]);
  assert.deepEqual(metOf(goals), [false, true]);
});

test('bounds the memory of the gateway and of no other server', () => {
  const goals = judgePeaks([
    { server: '(c) gateway', suite: 'whole', peakMiB: 301 },
    { server: '(a) thin proxy, JSON both ways', suite: 'whole', peakMiB: 900 },
    { server: '(c) gateway', suite: 'pairs', peakMiB: 900 },
  ]);
  assert.deepEqual(metOf(goals), [false]);
});
