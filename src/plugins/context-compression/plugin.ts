import type { Plugin } from '../contract.ts';
import { fitByMiddleOut } from './fit-request.ts';
import { contextCompressionOptions } from './options.ts';

/** Leaves out the middle of conversations that are too long for an endpoint. @source generation.md 4.6 */
export const contextCompression: Plugin<typeof contextCompressionOptions> = {
  id: 'context-compression',
  options: contextCompressionOptions,
  unasked: true,
  fitRequest: (request, _options, asked) => fitByMiddleOut(request, asked),
};
