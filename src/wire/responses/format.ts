import { decodeError } from '../upstream-error.ts';
import { unreachable } from '../../lib/assert.ts';
import type { Block } from '../../canonical/blocks.ts';
import type { ClientFormat, UpstreamFormat } from '../format.ts';
import { createStreamDecoder } from './response/stream-in.ts';
import { decodeWhole } from './response/response-in.ts';
import { createResponsesRequestDecoder, type ResponsesDecoderOptions } from './request/request-in.ts';
import { encodeRequest } from './request/request-out.ts';
import { PARAMETERS } from './parameters.ts';
import { encodeError } from './response/error-out.ts';
import { failsInStream, type RefusalSettings } from './response/failing-streams.ts';
import { isHostedCall } from './output/hosted-items.ts';
import { ResponsesStreamEncoder, type ResponseSettings } from './response/stream-out.ts';
import { encodeWhole } from './response/whole-out.ts';
import { responsesServerCalls } from './server-tools.ts';

/** Beside `plugin`, which checks one entry of `plugins` and translates it to the gateway's names. */
export interface ResponsesFormatOptions extends ResponsesDecoderOptions, ResponseSettings, RefusalSettings {}

/** OpenAI's responses format as callers speak it. */
export function createResponsesClientFormat(options: ResponsesFormatOptions): ClientFormat {
  return {
    id: 'responses',
    decodeRequest: createResponsesRequestDecoder(options),
    createStreamEncoder: (identity) => new ResponsesStreamEncoder(identity, options),
    failsInStream: (error, request) => failsInStream(error, request, options),
    encodeWhole: (response, identity, finalUsage) =>
      JSON.stringify(encodeWhole(response, identity, finalUsage, options)),
    snapshotWhole: (response, identity, finalUsage) => encodeWhole(response, identity, finalUsage, options),
    encodeError,
    supports,
    serverCalls: responsesServerCalls,
    requestIdHeader: 'x-request-id',
    // Codex adds an estimate of its own for reasoning otherwise, and shortens the history too early.
    streamHeaders: { 'x-reasoning-included': 'true' },
    keepAlive: ': SERVICE PROCESSING\n\n',
    speaksWhileIdle: true,
  };
}

function supports(block: Block): boolean {
  switch (block.type) {
    case 'opaque':
      return block.format === 'responses';
    case 'media':
      return block.media === 'image';
    case 'tool-call':
      return block.runBy !== 'upstream' || isHostedCall(block);
    case 'tool-result':
      return false;
    case 'text':
    case 'refusal':
    case 'reasoning':
      return true;
    default:
      return unreachable(block);
  }
}

/** OpenAI's responses format as upstreams speak it. Its errors are those of chat. @spec translate-1 */
export const responsesUpstreamFormat: UpstreamFormat = {
  id: 'responses',
  path: () => '/responses',
  streamType: 'text/event-stream',
  parameters: PARAMETERS,
  // @spec translate-13, translate-14
  modalities: { inputs: new Set(['image', 'file', 'audio']), outputs: new Set(['text', 'image']) },
  carriesForeignReasoning: () => true,
  encodeRequest,
  createStreamDecoder,
  decodeWhole,
  decodeError,
};
