import { totalCount } from '../../../canonical/usage.ts';
import { isJsonObject } from '../../../lib/json.ts';
import { eachItem, eachMember, endOfValue, NotThatJson, skipSpaces, valueAt } from '../../../lib/json/walk-bytes.ts';
import type { DecodedPart } from '../format.ts';
import { inOrder } from '../in-order.ts';
import { vectorAt, type Vector } from '../vectors.ts';

/** Walks over the bytes once: vectors stay as they are, and only what stands beside them is parsed. */
export function decodeAnswer(bytes: Buffer): DecodedPart {
  let vectors: readonly Vector[] | undefined;
  let usage: unknown;
  let id: unknown;
  eachMember(bytes, skipSpaces(bytes, 0), (name, at) => {
    if (name === 'data') {
      const read = dataAt(bytes, at);
      vectors = read.vectors;
      return read.end;
    }
    if (name !== 'usage' && name !== 'id') return undefined;
    const end = endOfValue(bytes, at);
    if (name === 'usage') usage = valueAt(bytes, at, end);
    else id = valueAt(bytes, at, end);
    return end;
  });
  if (vectors === undefined) throw new NotThatJson();
  const promptTokens = isJsonObject(usage) ? totalCount(usage['prompt_tokens'] ?? usage['total_tokens']) : undefined;
  return {
    vectors,
    ...(promptTokens !== undefined && { promptTokens }),
    ...(typeof id === 'string' && { id }),
  };
}

function dataAt(bytes: Buffer, from: number): { readonly vectors: readonly Vector[]; readonly end: number } {
  const items: { readonly index: number | undefined; readonly vector: Vector }[] = [];
  const end = eachItem(bytes, from, (_item, at) => {
    let vector: Vector | undefined;
    let index: unknown;
    const itemEnd = eachMember(bytes, at, (name, valueFrom) => {
      if (name === 'embedding') {
        const read = vectorAt(bytes, valueFrom);
        vector = read.vector;
        return read.end;
      }
      if (name !== 'index') return undefined;
      const valueEnd = endOfValue(bytes, valueFrom);
      index = valueAt(bytes, valueFrom, valueEnd);
      return valueEnd;
    });
    if (vector === undefined) throw new NotThatJson();
    items.push({ index: typeof index === 'number' ? index : undefined, vector });
    return itemEnd;
  });
  return { vectors: inOrder(items), end };
}
