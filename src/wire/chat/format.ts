import type { z } from 'zod';
import type { PluginRequest } from '../../canonical/directives.ts';
import type { ClientFormat, UpstreamFormat } from '../format.ts';
import { mustInlineUrl } from './request/content.ts';
import { decodeError } from '../upstream-error.ts';
import { createRequestDecoder } from './request/request-in.ts';
import { createStreamDecoder } from './response/stream-in.ts';
import { decodeWhole } from './response/response-in.ts';
import { encodeError } from './response/error.ts';
import { encodeRequest } from './request/request-out.ts';
import { ChatStreamEncoder } from './response/stream-out.ts';
import { encodeWhole } from './response/response-out.ts';
import { PARAMETERS } from './parameters.ts';
import { chatServerCalls } from './server-tools.ts';

/** @param options.plugin checks one entry of `plugins` and translates it to the gateway's names */
export function createChatClientFormat(options: { readonly plugin: z.ZodType<PluginRequest> }): ClientFormat {
  return {
    id: 'chat',
    decodeRequest: createRequestDecoder(options),
    createStreamEncoder: (identity) => new ChatStreamEncoder(identity),
    encodeWhole,
    encodeError,
    requestIdHeader: 'x-request-id',
    supports: (block) =>
      (block.type !== 'opaque' || block.format === 'chat') &&
      (block.type !== 'tool-call' || block.runBy !== 'upstream'),
    serverCalls: chatServerCalls,
    // A comment line, without an `id:` line before it. @spec stream-6, stream-19
    keepAlive: ': SERVICE PROCESSING\n\n',
  };
}

export const chatUpstreamFormat: UpstreamFormat = {
  id: 'chat',
  path: () => '/chat/completions',
  streamType: 'text/event-stream',
  parameters: PARAMETERS,
  mustInlineUrl,
  carriesForeignReasoning: ({ reasoningMember }) => reasoningMember === 'reasoning_details',
  /** Some hosts take readable reasoning alone. */
  signsTexts: ({ reasoningMember, plainMessages }) => reasoningMember === 'reasoning_details' && plainMessages !== true,
  encodeRequest,
  createStreamDecoder,
  decodeWhole,
  decodeError,
};
