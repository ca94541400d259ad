import type { ExportedGeneration } from '../contract.ts';
import { attemptSpanId } from '../trace-context.ts';
import { CONTEXT_KNOWN, hexOf, SPAN_KIND, STATUS_ERROR, type Span } from './span.ts';
import { beginOf, isFailed } from './span-events.ts';

/**
 * Of several, or of one whose provider has received its span; else a single attempt is the generation itself. They came
 * one after the other, and the last one ends with it.
 */
export function attemptSpans({ id, context, startMs, endMs }: ExportedGeneration, parent: Span): readonly Span[] {
  const attempts = context?.attempts ?? [];
  if (attempts.length < 2 && attempts[0]?.isTraced !== true) return [];
  let afterMs = startMs;
  return attempts.map((attempt, index) => {
    const { provider, model, status, latencyMs, part } = attempt;
    const beginMs = Math.min(endMs, beginOf(attempt, startMs, afterMs));
    const next = attempts[index + 1];
    // One that responded lasts as long as its part of the response.
    const lastMs = isFailed(attempt)
      ? beginMs + latencyMs
      : part?.endMs === undefined
        ? undefined
        : startMs + part.endMs;
    const usualMs = next === undefined ? endMs : beginOf(next, startMs, beginMs + latencyMs);
    const attemptEndMs = Math.max(beginMs, Math.min(endMs, next === undefined ? endMs : (lastMs ?? usualMs)));
    afterMs = attemptEndMs;
    const hasFailed = isFailed(attempt);
    return {
      role: 'attempt',
      traceId: parent.traceId,
      spanId: attemptSpanId(id, index),
      parentSpanId: parent.spanId,
      name: `attempt ${index + 1} ${provider}`,
      kind: SPAN_KIND.client,
      startMs: beginMs,
      endMs: attemptEndMs,
      attributes: {
        'gateway.attempt': index + 1,
        'gateway.provider': provider,
        'gateway.upstream_model': model,
        'http.response.status_code': status ?? undefined,
        'error.type': hasFailed ? String(status ?? 'no_response') : undefined,
      },
      events: [],
      links: [],
      flags: CONTEXT_KNOWN,
      ...(hasFailed && { status: { code: STATUS_ERROR } }),
    };
  });
}

/** How the route was chosen: after the plugins, and before the first attempt. */
export function routeSpans(generation: ExportedGeneration, parent: Span): readonly Span[] {
  const { id, context, startMs, endMs, steps = [] } = generation;
  const route = context?.route;
  if (context === undefined || route === undefined) return [];
  const [first] = context.attempts;
  const untilMs = Math.min(endMs, first === undefined ? startMs : beginOf(first, startMs, startMs));
  const ends = steps
    .filter(({ kind, endMs: ended }) => kind === 'plugin' && ended <= untilMs)
    .map((step) => step.endMs);
  return [
    {
      role: 'route',
      traceId: parent.traceId,
      spanId: hexOf(`${id}|route`, 16),
      parentSpanId: parent.spanId,
      name: 'route',
      kind: SPAN_KIND.internal,
      startMs: Math.max(startMs, ...ends),
      endMs: untilMs,
      attributes: {
        'gateway.strategy': context.strategy,
        'gateway.router': context.router,
        'gateway.route.ordering': route.ordering,
        'gateway.route.considered': route.considered,
        'gateway.route.candidates': route.left,
        'gateway.route.resting': route.resting || undefined,
        'gateway.route.left_out': route.reasons.length === 0 ? undefined : route.reasons,
      },
      events: [],
      links: [],
      flags: CONTEXT_KNOWN,
    },
  ];
}
