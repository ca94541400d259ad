import type { Principal } from '../../accounts/principal.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Config } from '../../config/config.ts';
import { withFullNames } from '../../http/generation/apply-preset.ts';
import { newGenerationId } from '../../lib/ids.ts';
import { parseJsonObject, type JsonObject } from '../../lib/json.ts';
import type { McpAbilities } from '../../mcp-server/abilities.ts';
import { createGenerate, type GenerateDeps } from '../../pipeline/generate.ts';
import { imageSteps } from '../../pipeline/operation/images/make-pictures.ts';
import type { AnswerWriter } from '../../pipeline/operation/operation-request.ts';
import { createRunOperation } from '../../pipeline/operation/run-operation.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { decodeHeaderDirectives } from '../../wire/gateway/headers.ts';
import { decodeImage } from '../../wire/image/request-in.ts';

/** Requests of models that tools make, as the caller's key makes them over HTTP. */
export function createModelCalls(
  config: Pick<Config, 'images'>,
  generateDeps: GenerateDeps,
  chat: ClientFormat,
): Pick<McpAbilities, 'chat' | 'makeImage'> {
  const { clock, rateLimiter, catalog } = generateDeps;
  const generate = createGenerate(generateDeps);
  const runImage = createRunOperation(generateDeps, imageSteps(config.images.holdNanoUsd));
  const rename = (name: string): string => catalog.rename?.(name) ?? name;
  const headers = decodeHeaderDirectives({});
  const call = async (
    principal: Principal,
    signal: AbortSignal,
    run: (id: string, place: Awaited<ReturnType<typeof rateLimiter.enter>>, writer: WholeAnswer) => Promise<void>,
  ): Promise<JsonObject> => {
    const id = newGenerationId(clock.nowMs());
    const place = await rateLimiter.enter(principal, id);
    const writer = new WholeAnswer(signal);
    try {
      await run(id, place, writer);
      return writer.take();
    } finally {
      if (place !== undefined) void place.ended(undefined);
    }
  };
  return {
    chat: (principal, body, signal) =>
      call(principal, signal, async (id, place, writer) => {
        const context = { accountId: principal.accountId };
        const decoded = chat.decodeRequest(body, JSON.stringify(body), headers, context);
        const request = withFullNames(decoded, rename);
        await generate({ id, request, principal, arrivedMs: clock.monotonicMs(), place, isLarge: false }, chat, writer);
      }),
    makeImage: (principal, body, signal) =>
      call(principal, signal, async (id, place, writer) => {
        const sent = { body, text: JSON.stringify(body), headers, shape: 'gateway', uploads: [] } as const;
        const request = withFullNames(decodeImage({ ...sent, defaultModel: undefined }), rename);
        await runImage({ id, request, principal, arrivedMs: clock.monotonicMs(), place, isLarge: false }, writer);
      }),
  };
}

/** Takes the answer of a model in place of a connection. */
class WholeAnswer implements AnswerWriter {
  readonly started = false;
  readonly #signal: AbortSignal;
  #json: string | undefined;
  #error: GatewayError | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  onGone(listener: () => void): void {
    if (this.#signal.aborted) listener();
    else this.#signal.addEventListener('abort', listener, { once: true });
  }

  announce(): void {
    // What headers say is in the answer, or is not for tools.
  }

  answer(_generationId: string, json: string): void {
    this.#json = json;
  }

  answerPieces(_generationId: string, pieces: readonly Uint8Array[]): Promise<void> {
    this.#json = Buffer.concat(pieces).toString('utf8');
    return Promise.resolve();
  }

  refuse(error: GatewayError): void {
    this.#error = error;
  }

  /** @throws GatewayError what refused the request */
  take(): JsonObject {
    if (this.#error !== undefined) throw this.#error;
    const answer = this.#json === undefined ? undefined : parseJsonObject(this.#json);
    if (answer === undefined) throw new GatewayError('server', 'The request was cancelled, or has no response.');
    return answer;
  }

  // Nothing is streamed: no request of a tool asks for it.
  startStream(): never {
    throw new Error('A tool streams nothing.');
  }
  write(): never {
    return this.startStream();
  }
  end(): never {
    return this.startStream();
  }
  startBytes(): never {
    return this.startStream();
  }
  writeBytes(): never {
    return this.startStream();
  }
  endBytes(): never {
    return this.startStream();
  }
  breakOff(): void {
    this.#error ??= new GatewayError('server', 'The response broke off.');
  }
  drained(): Promise<void> {
    return Promise.resolve();
  }
}
