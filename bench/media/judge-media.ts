import type { Goal } from '../goals.ts';
import { formatTable, round } from '../report.ts';
import type { FlowResults } from './measure-flows.ts';
import type { MediaResults } from './measure-media.ts';

const FIRST_P50_MS_MAX = 1.5;
const FIRST_P99_MS_MAX = 5;

/** The goals, each with what must not be missed in any case. */
export function judgeMedia({ answers, speech, flows }: MediaResults): readonly Goal[] {
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
    ...judgeFlows(flows),
  ];
}

const SPLIT_ADDED_MAX = 0.15;
const FORMS_RATIO_MIN = 0.35;
const FORMS_MIB_MAX = 64;
const STALLED_MIB_MAX = 60;
/** Of a core, for 2,000 jobs; an account has half as many. */
const JOBS_CORE_MAX = 0.03;
const JOBS_GOAL_COUNT = 2_000;
const LATE_MS_MAX = 2_000;
const CLIPS_RATIO_MIN = 0.8;

function judgeFlows({ splitAdded, forms, stalledMiB, jobs, clips }: FlowResults): readonly Goal[] {
  const core = (JOBS_CORE_MAX * jobs.open) / JOBS_GOAL_COUNT;
  const mib = (value: number): string => `${value.toFixed(0)} MiB`;
  return [
    {
      promise: `embeddings, 2,048 texts, 96 a call: at most ${SPLIT_ADDED_MAX} more than the slowest calls in a row (never above 0.3)`,
      measured: splitAdded.toFixed(2),
      met: splitAdded <= SPLIT_ADDED_MAX,
    },
    {
      promise: `forms of 24 MB, 20 at a time: at least ${FORMS_RATIO_MIN} of the proxy that pipes bytes (never below 0.25)`,
      measured: forms.ratio.toFixed(2),
      met: forms.ratio >= FORMS_RATIO_MIN,
    },
    {
      promise: `forms of 24 MB, 20 at a time: at most ${FORMS_MIB_MAX} MiB more memory (never above 128)`,
      measured: mib(forms.grownMiB),
      met: forms.grownMiB <= FORMS_MIB_MAX,
    },
    {
      promise: `20 readers that stall at 27 MB of speech: at most ${STALLED_MIB_MAX} MiB more memory (never above 100)`,
      measured: mib(stalledMiB),
      met: stalledMiB <= STALLED_MIB_MAX,
    },
    {
      promise: `${jobs.open} open jobs of clips: at most ${core} of a core (never above twice that)`,
      measured: jobs.core.toFixed(3),
      met: jobs.core <= core,
    },
    {
      promise: `${jobs.open} open jobs of clips: no look later than ${LATE_MS_MAX} ms`,
      measured: `${jobs.lateMs.toFixed(0)} ms`,
      met: jobs.lateMs <= LATE_MS_MAX,
    },
    {
      promise: `ranges of a clip of 100 MB, 8 readers: at least ${CLIPS_RATIO_MIN} of the proxy that pipes bytes (never below 0.6)`,
      measured: clips.ratio.toFixed(2),
      met: clips.ratio >= CLIPS_RATIO_MIN,
    },
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
