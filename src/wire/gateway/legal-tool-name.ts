import { hash } from 'node:crypto';

/** Characters and length that both formats' vendors take. @source generation.md 11.1, 12 "function name" */
const LEGAL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const NAME_CHARS_MAX = 64;
const DIGEST_CHARS = 8;

/**
 * A tool name that upstreams take. An illegal one gets its characters replaced and a digest of the whole name added, so
 * that two names never fall together and the same name is always mapped alike (a changed prompt would miss the cache).
 */
export function legalToolName(name: string): string {
  if (LEGAL_NAME.test(name)) return name;
  const stem = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, NAME_CHARS_MAX - DIGEST_CHARS - 1);
  return `${stem}_${hash('sha256', name).slice(0, DIGEST_CHARS)}`;
}
