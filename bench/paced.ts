import { prepareVariant, watchCpu, type Bench, type CpuUse, type PreparedVariant } from './measure.ts';
import type { LoadResult } from './load/load-job.ts';
import { PACED_GAP_MS, pacedModel, type Plan } from './suites.ts';
import type { VariantId } from './variants.ts';

/** A reader takes a silence of this length between two events for a hiccup. */
const STALL_MS = 100;
const RAMP_MS = 1_000;
const SLACK_MS = 5_000;
const VARIANTS: readonly VariantId[] = ['direct', 'pipe', 'chat', 'translated'];
/** Paced streams that the gateway has to carry. */
export const GOAL_STREAMS = 500;

/** One try to read that many streams at once. */
export interface PacedResult {
  readonly variant: VariantId;
  readonly label: string;
  readonly streams: number;
  readonly load: LoadResult;
  readonly cpu: CpuUse;
  /** Neither a stall nor a wrong or unfinished stream. */
  readonly passed: boolean;
}

/**
 * Tries more and more streams, the variants in turn, until a variant stalls at every attempt at one number: a stall may be the
 * machine's. The way without a proxy is tried at the
 * largest number, to show that the generator keeps up.
 */
export async function measurePaced(bench: Bench, plan: Plan): Promise<readonly PacedResult[]> {
  const results: PacedResult[] = [];
  // The check of a paced stream takes as long as the stream: all at once, before anything is measured.
  const prepared = await Promise.all(
    bench.variants
      .filter((variant) => VARIANTS.includes(variant.id))
      .map(async (variant) => prepareVariant(variant, { model: pacedModel(plan), size: 'small' })),
  );
  const attempt = async (one: PreparedVariant, streams: number): Promise<boolean> => {
    for (let tries = 0; tries < plan.pacedAttempts; tries += 1) {
      bench.note(`${streams} paced streams: ${one.variant.label}`);
      const result = await measureStreams(bench, one, plan, streams);
      results.push(result);
      if (result.passed) return true;
    }
    return false;
  };
  const only = (...ids: VariantId[]): PreparedVariant[] => prepared.filter((one) => ids.includes(one.variant.id));
  const largest = Math.max(...plan.pacedStreams);
  for (const direct of only('direct')) await attempt(direct, largest);
  const failed = new Set<PreparedVariant>();
  for (const streams of plan.pacedStreams) {
    for (const one of only('pipe', 'chat')) {
      if (!failed.has(one) && !(await attempt(one, streams))) failed.add(one);
    }
  }
  for (const translated of only('translated')) await attempt(translated, Math.min(GOAL_STREAMS, largest));
  return results;
}

/** The largest number of streams that a variant carried without a stall; 0 for none. */
export function findLargestPassed(results: readonly PacedResult[], variant: VariantId): number {
  return Math.max(0, ...results.filter((one) => one.variant === variant && one.passed).map((one) => one.streams));
}

async function measureStreams(
  bench: Bench,
  prepared: PreparedVariant,
  plan: Plan,
  streams: number,
): Promise<PacedResult> {
  const { call, expectation, variant } = prepared;
  const { result, cpu } = await watchCpu(bench, variant.server, () =>
    bench.load.run({
      kind: 'paced',
      host: call.host,
      port: call.port,
      request: call.request,
      expectation,
      streams,
      rampMs: RAMP_MS,
      stallMs: STALL_MS,
      limitMs: RAMP_MS + plan.pacedEvents * PACED_GAP_MS + SLACK_MS,
    }),
  );
  const passed = result.stalls === 0 && result.bad === 0 && result.completed === streams;
  return { variant: variant.id, label: variant.label, streams, load: result, cpu, passed };
}
