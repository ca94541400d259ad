import type { ClientFormat } from '../../wire/format.ts';
import { readWithPreset, withFullNames } from './apply-preset.ts';
import type { CountRequest } from './count-tokens.ts';
import { NodeCaller } from './node-caller.ts';
import type { ContinuedResponses } from './responses.ts';
import { createBodyRoute, type GenerationRouteDeps, type RawHandler } from './route.ts';

/** `POST /responses/input_tokens`: not billed, and no generation is recorded. */
export function createInputTokensRoute(
  format: ClientFormat,
  deps: GenerationRouteDeps,
  kept: Pick<ContinuedResponses, 'prepare'>,
  count: CountRequest,
): RawHandler {
  return createBodyRoute(format, deps, async (admitted, response) => {
    const { id, principal } = admitted;
    const context = await kept.prepare(principal, admitted.body);
    const decode: ClientFormat['decodeRequest'] = (body, text, headers) =>
      format.decodeRequest(body, text, headers, context);
    const request = withFullNames(await readWithPreset(deps.presets, format.id, decode, admitted), deps.rename);
    const caller = new NodeCaller(response, format);
    const gone = new AbortController();
    caller.onGone(() => gone.abort());
    const tokens = await count({ id, request, principal }, gone.signal);
    caller.answer(id, JSON.stringify({ object: 'response.input_tokens', input_tokens: tokens }));
  });
}
