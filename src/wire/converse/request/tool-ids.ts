import { hash } from 'node:crypto';
import { legalToolName } from '../../gateway/legal-tool-name.ts';

const SHORT_ID = /^[a-zA-Z0-9]{9}$/;

/**
 * A tool call id that this format takes: characters and length are those of a tool's name. Mistral's models want nine
 * letters and digits. The same id is always mapped alike: a changed prompt would miss the cache.
 * @source AWS SDK `ToolUseBlock.toolUseId`, 3.1162 (2026-11); github.com/anomalyco/opencode pull request 48843
 */
export function legalToolId(id: string, short: boolean): string {
  if (!short) return legalToolName(id);
  return SHORT_ID.test(id) ? id : hash('sha256', id).slice(0, 9);
}
