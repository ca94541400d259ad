import type { GenerationRow } from '../../api/generations.ts';

const CACHE_TOKENS_MIN = 1_024;

/** What stands out in a conversation, with its arithmetic. */
export function findingsOf(turns: readonly GenerationRow[]): readonly string[] {
  return turns.flatMap((turn, at) => {
    const before = turns[at - 1];
    const name = `Turn ${at + 1}`;
    return [
      ...(turn.finish_reason === 'length'
        ? [`${name} was cut off by its limit of tokens after ${turn.tokens_completion ?? 0}.`]
        : []),
      ...(before !== undefined && movedFromCache(before, turn)
        ? [
            `${name} read nothing of the cache, although turn ${at} had ${before.tokens_prompt} tokens in: it went to ${turn.provider_name}, turn ${at} to ${before.provider_name}.`,
          ]
        : []),
      ...((turn.attempts ?? 1) > 1 ? [`${name} took ${turn.attempts} attempts.`] : []),
    ];
  });
}

function movedFromCache(before: GenerationRow, turn: GenerationRow): boolean {
  const isLarge =
    (before.tokens_prompt ?? 0) >= CACHE_TOKENS_MIN && (turn.tokens_prompt ?? 0) >= (before.tokens_prompt ?? 0);
  return isLarge && (turn.native_tokens_cached ?? 0) === 0 && before.provider_name !== turn.provider_name;
}
