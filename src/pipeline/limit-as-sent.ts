import type { GenerationRequest } from '../canonical/request.ts';
import type { Candidate } from '../routing/plan.ts';
import type { AttemptParts } from './attempt.ts';
import { raiseMaxTokens } from './raise-max-tokens.ts';

/**
 * The limit of the answer that a candidate would be sent, in tokens: never less than what it is, since limits are raised for
 * the reasoning and for endpoints that take no short ones. `undefined`: none.
 */
export function limitAsSent(
  { formats, providers }: Pick<AttemptParts, 'formats' | 'providers'>,
  asked: GenerationRequest,
  { endpoint, format: id }: Candidate,
): number | undefined {
  const { upstreamModel, outputTokensMin, outputTokensMax } = endpoint;
  const dialect = providers.get(endpoint.provider)?.adapter.dialect({ format: id, model: upstreamModel });
  const { request } = raiseMaxTokens(asked, outputTokensMin ?? dialect?.outputTokensMin);
  const format = formats[id];
  if (format?.answerLimit === undefined || dialect === undefined) return request.settings.maxTokens;
  return format.answerLimit(request, {
    dialect,
    ...(outputTokensMax !== undefined && { maxOutputTokens: outputTokensMax }),
  });
}
