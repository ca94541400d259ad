import type { ClientFormat } from '../../wire/format.ts';
import type { CountRequest } from './count-tokens.ts';
import type { DecodeResponses } from './decode-responses.ts';
import { NodeCaller } from './node-caller.ts';
import { createBodyRoute, type GenerationRouteDeps, type RawHandler } from './route.ts';

/** `POST /responses/input_tokens`: not billed, and no generation is recorded. */
export function createInputTokensRoute(
  format: ClientFormat,
  deps: GenerationRouteDeps,
  decode: DecodeResponses,
  count: CountRequest,
): RawHandler {
  return createBodyRoute(format, deps, async (admitted, response) => {
    const { id, principal } = admitted;
    const request = await decode(admitted);
    const caller = new NodeCaller(response, format);
    const gone = new AbortController();
    caller.onGone(() => gone.abort());
    const tokens = await count({ id, request, principal }, gone.signal);
    caller.answer(id, JSON.stringify({ object: 'response.input_tokens', input_tokens: tokens }));
  });
}
