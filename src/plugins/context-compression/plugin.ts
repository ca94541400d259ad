import type { Plugin } from '../contract.ts';
import { contextCompressionOptions } from './options.ts';

export const contextCompression = { id: 'context-compression', options: contextCompressionOptions } satisfies Plugin;
