import { legalToolName } from '../gateway/legal-tool-name.ts';

/**
 * `types.d.ts` of @google/genai 2.18 (2026-08): letters, digits, `_`, `-`, `.` and `:`, and no digit or sign in front. Of
 * those, what every host takes, and no more than 64 of them.
 */
const LEGAL_NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/** A tool name that this wire takes; the same name is always mapped alike, and two names never fall together. */
export function geminiToolName(name: string): string {
  if (LEGAL_NAME.test(name)) return name;
  const legal = legalToolName(name);
  // A point is replaced and brings the digest with it, which keeps `9x` apart from a tool whose name is `_9x`.
  return LEGAL_NAME.test(legal) ? legal : legalToolName(`_${name}.`);
}
