import type { GenerationRequest } from '../../../canonical/request.ts';
import type { Candidate } from '../../../routing/route-plan.ts';
import type { AttemptDeps } from '../attempt.ts';
import { compactAt } from '../../../wire/compaction-request.ts';
import { raiseMaxTokens } from './raise-max-tokens.ts';

const NO_DIALECT = {};

/**
 * The limit of the answer that a candidate would be sent, in tokens: never less than what it is, since limits are raised for
 * the reasoning and for endpoints that take no short ones. `undefined`: none.
 */
export function limitAsSent(
  { formats, providers }: Pick<AttemptDeps, 'formats' | 'providers'>,
  originalRequest: GenerationRequest,
  { endpoint, format: id }: Candidate,
): number | undefined {
  const { upstreamModel, outputTokensMin, outputTokensMax } = endpoint;
  const dialect = providers.get(endpoint.provider)?.adapter.dialect({ format: id, model: upstreamModel });
  const adapted = compactAt(originalRequest, id, dialect ?? NO_DIALECT);
  const { request } = raiseMaxTokens(adapted, outputTokensMin ?? dialect?.outputTokensMin);
  const format = formats[id];
  if (format?.responseLimit === undefined || dialect === undefined) return request.settings.maxTokens;
  return format.responseLimit(request, {
    dialect,
    ...(outputTokensMax !== undefined && { maxOutputTokens: outputTokensMax }),
  });
}
