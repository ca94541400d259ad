import { countPromptMedia } from '../../canonical/media/count-media.ts';
import { estimateRequestTokens } from '../../canonical/estimate-tokens.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Candidate } from '../../routing/route-plan.ts';
import type { AttemptDeps } from './attempt.ts';
import { tryPrepareCall } from './call-upstream.ts';

/**
 * Whether a candidate may be expected to take the request. A plan leaves out only what surely cannot serve: a prompt is
 * counted low there, tools add to it turn by turn, and what a format cannot say shows when it is encoded. That is right
 * for a last resort, and no reason to give up another attempt early.
 */
export function couldServe(
  { formats, providers }: Pick<AttemptDeps, 'formats' | 'providers'>,
  request: GenerationRequest,
  { endpoint, format: id, credential }: Candidate,
): boolean {
  const { contextTokensMax = Infinity } = endpoint;
  const answerTokens = request.settings.maxTokens ?? 0;
  if (contextTokensMax < Infinity && estimateRequestTokens(request) + answerTokens > contextTokensMax) return false;
  const format = formats[id];
  const provider = providers.get(endpoint.provider);
  if (format === undefined || provider === undefined) return format !== undefined && credential !== undefined;
  // Media are fetched first for some formats: what cannot be said now may be said then.
  if (countPromptMedia(request).all > 0) return true;
  return !('kind' in tryPrepareCall(provider, format, endpoint, request, ''));
}
