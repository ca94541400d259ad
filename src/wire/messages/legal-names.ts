import { hash } from 'node:crypto';

/** generation.md 11.1: characters and length that this wire takes. */
const LEGAL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const LEGAL_ID = /^[a-zA-Z0-9_-]+$/;
const NAME_CHARS_MAX = 64;
const DIGEST_CHARS = 8;
const ID_PREFIX = 'mapped_';

/**
 * A tool name that this wire takes. An illegal one gets its characters replaced and a digest of the whole name added, so
 * that two names never fall together and the same name is always mapped alike (a changed prompt would miss the cache).
 */
export function legalToolName(name: string): string {
  if (LEGAL_NAME.test(name)) return name;
  const stem = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, NAME_CHARS_MAX - DIGEST_CHARS - 1);
  return `${stem}_${hash('sha256', name).slice(0, DIGEST_CHARS)}`;
}

/** A tool call id that this wire takes; an illegal one rides inside as base64url, so the mapping can be undone. */
export function legalToolId(id: string): string {
  return LEGAL_ID.test(id) ? id : ID_PREFIX + Buffer.from(id, 'utf8').toString('base64url');
}

/** The inverse of `legalToolId` for ids that it had to change. */
export function originalToolId(id: string): string {
  return id.startsWith(ID_PREFIX) ? Buffer.from(id.slice(ID_PREFIX.length), 'base64url').toString('utf8') : id;
}
