import { searchUnitCount, totalCount } from '../../canonical/usage.ts';
import { isJsonObject } from '../../lib/json.ts';
import { eachMember, endOfValue, NotThatJson, skipSpaces, valueAt } from '../../lib/json/walk-bytes.ts';
import type { DecodedRerank, Score } from './format.ts';
import { scoresAt } from './scores.ts';

/** An object with the results under one of two names, and counts where each vendor has them. @throws NotThatJson */
export function decodeResults(bytes: Buffer): DecodedRerank {
  let scores: readonly Score[] | undefined;
  const beside: Record<string, unknown> = {};
  eachMember(bytes, skipSpaces(bytes, 0), (name, at) => {
    if (name === 'results' || name === 'data') {
      const read = scoresAt(bytes, at);
      scores = read.scores;
      return read.end;
    }
    if (name !== 'usage' && name !== 'meta' && name !== 'id') return undefined;
    const end = endOfValue(bytes, at);
    beside[name] = valueAt(bytes, at, end);
    return end;
  });
  if (scores === undefined) throw new NotThatJson();
  const { usage, meta, id } = beside;
  const billed = isJsonObject(meta) ? meta['billed_units'] : undefined;
  const totalTokens = isJsonObject(usage) ? totalCount(usage['total_tokens'] ?? usage['prompt_tokens']) : undefined;
  const searchUnits = searchUnitCount(
    (isJsonObject(billed) ? billed['search_units'] : undefined) ??
      (isJsonObject(usage) ? usage['search_units'] : undefined),
  );
  return {
    scores,
    ...(totalTokens !== undefined && { totalTokens }),
    ...(searchUnits !== undefined && { searchUnits }),
    ...(typeof id === 'string' && { id }),
  };
}
