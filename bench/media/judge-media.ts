import type { Goal } from '../goals.ts';
import { formatTable, round } from '../report.ts';
import type { MediaResults } from './measure-media.ts';

const FIRST_P50_MS_MAX = 1.5;
const FIRST_P99_MS_MAX = 5;

/** The goals, each with what must not be missed in any case. */
export function judgeMedia({ answers, speech }: MediaResults): readonly Goal[] {
  return [
    ...answers.flatMap(({ label, ratio, addedMs, load }): readonly Goal[] => [
      ...(load.ratioGoal === undefined
        ? []
        : [
            {
              promise: `${label}: at least ${load.ratioGoal} of the proxy that pipes bytes (never below ${load.ratioMin ?? 0})`,
              measured: ratio.toFixed(2),
              met: ratio >= load.ratioGoal,
            },
          ]),
      ...(load.addedMsGoal === undefined
        ? []
        : [
            {
              promise: `${label}: at most ${load.addedMsGoal} ms more than the same proxy (never above ${load.addedMsMin ?? 0})`,
              measured: `${addedMs.toFixed(0)} ms`,
              met: addedMs <= load.addedMsGoal,
            },
          ]),
    ]),
    judgeFirst('p50', speech.addedFirstP50Ms, FIRST_P50_MS_MAX),
    judgeFirst('p99', speech.addedFirstP99Ms, FIRST_P99_MS_MAX),
  ];
}

function judgeFirst(what: string, ms: number, maxMs: number): Goal {
  return {
    promise: `speech, first byte: ${what} at most ${maxMs} ms more than at the same proxy`,
    measured: `${ms.toFixed(2)} ms`,
    met: ms <= maxMs,
  };
}

export function formatMedia({ answers, speech }: MediaResults): string {
  const table = formatTable(
    ['media', 'proxy, requests/s', 'gateway, requests/s', 'ratio', 'added p50, ms'],
    answers.map(({ label, proxyPerS, gatewayPerS, ratio, addedMs }) => [
      label,
      round(proxyPerS, 1),
      round(gatewayPerS, 1),
      round(ratio, 2),
      round(addedMs, 2),
    ]),
  );
  const { streams, addedFirstP50Ms, addedFirstP99Ms } = speech;
  return `${table}\n\n${streams} streams of speech: first byte ${round(addedFirstP50Ms, 2)} ms later (p50), ${round(addedFirstP99Ms, 2)} ms (p99)`;
}
