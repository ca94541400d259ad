import type { Authenticate } from '../accounts/authenticate.ts';
import type { Presets } from '../accounts/presets.ts';
import type { ClientFormats } from './client-formats.ts';
import { createCountTokensRoute } from '../http/generation/count-tokens.ts';
import { createExplainRoute } from '../http/generation/explain.ts';
import type { BodyLimits } from '../http/generation/read-body.ts';
import { createGenerationRoute, type GenerationRouteParts, type RawHandler } from '../http/generation/route.ts';
import { countTokens } from '../pipeline/count-tokens.ts';
import { explainRoute } from '../pipeline/explain.ts';
import { createGenerate, type GenerateParts } from '../pipeline/generate.ts';
import type { SharedParts } from './shared-parts.ts';

const BODY_IDLE_MS = 15_000;
const BODY_TOTAL_MS = 300_000;

/** The routes that take a body in a caller's format, by their path below the version segment. */
export function generationRoutes(
  { config, clock, metrics, baseUrl }: SharedParts,
  { chat, messages }: ClientFormats,
  generateParts: GenerateParts,
  authenticate: Authenticate,
  presets: Presets,
  limits: { readonly draining: () => boolean; readonly bodyLimits: Partial<BodyLimits> | undefined },
): Readonly<Record<string, RawHandler>> {
  const parts: GenerationRouteParts = {
    authenticate,
    generate: createGenerate(generateParts),
    presets,
    clock,
    bodyLimits: {
      bytesMax: config.server.maxBodyBytes,
      idleMs: BODY_IDLE_MS,
      totalMs: BODY_TOTAL_MS,
      ...limits.bodyLimits,
    },
    allowApiKeyHeader: false,
    baseUrl,
    draining: limits.draining,
    onRefused: (error, format) => metrics.refused(format, error.status),
    onBug: generateParts.onBug,
  };
  const messagesParts = { ...parts, allowApiKeyHeader: true };
  return {
    '/chat/completions': createGenerationRoute(chat, parts),
    '/messages': createGenerationRoute(messages, messagesParts),
    '/route/explain': createExplainRoute({ chat, messages }, messagesParts, (request, principal) =>
      explainRoute(generateParts, request, principal),
    ),
    '/messages/count_tokens': createCountTokensRoute(messages, messagesParts, (asked, signal) =>
      countTokens(generateParts, asked, signal),
    ),
  };
}
