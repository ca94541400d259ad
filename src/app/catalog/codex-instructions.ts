import { readFileSync } from 'node:fs';
import type { Config } from '../../config/config.ts';

/**
 * The text that Codex says to the models of its list; `undefined`: there is no list.
 * @throws Error in one sentence, when the file cannot be read
 */
export function readCodexInstructions({
  codexModels,
  codexInstructionsFile: path,
}: Config['responses']): string | undefined {
  if (codexModels === 'off' || path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Error(`responses.codex_instructions_file: ${path} cannot be read.`, { cause });
  }
}
