import { NotThatJson } from '../../lib/json/walk-bytes.ts';
import type { Vector } from './vectors.ts';

/** Vectors in the order of the inputs, whatever the order in which they came. @throws NotThatJson where one is missing */
export function inOrder(
  items: readonly { readonly index: number | undefined; readonly vector: Vector }[],
): readonly Vector[] {
  if (items.every(({ index }, at) => index === undefined || index === at)) return items.map(({ vector }) => vector);
  const byIndex = new Map(items.map(({ index, vector }) => [index, vector]));
  return items.map((_, at) => {
    const vector = byIndex.get(at);
    if (vector === undefined) throw new NotThatJson();
    return vector;
  });
}
