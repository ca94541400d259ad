import type { ServerResponse } from 'node:http';
import type { Principal } from '../../accounts/principal.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { KeepResponse } from '../../pipeline/request.ts';
import type { ClientFormat } from '../../wire/format.ts';
import type { HeaderDirectives } from '../../wire/gateway/headers.ts';
import type { DecodeResponses } from './decode-responses.ts';
import { NodeCaller } from './node-caller.ts';
import { createBodyRoute, type Admitted, type GenerationRouteDeps, type RawHandler } from './route.ts';

/** What keeps responses, and runs them in the background. */
export interface KeptResponses {
  /** What keeps its response; `undefined`: nothing does. @throws GatewayError 400 */
  keeperOf(principal: Principal, request: GenerationRequest): Promise<KeepResponse | undefined>;
  /** Accepts a request to run it in the background. @throws GatewayError 400, 402, 403, 404, 429, 503 */
  accept(of: NewBackgroundResponse): Promise<BackgroundResponse>;
}

export interface NewBackgroundResponse {
  readonly generationId: string;
  readonly principal: Principal;
  readonly request: GenerationRequest;
  readonly accepted: { readonly text: string; readonly headers: HeaderDirectives; readonly isLarge: boolean };
}

export interface BackgroundResponse {
  readonly response: JsonObject;
  /** Its stream, from the beginning. */
  follow(signal: AbortSignal): AsyncIterable<string>;
}

/** `POST /responses`: a generation that may continue kept ones, may be kept, and may run in the background. */
export function createResponsesRoute(
  format: ClientFormat,
  deps: GenerationRouteDeps,
  decode: DecodeResponses,
  kept: KeptResponses,
): RawHandler {
  return createBodyRoute(format, deps, async (admitted, response, arrivedMs) => {
    const { id, principal, place, turns } = admitted;
    const request = withoutCache(await decode(admitted));
    if (request.response?.background === true) return runInBackground(format, deps, kept, admitted, request, response);
    const keep = await kept.keeperOf(principal, request);
    if (turns !== undefined) await turns.next();
    const incoming = { id, request, principal, arrivedMs, place, isLarge: turns !== undefined, keep };
    await deps.generate(incoming, format, new NodeCaller(response, format, deps.unread));
  });
}

/** The caller gets the response as it is accepted, or reads its stream: to hang up on that does not end it. */
async function runInBackground(
  format: ClientFormat,
  deps: GenerationRouteDeps,
  kept: KeptResponses,
  { id, principal, text, headers, turns }: Admitted,
  request: GenerationRequest,
  response: ServerResponse,
): Promise<void> {
  const accepted = { text, headers, isLarge: turns !== undefined };
  const background = await kept.accept({ generationId: id, principal, request, accepted });
  const caller = new NodeCaller(response, format, deps.unread);
  if (request.delivery === 'whole') {
    caller.answer(id, JSON.stringify(background.response));
    return;
  }
  const gone = new AbortController();
  caller.onGone(() => gone.abort());
  caller.startStream(id);
  for await (const frames of background.follow(gone.signal))
    if (!caller.write(frames)) await caller.drained(gone.signal);
  caller.end('');
}

/** The body alone does not determine such a response, or is not all that the request does. */
function withoutCache(request: GenerationRequest): GenerationRequest {
  const { response, directives } = request;
  const { responseCache, ...others } = directives;
  const mayReplay =
    response?.store !== true && response?.background !== true && response?.previousResponseId === undefined;
  return responseCache === undefined || mayReplay ? request : { ...request, directives: others };
}
