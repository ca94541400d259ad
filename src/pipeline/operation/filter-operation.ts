import { invalid } from '../../canonical/gateway-error.ts';
import type { Operation } from '../../canonical/operation.ts';
import type { SignalSource } from '../../lib/async/cancellation.ts';
import type { ContentFilterDeps } from '../content-filters/content-filters.ts';
import { filtersOf } from '../content-filters/filter-rules.ts';
import { blockOf, noteFindings } from '../content-filters/filter-stages.ts';
import type { CallerRules, RequestFacts } from '../request.ts';
import { upstreamError } from '../route/route-errors.ts';
import type { Served } from './call-candidates.ts';
import type { KindSteps } from './kind-steps.ts';

interface FilterInput<Op extends Operation> {
  readonly facts: RequestFacts<Op>;
  readonly policy: CallerRules['policy'];
  /** Aborts when the request is over. */
  readonly cancellation: SignalSource;
}

/**
 * The operation as it may go on: what filters replace is replaced, for the provider as for every record of it.
 * @throws GatewayError 403 when a filter blocks it; 400 for tokens where a filter would block or replace; 408; 503
 */
export async function filterOperation<Op extends Operation>(
  { inspector, allowedPhrases }: ContentFilterDeps,
  request: Op,
  steps: Pick<KindSteps<Op, object>, 'texts' | 'withTexts' | 'unreadable'>,
  { facts, policy, cancellation }: FilterInput<Op>,
): Promise<Op> {
  const filters = filtersOf(policy, allowedPhrases)?.request;
  if (filters === undefined) return request;
  const unreadable = steps.unreadable?.(request);
  if (unreadable !== undefined) {
    if (filters.rules.some(({ action }) => action !== 'flag')) throw invalid(unreadable.path, unreadable.message);
    facts.log.warn([{ code: 'filter-matched', path: 'request', message: 'passed: tokens are not searched' }]);
    return request;
  }
  const texts = steps.texts(request);
  if (texts.length === 0) return request;
  const inspected = texts.map((text) => ({ text, form: 'plain', byUser: true }) as const);
  const found = await inspector.inspect(inspected, filters.rules, cancellation.signal);
  const redacted = steps.withTexts(
    request,
    texts.map((text, at) => found.redacted.get(at)?.text ?? text),
  );
  noteFindings(facts, 'request', filters, found);
  const blocked = blockOf('request', filters, found);
  if (blocked === undefined) return redacted;
  // What is blocked is not kept, and neither is what no filter has looked through.
  facts.log.request = found.unfinished.length === 0 ? redacted : steps.withTexts(request, []);
  throw blocked;
}

/**
 * What was given as it may go on. Where filters look through it all of it must be here: a stream becomes one answer.
 * @throws GatewayError 403 when a filter blocks it, which is charged all the same; 408; 503
 */
export async function filterGiven<Op extends Operation, Given extends object>(
  { inspector, allowedPhrases }: ContentFilterDeps,
  served: Served<Given>,
  steps: Pick<KindSteps<Op, Given>, 'answer' | 'usageOf'>,
  { facts, policy, cancellation }: FilterInput<Op>,
): Promise<Given> {
  const filters = steps.answer && filtersOf(policy, allowedPhrases)?.answer;
  if (steps.answer === undefined || filters === undefined || filters.rules.length === 0) return served.given;
  const whole = await steps.answer.whole(served.given);
  if ('failure' in whole) {
    facts.meter.failure = whole.failure;
    throw upstreamError(whole.failure, served.candidate);
  }
  const { given } = whole;
  facts.meter.usage = steps.usageOf(given, { operation: facts.log.request, served });
  const texts = steps.answer.texts(given);
  const inspected = texts.map((text) => ({ text, form: 'plain', byUser: false }) as const);
  const found = await inspector.inspect(inspected, filters.rules, cancellation.signal);
  noteFindings(facts, 'answer', filters, found);
  const blocked = blockOf('answer', filters, found);
  if (blocked !== undefined) {
    facts.meter.end = { type: 'end', finish: 'content_filter' };
    throw blocked;
  }
  return steps.answer.redact(given, found.redacted);
}
