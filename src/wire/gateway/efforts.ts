import { EFFORTS, type Effort, type ReasoningSettings } from '../../canonical/request.ts';

/** What share of the output each effort may spend. @source generation.md 11.4 "ratio" */
const RATIO_OF_EFFORT: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
};
const BY_RATIO = EFFORTS.filter((effort) => effort !== 'none');

/**
 * The effort that was asked for, on a wire that knows efforts only: there the effort counts before a budget, and of a
 * budget its share of the answer. `undefined` when nothing was asked. @source generation.md 2.5, 11.4 "Effort-only wires"
 */
export function effortOf(
  { effort, maxTokens, enabled, adaptive }: ReasoningSettings,
  outputTokensMax: number | undefined,
): Effort | undefined {
  if (enabled === false || maxTokens === 0 || effort === 'none') return 'none';
  if (effort !== undefined) return effort;
  if (maxTokens === undefined) return enabled === true || adaptive === true ? 'medium' : undefined;
  if (outputTokensMax === undefined) return 'medium';
  const share = maxTokens / outputTokensMax;
  return nearest(BY_RATIO, (candidate) => Math.abs(RATIO_OF_EFFORT[candidate] - share)) ?? 'medium';
}

/** The nearest of the efforts that a model knows. Another effort than `none` never becomes `none`. @source generation.md 2.5 */
export function nearestEffort(asked: Effort, known: readonly Effort[]): Effort | undefined {
  if (known.includes(asked)) return asked;
  if (asked === 'none') return undefined;
  const place = EFFORTS.indexOf(asked);
  const candidates = EFFORTS.filter((effort) => effort !== 'none' && known.includes(effort));
  return nearest(candidates, (effort) => Math.abs(EFFORTS.indexOf(effort) - place));
}

/** Ties go down: the candidates rise. */
function nearest<Name extends Effort>(candidates: readonly Name[], distance: (name: Name) => number): Name | undefined {
  let found: Name | undefined;
  for (const candidate of candidates)
    if (found === undefined || distance(candidate) < distance(found)) found = candidate;
  return found;
}
