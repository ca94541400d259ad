import type { z } from 'zod';
import type { PluginRequest } from '../../canonical/directives.ts';
import type { ClientFormat, UpstreamFormat } from '../format.ts';
import { createRequestDecoder } from './request/request-in.ts';
import { MessagesStreamDecoder } from './response/stream-in.ts';
import { decodeWhole } from './response/response-in.ts';
import { encodeError } from './response/error-out.ts';
import { encodeRequest } from './request/request-out.ts';
import { MessagesStreamEncoder } from './response/stream-out.ts';
import { encodeWhole } from './response/response-out.ts';
import { PARAMETERS } from './parameters.ts';
import { messagesServerCalls } from './server-tools.ts';
import { responseLimit } from './request/thinking.ts';
import { decodeError } from './response/error-in.ts';

/** What keeps an idle stream open. @spec stream-27 */
const KEEP_ALIVE = 'event: ping\ndata: {"type":"ping"}\n\n';

/** The messages format as callers speak it. @spec messages-1, messages-26 */
export function createMessagesClientFormat(options: { readonly plugin: z.ZodType<PluginRequest> }): ClientFormat {
  return {
    id: 'messages',
    decodeRequest: createRequestDecoder(options),
    createStreamEncoder: (identity) => new MessagesStreamEncoder(identity),
    encodeWhole,
    encodeError,
    requestIdHeader: 'request-id',
    supports: (block) => block.type !== 'media' && (block.type !== 'opaque' || block.format === 'messages'),
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
  responseLimit,
  encodeRequest,
  createStreamDecoder: () => new MessagesStreamDecoder(),
  decodeWhole,
  decodeError,
};
