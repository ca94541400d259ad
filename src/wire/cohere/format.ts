import type { UpstreamFormat } from '../format.ts';
import { raisedLimit } from '../gateway/efforts.ts';
import { createStreamDecoder } from './response/stream.ts';
import { decodeWhole } from './response/response.ts';
import { encodeRequest } from './request/request.ts';
import { PARAMETERS } from './parameters.ts';
import { decodeError } from './response/error.ts';

/** The second version of Cohere's own chat format. */
export const cohereUpstreamFormat: UpstreamFormat = {
  id: 'cohere',
  path: () => '/chat',
  streamType: 'text/event-stream',
  parameters: PARAMETERS,
  // Documents of text can be written out, other files cannot be sent.
  modalities: { inputs: new Set(['image']), outputs: new Set(['text']) },
  responseLimit: ({ settings }, { maxOutputTokens }) => raisedLimit(settings, maxOutputTokens),
  encodeRequest,
  createStreamDecoder,
  decodeWhole,
  decodeError,
};
