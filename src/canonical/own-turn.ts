import type { Turn } from './request.ts';

const own = new WeakSet<Turn>();

/** Instructions that the gateway itself gives a model: no word of them may come from a caller, or from anybody else. */
export function ownTurn(text: string): Turn {
  const turn: Turn = { role: 'system', blocks: [{ type: 'text', text }], plain: true };
  own.add(turn);
  return turn;
}

/** Whether it is such a turn, and not merely one that says the same. */
export function isOwnTurn(turn: Turn): boolean {
  return own.has(turn);
}
