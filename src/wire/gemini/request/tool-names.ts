import { digestedToolName, legalToolName } from '../../gateway/legal-tool-name.ts';

/**
 * `types.d.ts` of @google/genai 2.18 (2026-08): letters, digits, `_`, `-`, `.` and `:`, and no digit or sign in front. Of
 * those, what every host takes, and no more than 64 of them.
 */
const LEGAL_NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/** A tool name that this format takes. The same name is always mapped alike, and two names never become one. */
export function geminiToolName(name: string): string {
  if (LEGAL_NAME.test(name)) return name;
  const legal = legalToolName(name);
  // The digest keeps `9x` apart from a tool whose name is `_9x`.
  return LEGAL_NAME.test(legal) ? legal : digestedToolName(name, '_');
}
