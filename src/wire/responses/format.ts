import { decodeError } from '../upstream-error.ts';
import type { UpstreamFormat } from '../format.ts';
import { createStreamDecoder } from './response/stream.ts';
import { decodeWhole } from './response/response.ts';
import { encodeRequest } from './request/request.ts';
import { PARAMETERS } from './parameters.ts';

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
