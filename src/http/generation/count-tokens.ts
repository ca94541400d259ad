import type { Principal } from '../../accounts/principal.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { decodeCountTokens } from '../../wire/messages/count-tokens.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { newGenerationId } from '../../lib/ids.ts';
import { readWithPreset } from './apply-preset.ts';
import { createNodeCaller } from './node-caller.ts';
import { createBodyRoute, type GenerationRouteParts, type RawHandler } from './route.ts';

/** What is to be counted, and for whom. */
interface Counted {
  readonly id: string;
  readonly request: GenerationRequest;
  readonly principal: Principal;
}

/** `POST /messages/count_tokens`: not billed, and no generation is recorded. @source generation.md 7.13 */
export function createCountTokensRoute(
  format: ClientFormat,
  parts: GenerationRouteParts,
  count: (asked: Counted, signal: AbortSignal) => Promise<number>,
): RawHandler {
  return createBodyRoute(format, parts, async (admitted, response) => {
    const request = await readWithPreset(parts.presets, format.id, decodeCountTokens, admitted);
    const caller = createNodeCaller(response, format);
    const gone = new AbortController();
    caller.onGone(() => gone.abort());
    const id = newGenerationId(parts.clock.nowMs());
    const tokens = await count({ id, request, principal: admitted.principal }, gone.signal);
    caller.answer(id, JSON.stringify({ input_tokens: tokens }));
  });
}
