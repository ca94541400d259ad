import type { Warning } from '../../../canonical/extra.ts';
import type { GenerationRequest } from '../../../canonical/request.ts';

/**
 * Some endpoints refuse to write less than so many tokens: a smaller limit is raised to what they take.
 * @param tokensMin absent: any limit will do
 */
export function raiseMaxTokens(
  request: GenerationRequest,
  tokensMin: number | undefined,
): { readonly request: GenerationRequest; readonly warnings: readonly Warning[] } {
  const { maxTokens } = request.settings;
  if (maxTokens === undefined || tokensMin === undefined || maxTokens >= tokensMin) return { request, warnings: [] };
  const message = `raised to ${tokensMin}, the least that the endpoint takes`;
  return {
    request: { ...request, settings: { ...request.settings, maxTokens: tokensMin } },
    warnings: [{ code: 'field-changed', path: 'max_tokens', message }],
  };
}
