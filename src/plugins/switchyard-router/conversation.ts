import type { Block } from '../../canonical/blocks.ts';
import type { GenerationRequest, Turn } from '../../canonical/request.ts';

/** The part of a conversation that a judge reads: the user's requests. No instructions, responses or tool results. */
export interface Task {
  readonly opening: string;
  /** What the user said last; absent: the opening is all that they said. */
  readonly latest?: string;
}

/** UTF-16 units of one message: both its ends, where people say what they want. */
const TEXT_CHARS_MAX = 6_000;

/** @returns `undefined` where no user said anything */
export function readTask({ turns }: Pick<GenerationRequest, 'turns'>): Task | undefined {
  const stated = turns.filter(isHuman);
  const [first] = stated;
  const last = stated.at(-1);
  if (first === undefined || last === undefined) return undefined;
  return { opening: textOf(first), ...(last !== first && { latest: textOf(last) }) };
}

/**
 * Whether a person spoke last, not a tool. In the messages format results of tools stand in turns of the user's; what the
 * answer is to begin with is no turn of its own.
 */
export function isHumanTurn({ turns }: Pick<GenerationRequest, 'turns'>): boolean {
  const last = turns.findLast(({ role }) => role !== 'assistant');
  return last === undefined || isHuman(last) || last.role === 'system' || last.role === 'developer';
}

/** Media or words of a person's own; an empty message is one, too. */
function isHuman({ role, blocks }: Turn): boolean {
  return role === 'user' && (blocks.length === 0 || blocks.some(isOfPerson));
}

/** Coding agents add text of their own to results and user messages, in tags that say so. */
const BY_CLIENT = /^\s*<system-reminder>[^]*<\/system-reminder>\s*$/;

function isOfPerson(block: Block): boolean {
  return block.type !== 'tool-result' && !(block.type === 'text' && BY_CLIENT.test(block.text));
}

function textOf({ blocks }: Turn): string {
  const text = blocks.filter(isOfPerson).flatMap(wordsOf).join('\n');
  if (text.length <= TEXT_CHARS_MAX) return text;
  return `${text.slice(0, TEXT_CHARS_MAX / 2)}\n[...]\n${text.slice(-TEXT_CHARS_MAX / 2)}`.toWellFormed();
}

/** Of media it counts only that they are there. */
function wordsOf(block: Block): readonly string[] {
  if (block.type === 'text') return [block.text];
  return block.type === 'media' ? [`[${block.media}]`] : [];
}
