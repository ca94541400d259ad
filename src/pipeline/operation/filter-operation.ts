import { invalid } from '../../canonical/gateway-error.ts';
import type { EmbeddingsInput, Operation } from '../../canonical/operation.ts';
import type { InspectedText } from '../../content-filters/contract.ts';
import type { SignalSource } from '../../lib/async/cancellation.ts';
import type { ContentFilterDeps } from '../content-filters/content-filters.ts';
import { filtersOf } from '../content-filters/filter-rules.ts';
import { blockOf, noteFindings } from '../content-filters/filter-stages.ts';
import type { CallerRules, RequestFacts } from '../request.ts';

interface FilterInput {
  readonly facts: RequestFacts<Operation>;
  readonly policy: CallerRules['policy'];
  /** Aborts when the request is over. */
  readonly cancellation: SignalSource;
}

/**
 * The operation as it may go on: what filters replace is replaced, for the provider as for every record of it.
 * @throws GatewayError 403 when a filter blocks it; 400 for tokens where a filter would block or replace; 408; 503
 */
export async function filterOperation(
  { inspector, allowedPhrases }: ContentFilterDeps,
  request: Operation,
  { facts, policy, cancellation }: FilterInput,
): Promise<Operation> {
  const filters = filtersOf(policy, allowedPhrases)?.request;
  if (filters === undefined) return request;
  const texts = request.inputs.flatMap((input): readonly InspectedText[] =>
    typeof input === 'string' ? [{ text: input, form: 'plain', byUser: true }] : [],
  );
  if (texts.length === 0) {
    if (filters.rules.some(({ action }) => action !== 'flag'))
      throw invalid('input', 'must be text, not tokens: the content filters of this key cannot read tokens');
    facts.log.warn([{ code: 'filter-matched', path: 'request', message: 'passed: tokens are not searched' }]);
    return request;
  }
  const found = await inspector.inspect(texts, filters.rules, cancellation.signal);
  const inputs = request.inputs.map((input, at): EmbeddingsInput => found.redacted.get(at)?.text ?? input);
  const inspected = { ...request, inputs };
  noteFindings(facts, 'request', filters, found);
  const blocked = blockOf('request', filters, found);
  if (blocked === undefined) return inspected;
  // What is blocked is not kept, and neither is what no filter has looked through.
  facts.log.request = found.unfinished.length === 0 ? inspected : { ...request, inputs: [] };
  throw blocked;
}
