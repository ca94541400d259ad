import { eachItem, eachMember, endOfValue, NotThatJson, valueAt } from '../../lib/json/walk-bytes.ts';
import type { Score } from './format.ts';

/** What upstreams call a score. */
const SCORE_NAMES: ReadonlySet<string> = new Set(['relevance_score', 'score']);

/** A list of scores. Their digits stay as they came: no other is the caller's. @throws NotThatJson for what is no number */
export function scoresAt(bytes: Buffer, at: number): { readonly scores: readonly Score[]; readonly end: number } {
  const scores: Score[] = [];
  const end = eachItem(bytes, at, (_item, itemAt) => {
    let index: unknown;
    let score: { readonly value: number; readonly text: string } | undefined;
    const itemEnd = eachMember(bytes, itemAt, (name, valueFrom) => {
      if (name !== 'index' && !SCORE_NAMES.has(name)) return undefined;
      const valueEnd = endOfValue(bytes, valueFrom);
      const value = valueAt(bytes, valueFrom, valueEnd);
      if (name === 'index') index = value;
      else if (typeof value !== 'number' || !Number.isFinite(value)) throw new NotThatJson();
      else score = { value, text: bytes.toString('latin1', valueFrom, valueEnd) };
      return valueEnd;
    });
    if (typeof index !== 'number' || !Number.isInteger(index) || score === undefined) throw new NotThatJson();
    scores.push({ index, ...score });
    return itemEnd;
  });
  return { scores, end };
}
