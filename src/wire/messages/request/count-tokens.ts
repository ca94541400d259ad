import { DEFAULT_PREFERENCES } from '../../../canonical/directives.ts';
import { estimateRequestTokens } from '../../../canonical/estimate-tokens.ts';
import type { GenerationRequest } from '../../../canonical/request.ts';
import type { Json } from '../../../lib/json.ts';
import type { HeaderDirectives } from '../../gateway/headers.ts';
import { checkShape } from '../../gateway/validation/check-shape.ts';
import { decodePrompt } from './request-in.ts';
import { countTokensSchema } from './request-schema.ts';

/**
 * Decodes a body of `POST /messages/count_tokens`: a request without a generation. Members that only a response needs are
 * ignored, so that a whole request may be sent to be counted.
 * @throws GatewayError 400
 * @spec messages-35
 */
export function decodeCountTokens(body: Json, text: string, headers: HeaderDirectives): GenerationRequest {
  const parsed = checkShape(countTokensSchema, body, { text });
  const prompt = decodePrompt(parsed, text);
  return {
    format: 'messages',
    delivery: 'whole',
    ...prompt,
    directives: {
      models: parsed.model === undefined ? [] : [parsed.model],
      provider: DEFAULT_PREFERENCES,
      plugins: [],
      echoUpstreamBody: false,
      serviceMetadata: headers.serviceMetadata,
      betas: headers.betas,
    },
    warnings: [],
  };
}

/** The response `{input_tokens}` where no upstream counts: the gateway's own estimate. */
export function estimateInputTokens(request: GenerationRequest): number {
  return estimateRequestTokens(request);
}
