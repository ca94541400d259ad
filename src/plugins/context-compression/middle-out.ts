import type { Turn } from '../../canonical/request.ts';
import { cutTurn } from './cut-turn.ts';
import type { Unit } from './units.ts';

/** What the conversation has to come down to. */
export interface Room {
  /** As estimated. */
  readonly tokens: number;
  readonly turns: number;
}

/**
 * A conversation without its middle. What may be left out is taken back from both ends in turn, the last first, so that
 * as much is kept of its beginning as of its end; the first that does not fit is cut if it is nothing but text.
 */
export function compress(units: readonly Unit[], room: Room): readonly Turn[] {
  const free = units.flatMap(({ isKept }, index) => (isKept ? [] : [index]));
  const kept = units.filter(({ isKept }) => isKept);
  const chosen = new Map<number, readonly Turn[]>();
  let tokens = room.tokens - kept.reduce((sum, unit) => sum + unit.tokens, 0);
  let turns = room.turns - kept.reduce((sum, unit) => sum + unit.turns.length, 0);
  let [from, to] = [0, free.length - 1];
  let isLast = true;
  const stopped = new Map<boolean, number>();
  while (from <= to && stopped.size < 2) {
    if (stopped.has(isLast)) isLast = !isLast;
    const index = free[isLast ? to : from] ?? 0;
    const unit = units[index];
    if (unit === undefined || unit.tokens > tokens || unit.turns.length > turns) stopped.set(isLast, index);
    else {
      chosen.set(index, unit.turns);
      tokens -= unit.tokens;
      turns -= unit.turns.length;
      if (isLast) to--;
      else from++;
    }
    isLast = !isLast;
  }
  for (const index of stopped.values()) {
    const [turn, ...more] = units[index]?.turns ?? [];
    const cut = turn !== undefined && more.length === 0 && turns > 0 ? cutTurn(turn, tokens) : undefined;
    if (cut === undefined) continue;
    chosen.set(index, [cut]);
    break;
  }
  return units.flatMap((unit, index) => (unit.isKept ? unit.turns : (chosen.get(index) ?? [])));
}
