import { decodeError } from '../read-error.ts';
import type { UpstreamFormat } from '../format.ts';
import { createStreamDecoder } from './decode-stream.ts';
import { decodeWhole } from './decode-whole.ts';
import { encodeRequest } from './encode-request.ts';
import { PARAMETERS } from './parameters.ts';

/** OpenAI's responses format as upstreams speak it. Its errors are those of chat. @source generation.md 11 column R */
export const responsesUpstreamFormat: UpstreamFormat = {
  id: 'responses',
  path: () => '/responses',
  streamType: 'text/event-stream',
  parameters: PARAMETERS,
  // @source generation.md 11.2 column R
  modalities: { inputs: new Set(['image', 'file', 'audio']), outputs: new Set(['text', 'image']) },
  encodeRequest,
  createStreamDecoder,
  decodeWhole,
  decodeError,
};
