import type { Plugin } from '../contract.ts';
import { fitByMiddleOut } from './fit-request.ts';
import { contextCompressionOptions } from './options.ts';

/** Leaves out the middle of conversations that are too long for an endpoint. @spec plugin-21 */
export const contextCompression: Plugin<typeof contextCompressionOptions> = {
  id: 'context-compression',
  summary: 'Shortens a conversation that is too long for the model, from its middle.',
  options: contextCompressionOptions,
  unrequested: true,
  fitRequest: (request, _options, isRequested) => fitByMiddleOut(request, isRequested),
};
