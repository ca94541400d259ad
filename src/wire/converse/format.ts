import { pathStep } from '../../lib/path-step.ts';
import type { UpstreamFormat } from '../format.ts';
import { decodeError } from './decode-error.ts';
import { ConverseStreamDecoder } from './decode-stream.ts';
import { decodeWhole } from './decode-whole.ts';
import { mustInlineUrl } from './draw-media.ts';
import { encodeRequest } from './encode-request.ts';
import { PARAMETERS } from './parameters.ts';
import { answerLimit } from './reasoning.ts';

/** Amazon Bedrock's Converse and ConverseStream, as upstreams speak them. A model may be an ARN, with its slashes. */
export const converseUpstreamFormat: UpstreamFormat = {
  id: 'converse',
  path: ({ model, stream }) => `/model/${pathStep(model)}/${stream ? 'converse-stream' : 'converse'}`,
  streamType: 'application/vnd.amazon.eventstream',
  parameters: PARAMETERS,
  modalities: { inputs: new Set(['image', 'file', 'video']), outputs: new Set(['text']) },
  mustInlineUrl,
  answerLimit,
  encodeRequest,
  createStreamDecoder: (dialect) => new ConverseStreamDecoder(dialect),
  decodeWhole,
  decodeError,
};
