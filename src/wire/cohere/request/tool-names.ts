import { hash } from 'node:crypto';

// "tool names can only contain certain characters (A-Za-z0-9_) and can't begin with a digit": docs.cohere.com
// "Errors", read 2026-11. The length is the one that callers of this gateway may use (@spec chat-21).
const LEGAL_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const STEM_CHARS_MAX = 54;
const DIGEST_CHARS = 8;

/**
 * A tool name that this format takes. An illegal one gets its characters replaced and a digest of the whole name added, so
 * that two names never fall together and the same name is always mapped alike.
 */
export function toolNameOf(name: string): string {
  if (LEGAL_NAME.test(name)) return name;
  const stem = name.replaceAll(/[^A-Za-z0-9_]/g, '_').slice(0, STEM_CHARS_MAX);
  return `${/^[0-9]/.test(stem) ? '_' : ''}${stem}_${hash('sha256', name).slice(0, DIGEST_CHARS)}`;
}
