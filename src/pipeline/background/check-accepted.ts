import type { Principal } from '../../accounts/principal.ts';
import type { RateLimiter } from '../../accounts/limits/rate-limits.ts';
import { estimateRequestTokens } from '../../canonical/estimate-tokens.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { openRouteReport } from '../../canonical/route-report.ts';
import type { Clock } from '../../lib/clock.ts';
import { admit, type AdmitDeps } from '../admission/admit.ts';
import { refuseForbidden, type RefuseForbiddenDeps } from '../admission/refuse-forbidden.ts';

export interface CheckAcceptedDeps extends AdmitDeps, RefuseForbiddenDeps {
  readonly rateLimiter: Pick<RateLimiter, 'admit'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/**
 * What refuses a request by a status before it is accepted for a run in the background: what fails later ends its stream.
 * It counts as a request from now on.
 * @throws GatewayError 400, 402, 403, 404, 429
 */
export async function checkAccepted(
  deps: CheckAcceptedDeps,
  {
    id,
    request,
    principal,
  }: { readonly id: string; readonly request: GenerationRequest; readonly principal: Principal },
): Promise<void> {
  const rules = await admit(deps, principal);
  const { models } = request.directives;
  const report = openRouteReport(models[0] ?? deps.defaults.model ?? '', deps.clock.monotonicMs());
  await refuseForbidden(deps, request, report, rules);
  const rated = {
    generationId: id,
    promptTokens: () => estimateRequestTokens(request),
    isFree: models.some((slug) => slug.endsWith(':free')),
    hasPlace: true,
  };
  const permit = await deps.rateLimiter.admit(principal, rated)?.acquire();
  // Its tokens count when it runs.
  await permit?.ended(undefined);
}
