import { encodePathSegment } from '../../lib/net/path-segment.ts';
import type { PathTarget, UpstreamFormat } from '../format.ts';
import { raisedLimit } from '../gateway/efforts.ts';
import { asSignature, restoreCallSignatures } from './call-signatures.ts';
import { decodeError } from './response/error.ts';
import { createStreamDecoder } from './response/stream.ts';
import { decodeWhole } from './response/response.ts';
import { encodeRequest } from './request/request.ts';
import { mustInlineUrl } from './request/media.ts';
import { PARAMETERS } from './parameters.ts';

/** Google's generateContent, at AI Studio and at Vertex. */
export const geminiUpstreamFormat: UpstreamFormat = {
  id: 'gemini',
  path,
  streamType: 'text/event-stream',
  parameters: PARAMETERS,
  modalities: {
    inputs: new Set(['image', 'file', 'audio', 'video']),
    outputs: new Set(['text', 'image', 'audio']),
  },
  mustInlineUrl,
  signsTexts: () => true,
  callSignatures: {
    decode(block) {
      const { id, text } = asSignature(block) ?? {};
      return id === undefined || text === undefined ? undefined : { callId: id, signature: text };
    },
    restore: restoreCallSignatures,
  },
  responseLimit: ({ settings }, { dialect, maxOutputTokens }) =>
    dialect.gemini?.thinking?.by === 'budget' ? raisedLimit(settings, maxOutputTokens) : settings.maxTokens,
  encodeRequest,
  createStreamDecoder,
  decodeWhole,
  decodeError,
};

/** Collections that a model's name may begin with. */
const COLLECTIONS: ReadonlySet<string> = new Set(['models', 'tunedModels']);

/**
 * The model stands in the path, and may be any text that a caller wrote: each of its steps is encoded, and none of them
 * leads elsewhere.
 */
function path({ model, stream }: PathTarget): string {
  const steps = model.split('/').filter((step) => step !== '' && step !== '.' && step !== '..');
  const named = COLLECTIONS.has(steps[0] ?? '') ? steps : ['models', ...steps];
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return `/${named.map(encodePathSegment).join('/')}:${method}`;
}
