import type { Tool } from './define-tool.ts';
import { READ_TOOLS } from './read-tools.ts';
import { SPEND_TOOLS } from './spend-tools.ts';

export const TOOLS: readonly Tool[] = [...READ_TOOLS, ...SPEND_TOOLS];
