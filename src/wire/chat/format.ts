import type { z } from 'zod';
import type { PluginRequest } from '../../canonical/directives.ts';
import type { ClientFormat, UpstreamFormat } from '../format.ts';
import { mustInlineUrl } from './content-parts.ts';
import { decodeError } from '../read-error.ts';
import { createRequestDecoder } from './decode-request.ts';
import { createStreamDecoder } from './decode-stream.ts';
import { decodeWhole } from './decode-whole.ts';
import { encodeError } from './encode-error.ts';
import { encodeRequest } from './encode-request.ts';
import { ChatStreamEncoder } from './encode-stream.ts';
import { encodeWhole } from './encode-whole.ts';
import { PARAMETERS } from './parameters.ts';
import { chatServerCalls } from './server-calls.ts';

/** @param options.plugin checks one entry of `plugins` and gives it in the gateway's words */
export function createChatClientFormat(options: { readonly plugin: z.ZodType<PluginRequest> }): ClientFormat {
  return {
    id: 'chat',
    decodeRequest: createRequestDecoder(options),
    createStreamEncoder: (identity) => new ChatStreamEncoder(identity),
    encodeWhole,
    encodeError,
    requestIdHeader: 'x-request-id',
    canSay: (block) =>
      (block.type !== 'opaque' || block.format === 'chat') &&
      (block.type !== 'tool-call' || block.runBy !== 'upstream'),
    serverCalls: chatServerCalls,
    // A comment line, without an `id:` line before it: pains.md 11. generation.md 6.5
    keepAlive: ': SERVICE PROCESSING\n\n',
  };
}

export const chatUpstreamFormat: UpstreamFormat = {
  id: 'chat',
  path: () => '/chat/completions',
  streamType: 'text/event-stream',
  parameters: PARAMETERS,
  mustInlineUrl,
  encodeRequest,
  createStreamDecoder,
  decodeWhole,
  decodeError,
};
