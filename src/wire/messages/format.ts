import type { z } from 'zod';
import type { PluginRequest } from '../../canonical/directives.ts';
import type { ClientFormat, UpstreamFormat } from '../format.ts';
import { createRequestDecoder } from './decode-request.ts';
import { MessagesStreamDecoder } from './decode-stream.ts';
import { decodeWhole } from './decode-whole.ts';
import { encodeError } from './encode-error.ts';
import { encodeRequest } from './encode-request.ts';
import { MessagesStreamEncoder } from './encode-stream.ts';
import { encodeWhole } from './encode-whole.ts';
import { PARAMETERS } from './parameters.ts';
import { messagesServerCalls } from './server-calls.ts';
import { answerLimit } from './thinking.ts';
import { decodeError } from './upstream-error.ts';

/** What keeps an idle stream open. @source generation.md 7.10, decisions.md 20 */
const KEEP_ALIVE = 'event: ping\ndata: {"type":"ping"}\n\n';

/** The messages format as callers speak it. @source seed 2.6, 2.7, generation.md 7 */
export function createMessagesClientFormat(options: { readonly plugin: z.ZodType<PluginRequest> }): ClientFormat {
  return {
    id: 'messages',
    decodeRequest: createRequestDecoder(options),
    createStreamEncoder: (identity) => new MessagesStreamEncoder(identity),
    encodeWhole,
    encodeError,
    requestIdHeader: 'request-id',
    canSay: (block) => block.type !== 'media' && (block.type !== 'opaque' || block.format === 'messages'),
    serverCalls: messagesServerCalls,
    keepAlive: KEEP_ALIVE,
  };
}

/** The messages format as upstreams speak it. */
export const messagesUpstreamFormat: UpstreamFormat = {
  id: 'messages',
  path: () => '/messages',
  streamType: 'text/event-stream',
  parameters: PARAMETERS,
  modalities: { inputs: new Set(['image', 'file']), outputs: new Set(['text']) },
  mustInlineUrl: (url, _media, { mediaUrls }) => mediaUrls === false && /^https?:/i.test(url),
  answerLimit,
  encodeRequest,
  createStreamDecoder: () => new MessagesStreamDecoder(),
  decodeWhole,
  decodeError,
};
