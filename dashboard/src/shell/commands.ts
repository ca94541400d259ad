import type { IconName } from '../parts/icon.tsx';

/** What the palette can do: go somewhere, or do something. */
export interface Command {
  readonly kind: 'page' | 'action' | 'key' | 'model' | 'request';
  readonly name: string;
  readonly icon?: IconName;
  readonly hotkey?: string;
  readonly to?: string;
  readonly run?: () => void;
}

const FOUND_MAX = 12;
const REQUEST_ID = /^(gen-|req-)[\w-]{6,}$/;
const KEY_HASH = /^[0-9a-f]{64}$/;

/** The best matches: names that begin so, then names with a word that does, then letters in order. */
export function findCommands(text: string, commands: readonly Command[]): readonly Command[] {
  const wanted = text.trim().toLowerCase();
  const pasted = pastedCommand(text.trim());
  if (wanted === '') return commands.slice(0, FOUND_MAX);
  const ranked = commands
    .map((command) => ({ command, rank: rankOf(command.name.toLowerCase(), wanted) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank || a.command.name.length - b.command.name.length)
    .map(({ command }) => command);
  return [...(pasted === undefined ? [] : [pasted]), ...ranked].slice(0, FOUND_MAX);
}

function pastedCommand(text: string): Command | undefined {
  if (REQUEST_ID.test(text)) return { kind: 'request', name: text, to: `/ui/requests/${text}` };
  if (KEY_HASH.test(text)) return { kind: 'key', name: text, to: `/ui/keys/${text}` };
  return undefined;
}

function rankOf(name: string, wanted: string): number {
  if (name.startsWith(wanted)) return 4;
  if (name.split(/[\s/._-]+/).some((word) => word.startsWith(wanted))) return 3;
  if (name.includes(wanted)) return 2;
  let at = 0;
  for (const letter of name) if (letter === wanted[at]) at += 1;
  return at === wanted.length ? 1 : 0;
}
