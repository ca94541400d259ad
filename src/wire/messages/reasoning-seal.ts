import { REASONING_FAMILIES, type ReasoningBlock, type ReasoningFamily } from '../../canonical/blocks.ts';

/** The family of reasoning that stands in this format without a seal. */
export const OWN_FAMILY: ReasoningFamily = 'anthropic-claude-v1';

/**
 * This format has one member for what makes reasoning readable to its vendor (`signature`, `data`), and none for the
 * vendor, for the item that the block is a piece of, or for being a summary. Reasoning of another vendor is therefore
 * sealed there as `sealed-v1:FAMILY:FORM:ID:TEXT`, and opened when the caller sends it back. Base64 holds no colon, so
 * nothing of the format's own vendor looks like that; a value of a compatible host that does is sealed like the others.
 */
const SEAL = /^sealed-v1:([^:]*):([^:]*):([^:]*):/;
/** A seal of a later version of the gateway. This version cannot open it, and sends it to no vendor. */
const ANY_SEAL = /^sealed-v\d+:/;

const FAMILY_OF_NAME: ReadonlyMap<string, ReasoningFamily> = new Map(REASONING_FAMILIES.map((name) => [name, name]));

/** The facts of a block of reasoning that a seal holds, beside its readable text. */
export interface Sealed {
  readonly family: ReasoningFamily;
  readonly isSummary: boolean;
  readonly id?: string;
  /** The signature, or the encrypted data. */
  readonly text: string;
}

/**
 * The value of `signature` or `data`: the text itself where this format's vendor made it, or its vendor is unknown.
 * @param text the signature, or the encrypted data; `''`: none
 */
export function seal(
  { family = OWN_FAMILY, form, id = '' }: Pick<ReasoningBlock, 'family' | 'form' | 'id'>,
  text: string,
): string {
  const isPlain = family === 'unknown' && form === 'text' && id === '' && text === '';
  if (isPlain || (family === OWN_FAMILY && !ANY_SEAL.test(text))) return text;
  return `sealed-v1:${family}:${form}:${escapeId(id)}:${text}`;
}

export function openSeal(text: string): Sealed {
  const [head, name = '', form, id = ''] = SEAL.exec(text) ?? [];
  const family = FAMILY_OF_NAME.get(name);
  if (head === undefined || family === undefined)
    return { family: ANY_SEAL.test(text) ? 'unknown' : OWN_FAMILY, isSummary: false, text };
  const isSummary = form === 'summary';
  return { family, isSummary, ...(id !== '' && { id: unescapeId(id) }), text: text.slice(head.length) };
}

/** @spec chat-17: the vendor's own family is assumed when none is named */
export function isOwnFamily(family: ReasoningFamily | undefined): boolean {
  return family === undefined || family === OWN_FAMILY;
}

function escapeId(id: string): string {
  return id.replaceAll('%', '%25').replaceAll(':', '%3A');
}

function unescapeId(id: string): string {
  return id.replaceAll('%3A', ':').replaceAll('%25', '%');
}
