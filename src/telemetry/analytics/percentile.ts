/**
 * A percentile of values that are known as counts by class: right to within the class, and inside it as if its values were
 * spread evenly. `null`: no value.
 * @param bounds upper bounds of all classes but the last, which has no end and counts as its lower bound
 * @param share 0.95: the 95th percentile
 */
export function percentileOf(bounds: readonly number[], counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = share * total;
  for (const [index, count] of counts.entries()) {
    if (count === 0 || left > count) {
      left -= count;
      continue;
    }
    const lower = bounds[index - 1] ?? 0;
    const upper = bounds[index] ?? lower;
    return lower + ((upper - lower) * left) / count;
  }
  return bounds.at(-1) ?? null;
}
