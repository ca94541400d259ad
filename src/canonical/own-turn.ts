import type { Turn } from './request.ts';

const own = new WeakSet<Turn>();

/** Makes a turn with the gateway's own instructions. They must hold no text of a caller or of any other source. */
export function ownTurn(text: string): Turn {
  const turn: Turn = { role: 'system', blocks: [{ type: 'text', text }], plain: true };
  own.add(turn);
  return turn;
}

/** Whether `ownTurn` made this turn; a turn with equal text is not enough. */
export function isOwnTurn(turn: Turn): boolean {
  return own.has(turn);
}
