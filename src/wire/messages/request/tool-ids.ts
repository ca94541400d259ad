/** @spec translate-7: characters that this format takes. */
const LEGAL_ID = /^[a-zA-Z0-9_-]+$/;
const ID_PREFIX = 'mapped_';

/** A tool call id that this format takes; it holds an illegal one as base64url, so the mapping can be undone. */
export function legalToolId(id: string): string {
  return LEGAL_ID.test(id) ? id : ID_PREFIX + Buffer.from(id, 'utf8').toString('base64url');
}

/** The inverse of `legalToolId` for ids that it had to change. */
export function originalToolId(id: string): string {
  return id.startsWith(ID_PREFIX) ? Buffer.from(id.slice(ID_PREFIX.length), 'base64url').toString('utf8') : id;
}
