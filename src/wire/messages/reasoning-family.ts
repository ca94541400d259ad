import { REASONING_FAMILIES, type ReasoningFamily } from '../../canonical/blocks.ts';

const OWN_FAMILY: ReasoningFamily = 'anthropic-claude-v1';

const FOREIGN_FAMILIES = REASONING_FAMILIES.filter((family) => family !== OWN_FAMILY);

/** A signature or encrypted reasoning, with the family that can read it. */
export interface Seal {
  readonly family: ReasoningFamily;
  readonly text: string;
}

/**
 * This format has no member for the family of a signature. A foreign one is therefore written as `family:text`: base64
 * holds no colon, so it is told apart when the caller sends it back, and goes only to those who can read it.
 */
export function writeSeal(text: string, family: ReasoningFamily | undefined): string {
  return text === '' || isOwnFamily(family) ? text : `${family}:${text}`;
}

export function readSeal(text: string): Seal {
  const colon = text.indexOf(':');
  const family =
    colon < 0 ? undefined : FOREIGN_FAMILIES.find((name) => text.startsWith(name) && name.length === colon);
  return family === undefined ? { family: OWN_FAMILY, text } : { family, text: text.slice(colon + 1) };
}

/** @source generation.md 1.4: the vendor's own family is assumed when none is named */
export function isOwnFamily(family: ReasoningFamily | undefined): boolean {
  return family === undefined || family === OWN_FAMILY;
}
