import { encodePathSegment } from '../../lib/net/path-segment.ts';
import type { UpstreamFormat } from '../format.ts';
import { decodeError } from './response/error.ts';
import { ConverseStreamDecoder } from './response/stream.ts';
import { decodeWhole } from './response/response.ts';
import { mustInlineUrl } from './request/media.ts';
import { encodeRequest } from './request/request.ts';
import { PARAMETERS } from './parameters.ts';
import { responseLimit } from './request/thinking.ts';

/** Amazon Bedrock's Converse and ConverseStream, as upstreams speak them. A model may be an ARN, with its slashes. */
export const converseUpstreamFormat: UpstreamFormat = {
  id: 'converse',
  path: ({ model, stream }) => `/model/${encodePathSegment(model)}/${stream ? 'converse-stream' : 'converse'}`,
  streamType: 'application/vnd.amazon.eventstream',
  parameters: PARAMETERS,
  modalities: { inputs: new Set(['image', 'file', 'video']), outputs: new Set(['text']) },
  mustInlineUrl,
  responseLimit,
  encodeRequest,
  createStreamDecoder: (dialect) => new ConverseStreamDecoder(dialect),
  decodeWhole,
  decodeError,
};
