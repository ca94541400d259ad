import { hash } from 'node:crypto';

/** Characters and length that both formats' vendors take. @spec translate-7 */
const LEGAL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const NAME_CHARS_MAX = 64;
const DIGEST_CHARS = 8;

/**
 * A tool name that upstreams take. An illegal one gets its characters replaced and a digest of the whole name added, so
 * that two names never become one and the same name is always mapped alike (a changed prompt would miss the cache).
 */
export function legalToolName(name: string): string {
  return LEGAL_NAME.test(name) ? name : digestedToolName(name);
}

/** The name in legal characters, with a digest of the whole. @param prefix put before it, where a name may not begin as it does */
export function digestedToolName(name: string, prefix = ''): string {
  const stem = (prefix + name.replace(/[^a-zA-Z0-9_-]/g, '_')).slice(0, NAME_CHARS_MAX - DIGEST_CHARS - 1);
  return `${stem}_${hash('sha256', name).slice(0, DIGEST_CHARS)}`;
}
