import type { Plugin } from '../contract.ts';
import { fileParserOptions } from './options.ts';

export const fileParser = { id: 'file-parser', options: fileParserOptions } satisfies Plugin;
