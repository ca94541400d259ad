import type { AttemptRecord } from '../../../store/generations/generation-json.ts';
import type { ExportedGeneration, ExportedMoment } from '../contract.ts';
import type { Attributes, SpanEvent } from './span.ts';

/** What happened at single moments of a generation, in their order. */
export function eventsOf(generation: ExportedGeneration): readonly SpanEvent[] {
  const { firstTokenMs, endMs, moments = [] } = generation;
  const first = { name: 'gateway.first_token', atMs: Math.min(firstTokenMs ?? endMs, endMs), attributes: {} };
  return [...retries(generation), ...(firstTokenMs === undefined ? [] : [first]), ...moments.map(eventOf)].toSorted(
    (one, other) => one.atMs - other.atMs,
  );
}

/**
 * Each attempt that failed and that another one followed, at its end: kinds whose trees have no attempts know of them so.
 * The next turn of the model is an attempt, too, and no retry.
 */
function retries({ context, startMs, endMs }: ExportedGeneration): readonly SpanEvent[] {
  let afterMs = startMs;
  return (context?.attempts ?? []).slice(0, -1).flatMap((attempt, index) => {
    const atMs = Math.min(endMs, beginOf(attempt, startMs, afterMs) + attempt.latencyMs);
    afterMs = atMs;
    if (!isFailed(attempt)) return [];
    const { provider, model, status } = attempt;
    const attributes: Attributes = {
      'gateway.attempt': index + 1,
      'gateway.provider': provider,
      'gateway.upstream_model': model,
      'http.response.status_code': status ?? undefined,
      'error.type': String(status ?? 'no_response'),
    };
    return [{ name: 'gateway.retry', atMs, attributes }];
  });
}

export function isFailed({ status }: Pick<AttemptRecord, 'status'>): boolean {
  return status === null || status >= 400;
}

/** @param requestMs when the request came @param afterMs when the attempt before it ended, where nothing better is known */
export function beginOf({ startMs }: Pick<AttemptRecord, 'startMs'>, requestMs: number, afterMs: number): number {
  return startMs === undefined ? afterMs : requestMs + startMs;
}

function eventOf(moment: ExportedMoment): SpanEvent {
  return { name: `gateway.${moment.kind}`, atMs: moment.atMs, attributes: attributesOf(moment) };
}

function attributesOf(moment: ExportedMoment): Attributes {
  switch (moment.kind) {
    case 'turn':
      // Under names that nothing adds up: the span has the sums.
      return {
        'gateway.turn': moment.n,
        'gateway.turn.input_tokens': moment.promptTokens,
        'gateway.turn.output_tokens': moment.completionTokens,
      };
    case 'rescue':
      return { 'gateway.rescue.method': moment.method, 'gateway.provider': moment.provider };
    case 'filter':
      break;
  }
  return {
    'gateway.filter': moment.name,
    'gateway.filter.action': moment.action,
    'gateway.guardrail.id': moment.guardrailId,
  };
}
