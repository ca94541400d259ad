import type { Principal } from '../../accounts/principal.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Catalog } from '../../catalog/model.ts';
import { readCallerRules, type RulesDeps } from '../admission/caller-rules.ts';
import { OpenRequest, type OpenRequestDeps } from '../open-request.ts';

/** What is known of a run whose process is gone. */
export interface LostRun {
  readonly generationId: string;
  readonly request: GenerationRequest;
  readonly principal: Principal;
  /** As its stream names them. `undefined`: no endpoint had served it. */
  readonly model: string | undefined;
  readonly provider: string | undefined;
  /** What the model had written. */
  readonly text: string;
}

export interface ChargeLostRunDeps extends OpenRequestDeps, Pick<RulesDeps, 'policyOf' | 'byokCredentials'> {
  readonly catalog: Catalog;
}

/**
 * Charges a run whose process was killed as one whose caller hung up: by an estimate of what it had sent. Where the process
 * had recorded it after all, the record under the same id counts once.
 * @throws GatewayError 503 when it cannot be recorded: to be called again
 * @spec responses-126
 */
export async function chargeLostRun(
  deps: ChargeLostRunDeps,
  { generationId: id, request, principal, model, provider, text }: LostRun,
): Promise<void> {
  const endpoint = deps.catalog.find(model ?? '')?.endpoints.find(({ providerName }) => providerName === provider);
  if (endpoint === undefined) return;
  const { credentials } = await readCallerRules(deps, principal);
  const arrivedMs = deps.clock.monotonicMs();
  const lost = new OpenRequest(
    deps,
    { id, request, principal, arrivedMs, background: { totalMs: deps.totalMs } },
    NEVER,
  );
  const { log, report, meter } = lost.facts;
  try {
    deps.takeRoom();
    log.hasRoom = true;
    const isByok = credentials(endpoint).length > 0;
    report.isByok = isByok;
    meter.begin({ endpoint, isByok, attempt: 0 }, arrivedMs);
    meter.bytes = Buffer.byteLength(text);
    meter.cancelled = true;
    log.error = new GatewayError('provider_unavailable', 'The gateway was stopped while it ran this response.');
    await lost.settle().durable;
  } finally {
    await lost.close();
  }
}

const NEVER = { onGone: () => undefined };
