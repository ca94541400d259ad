import type { Principal } from '../../accounts/principal.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { decodeCountTokens } from '../../wire/messages/request/count-tokens.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { readWithPreset, withFullNames } from './apply-preset.ts';
import { NodeCaller } from './node-caller.ts';
import { createBodyRoute, type GenerationRouteDeps, type RawHandler } from './route.ts';

/** The request to count, and its owner. */
interface Counted {
  readonly id: string;
  readonly request: GenerationRequest;
  readonly principal: Principal;
}

export type CountRequest = (requested: Counted, signal: AbortSignal) => Promise<number>;

/** `POST /messages/count_tokens`: not billed, and no generation is recorded. @spec messages-35 */
export function createCountTokensRoute(
  format: ClientFormat,
  deps: GenerationRouteDeps,
  count: CountRequest,
): RawHandler {
  return createBodyRoute(format, deps, async (admitted, response) => {
    const named = await readWithPreset(deps.presets, format.id, decodeCountTokens, admitted);
    const request = withFullNames(named, deps.rename);
    const caller = new NodeCaller(response, format);
    const gone = new AbortController();
    caller.onGone(() => gone.abort());
    const { id } = admitted;
    const tokens = await count({ id, request, principal: admitted.principal }, gone.signal);
    caller.answer(id, JSON.stringify({ input_tokens: tokens }));
  });
}
