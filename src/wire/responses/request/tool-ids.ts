import { hash } from 'node:crypto';

/** Longer ones are answered with "string too long ... maximum length 64" (decolua/9router#393, 2026-03). */
const ID_CHARS_MAX = 64;
const DIGEST_CHARS = 32;

/**
 * Gives every call of a conversation an id that the format takes and no earlier call has: some upstreams count from 0 in
 * every response. The same conversation always gets the same ids, so that its prefix stays in the prompt cache.
 */
export function createCallIds(): (given: string) => string {
  const used = new Set<string>();
  return (given) => {
    const legal = legalCallId(given);
    let id = legal;
    for (let copy = 1; used.has(id); copy++) id = legalCallId(`${legal}_${copy}`);
    used.add(id);
    return id;
  };
}

function legalCallId(id: string): string {
  if (id !== '' && id.length <= ID_CHARS_MAX) return id;
  return `call_${hash('sha256', id).slice(0, DIGEST_CHARS)}`;
}
