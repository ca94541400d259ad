import type { UpstreamFormat } from '../format.ts';
import { raisedLimit } from '../gateway/efforts.ts';
import { createStreamDecoder } from './decode-stream.ts';
import { decodeWhole } from './decode-whole.ts';
import { encodeRequest } from './encode-request.ts';
import { PARAMETERS } from './parameters.ts';
import { decodeError } from './upstream-error.ts';

/** The second version of Cohere's own chat format. */
export const cohereUpstreamFormat: UpstreamFormat = {
  id: 'cohere',
  path: () => '/chat',
  streamType: 'text/event-stream',
  parameters: PARAMETERS,
  // Documents of text can be written out, other files cannot be sent.
  modalities: { inputs: new Set(['image']), outputs: new Set(['text']) },
  answerLimit: ({ settings }, { maxOutputTokens }) => raisedLimit(settings, maxOutputTokens),
  encodeRequest,
  createStreamDecoder,
  decodeWhole,
  decodeError,
};
