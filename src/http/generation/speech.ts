import type { IncomingHttpHeaders } from 'node:http';
import type { SpeechFormat, SpeechOperation } from '../../canonical/speech.ts';
import type { RunOperation } from '../../pipeline/operation/operation-request.ts';
import { encodeOperationError } from '../../wire/operations/operation-error.ts';
import { decodeSpeech } from '../../wire/text-to-speech/request-in.ts';
import { withFullNames } from './apply-preset.ts';
import { NodeCaller } from './node-caller.ts';
import { createBodyRoute, type BodyRouteDeps, type RawHandler } from './route.ts';

export interface SpeechRouteDeps extends BodyRouteDeps {
  readonly run: RunOperation<SpeechOperation>;
  /** Of requests that name none. */
  readonly defaultModel: string | undefined;
  /** The slug that a model's name stands for. */
  readonly rename: (name: string) => string;
}

const CALLER = { id: 'tts', encodeError: encodeOperationError, requestIdHeader: 'x-request-id' } as const;

/** `POST /audio/speech`. */
export function createSpeechRoute(deps: SpeechRouteDeps): RawHandler {
  return createBodyRoute(CALLER, deps, async (admitted, response, arrivedMs) => {
    const { id, principal, place, body, text, turns, headers } = admitted;
    const decoded = decodeSpeech(body, text, headers, {
      format: formatDefault(response.req.headers),
      model: deps.defaultModel,
    });
    const request = withFullNames(decoded, deps.rename);
    const incoming = { id, request, principal, arrivedMs, place, isLarge: turns !== undefined };
    await deps.run(incoming, new NodeCaller(response, CALLER, deps.unread));
  });
}

/** Users of the vendor's own clients, which name themselves, expect what the vendor gives. */
function formatDefault(headers: IncomingHttpHeaders): SpeechFormat {
  const isVendors =
    headers['x-stainless-lang'] !== undefined || /^(?:Async)?OpenAI\//.test(headers['user-agent'] ?? '');
  return isVendors ? 'mp3' : 'pcm';
}
