import type { Authenticate } from '../accounts/keys/authenticate.ts';
import type { RateLimiter } from '../accounts/limits/rate-limits.ts';
import type { Presets } from '../accounts/presets.ts';
import type { ClientFormats } from './client-formats.ts';
import { createCountTokensRoute } from '../http/generation/count-tokens.ts';
import { createExplainRoute } from '../http/generation/explain.ts';
import { largestBody } from '../http/body-budget.ts';
import type { BodyLimits } from '../http/read-body.ts';
import { createGenerationRoute, type GenerationRouteDeps, type RawHandler } from '../http/generation/route.ts';
import type { UnreadResponses } from '../http/unread-responses.ts';
import { countTokens } from '../pipeline/count-tokens.ts';
import { explainRoute } from '../pipeline/explain.ts';
import { createGenerate, type GenerateDeps } from '../pipeline/generate.ts';
import type { SharedDeps } from './shared-deps.ts';

const BODY_IDLE_MS = 15_000;
const BODY_TOTAL_MS = 300_000;

/** The routes that take a body in a caller's format, by their path below the version segment. */
export function generationRoutes(
  { config, clock, metrics, baseUrl, bodies, turns }: SharedDeps,
  { chat, messages }: ClientFormats,
  generateDeps: GenerateDeps,
  authenticate: Authenticate,
  presets: Presets,
  limits: {
    readonly draining: () => boolean;
    readonly bodyLimits: Partial<BodyLimits> | undefined;
    readonly unread: UnreadResponses;
  },
): Readonly<Record<string, RawHandler>> {
  const deps: GenerationRouteDeps = {
    authenticate,
    generate: createGenerate(generateDeps),
    presets,
    clock,
    bodyLimits: {
      bytesMax: Math.min(config.server.maxBodyBytes, largestBody(config.memory.bodyBytes)),
      idleMs: BODY_IDLE_MS,
      totalMs: BODY_TOTAL_MS,
      ...limits.bodyLimits,
    },
    bodies,
    unread: limits.unread,
    turns,
    allowApiKeyHeader: false,
    baseUrl,
    rename: (name) => generateDeps.catalog.rename?.(name) ?? name,
    draining: limits.draining,
    onRefused: (error, format) => metrics.refused(format, error.status),
    onBug: generateDeps.onBug,
  };
  const messagesParts = { ...deps, allowApiKeyHeader: true };
  const enter: RateLimiter['enter'] = (principal, id) => generateDeps.rateLimiter.enter(principal, id);
  return {
    '/chat/completions': createGenerationRoute(chat, { ...deps, enter }),
    '/messages': createGenerationRoute(messages, { ...messagesParts, enter }),
    '/route/explain': createExplainRoute({ chat, messages }, messagesParts, (request, principal) =>
      explainRoute(generateDeps, request, principal),
    ),
    '/messages/count_tokens': createCountTokensRoute(messages, { ...messagesParts, enter }, (requested, signal) =>
      countTokens(generateDeps, requested, signal),
    ),
  };
}
