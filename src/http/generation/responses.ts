import type { Principal } from '../../accounts/principal.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Json } from '../../lib/json.ts';
import type { KeepResponse } from '../../pipeline/request.ts';
import type { ClientFormat, DecodeContext } from '../../wire/format.ts';
import { readWithPreset, withFullNames } from './apply-preset.ts';
import { NodeCaller } from './node-caller.ts';
import { createBodyRoute, type GenerationRouteDeps, type RawHandler } from './route.ts';

/** What kept responses are to a new request. */
export interface ContinuedResponses {
  /** What the request continues and refers to. @throws GatewayError 400, 503 */
  prepare(principal: Principal, body: Json): DecodeContext | Promise<DecodeContext>;
  /** What keeps its response; `undefined`: nothing does. @throws GatewayError 400 */
  keeperOf(principal: Principal, request: GenerationRequest): Promise<KeepResponse | undefined>;
}

/** `POST /responses`: a generation that may continue kept ones, and may be kept. */
export function createResponsesRoute(
  format: ClientFormat,
  deps: GenerationRouteDeps,
  kept: ContinuedResponses,
): RawHandler {
  return createBodyRoute(format, deps, async (admitted, response, arrivedMs) => {
    const { id, principal, place, turns } = admitted;
    const context = await kept.prepare(principal, admitted.body);
    const decode: ClientFormat['decodeRequest'] = (body, text, headers) =>
      format.decodeRequest(body, text, headers, context);
    const named = await readWithPreset(deps.presets, format.id, decode, admitted);
    const request = withoutCache(withFullNames(named, deps.rename));
    const keep = await kept.keeperOf(principal, request);
    if (turns !== undefined) await turns.next();
    const incoming = { id, request, principal, arrivedMs, place, isLarge: turns !== undefined, keep };
    await deps.generate(incoming, format, new NodeCaller(response, format, deps.unread));
  });
}

/** The body alone does not determine such a response, or is not all that the request does. */
function withoutCache(request: GenerationRequest): GenerationRequest {
  const { response, directives } = request;
  const { responseCache, ...others } = directives;
  const mayReplay =
    response?.store !== true && response?.background !== true && response?.previousResponseId === undefined;
  return responseCache === undefined || mayReplay ? request : { ...request, directives: others };
}
