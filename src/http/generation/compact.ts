import type { Principal } from '../../accounts/principal.ts';
import { estimateRequestTokens } from '../../canonical/estimate-tokens.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { hasFragileNumbers, parseKeepingNumbers } from '../../lib/json.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { compactionFormat, encodeUncompacted, withTrigger } from '../../wire/responses/compaction.ts';
import type { DecodeResponses } from './decode-responses.ts';
import { NodeCaller } from './node-caller.ts';
import { createBodyRoute, type GenerationRouteDeps, type RawHandler } from './route.ts';

/** Refuses what a generation would be refused for. @throws GatewayError 400, 402, 403, 404, 429 */
export type CheckRequest = (of: {
  readonly id: string;
  readonly request: GenerationRequest;
  readonly principal: Principal;
}) => Promise<void>;

/** A shorter history is not worth a summary. */
const HISTORY_TOKENS_MIN = 2_000;
const MS_PER_S = 1_000;

/** `POST /responses/compact`: a history in, a shorter one out. It costs what a generation costs, and is not kept. */
export function createCompactRoute(
  format: ClientFormat,
  deps: GenerationRouteDeps,
  decode: DecodeResponses,
  check: CheckRequest,
): RawHandler {
  const compacting = compactionFormat(format);
  return createBodyRoute(format, deps, async (admitted, response, arrivedMs) => {
    const { id, principal, place, turns } = admitted;
    const body = withTrigger(admitted.body);
    const exact = hasFragileNumbers(admitted.text) ? parseKeepingNumbers(admitted.text) : admitted.body;
    const text = JSON.stringify(withTrigger(exact ?? null));
    const request = withoutCache(await decode({ ...admitted, body, text }));
    const caller = new NodeCaller(response, format, deps.unread);
    if (estimateRequestTokens(request) < HISTORY_TOKENS_MIN) {
      await check({ id, request, principal });
      caller.answer(id, encodeUncompacted(request, id, Math.floor(deps.clock.nowMs() / MS_PER_S)));
      return;
    }
    if (turns !== undefined) await turns.next();
    await deps.generate({ id, request, principal, arrivedMs, place, isLarge: turns !== undefined }, compacting, caller);
  });
}

/** A cached response would be of the request, not of its compaction. */
function withoutCache(request: GenerationRequest): GenerationRequest {
  const { responseCache: _unused, ...directives } = request.directives;
  return { ...request, directives };
}
