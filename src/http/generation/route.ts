import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { Authenticate } from '../../accounts/authenticate.ts';
import { requireKind } from '../../accounts/authenticate.ts';
import type { Presets } from '../../accounts/presets.ts';
import type { Principal } from '../../accounts/principal.ts';
import type { Clock } from '../../lib/clock.ts';
import { newGenerationId } from '../../lib/ids.ts';
import type { Json } from '../../lib/json.ts';
import { findNotFinite } from '../../lib/not-finite.ts';
import type { Generate } from '../../pipeline/generate.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { readHeaderDirectives, type HeaderDirectives } from '../../wire/gateway/headers.ts';
import { readWithPreset } from './apply-preset.ts';
import { createNodeCaller } from './node-caller.ts';
import { readBody, type BodyLimits } from './read-body.ts';
import { formatPath } from '../../wire/gateway/issues.ts';

export interface GenerationRouteParts {
  readonly authenticate: Authenticate;
  readonly generate: Generate;
  readonly presets: Pick<Presets, 'use'>;
  readonly clock: Clock;
  readonly bodyLimits: BodyLimits;
  /** Whether `x-api-key` may carry the key: clients of the messages format send it. */
  readonly allowApiKeyHeader: boolean;
  /** Whether a management key will do, too: where nothing is generated. */
  readonly anyKey?: boolean;
  readonly baseUrl: () => string;
  readonly draining: () => boolean;
  readonly onRefused: (error: GatewayError, format: string) => void;
  readonly onBug: (error: unknown, generationId: string) => void;
}

/** Answers one request, whatever comes. Never rejects. */
export type RawHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** What an admitted request needs to be answered. */
export interface Admitted {
  readonly principal: Principal;
  readonly body: Json;
  readonly text: string;
  readonly headers: HeaderDirectives;
  /** The vendor's own client of the messages format says so. */
  readonly isMessages: boolean;
}

/**
 * A generation endpoint on bare `node:http` (docs/decisions/0002): one factory, used once a format. The order of
 * refusals is decisions.md 18: credentials, key class, size, slowness, then the body itself.
 */
export function createGenerationRoute(format: ClientFormat, parts: GenerationRouteParts): RawHandler {
  const decode = format.decodeRequest.bind(format);
  return createBodyRoute(format, parts, async (admitted, response, arrivedMs) => {
    const request = await readWithPreset(parts.presets, format.id, decode, admitted);
    await parts.generate(
      { id: newGenerationId(parts.clock.nowMs()), request, asker: admitted.principal, arrivedMs },
      format,
      createNodeCaller(response, format),
    );
  });
}

/** A route of a format that takes a JSON body from a normal key, and answers errors in the format's own shape. */
export function createBodyRoute(
  format: ClientFormat,
  parts: GenerationRouteParts,
  handle: (admitted: Admitted, response: ServerResponse, arrivedMs: number) => Promise<void>,
): RawHandler {
  return async (request, response) => {
    const arrivedMs = parts.clock.monotonicMs();
    let isRead = false;
    try {
      const principal = await parts.authenticate(request.headers, { allowApiKeyHeader: parts.allowApiKeyHeader });
      if (parts.anyKey !== true) requireKind(principal, 'normal');
      if (parts.draining())
        throw new GatewayError('provider_overloaded', 'The gateway is shutting down.', {
          status: 503,
          retryAfterMs: 1_000,
        });
      if (request.headers.expect !== undefined) continueIfSmall(request, response, parts.bodyLimits.bytesMax);
      const text = (await readBody(request, parts.bodyLimits)).toString('utf8');
      isRead = true;
      const headers = readHeaderDirectives(request.headers);
      const isMessages = request.headers['anthropic-version'] !== undefined;
      await handle({ principal, body: parseBody(text), text, headers, isMessages }, response, arrivedMs);
    } catch (error) {
      const refusal = asRefusal(error, parts);
      parts.onRefused(refusal, format.id);
      // What is left of a body that was not read would be taken for the next request.
      if (!isRead && !request.complete) response.shouldKeepAlive = false;
      createNodeCaller(response, format).refuse(refusal, {
        generationId: null,
        serviceMetadata: undefined,
        baseUrl: parts.baseUrl(),
      });
    }
  };
}

function continueIfSmall(request: IncomingMessage, response: ServerResponse, bytesMax: number): void {
  if (Number(request.headers['content-length'] ?? 0) <= bytesMax) response.writeContinue();
}

function parseBody(text: string): Json {
  let body: Json;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new GatewayError('invalid_request', 'The request body is not valid JSON.', { cause });
  }
  const tooLarge = findNotFinite(text, body);
  if (tooLarge !== undefined) throw invalid(formatPath(tooLarge), 'is a number beyond what can be represented');
  return body;
}

function asRefusal(error: unknown, parts: GenerationRouteParts): GatewayError {
  if (error instanceof GatewayError) return error;
  // V8 says it this way when JSON is nested deeper than its stack: the request's fault, not ours.
  if (error instanceof RangeError && error.message.includes('call stack'))
    return new GatewayError('invalid_request', 'The request body is nested too deeply.', { cause: error });
  parts.onBug(error, 'before routing');
  return new GatewayError('server', 'The gateway failed unexpectedly.', { cause: error });
}
