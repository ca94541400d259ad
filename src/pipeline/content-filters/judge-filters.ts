import type { Policy, PolicyJudgeFilter } from '../../accounts/policy/policy.ts';
import type { Decide, DecisionQuestion } from '../../canonical/decisions.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { transcriptOf } from '../../decisions/transcript.ts';
import type { RequestFacts } from '../request.ts';

export interface JudgeFilterInput {
  readonly facts: RequestFacts;
  readonly policy: Pick<Policy, 'judgeFilters'>;
  readonly decide: Decide;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Before a request is refused. */
  readonly onBlocked: () => Promise<void>;
}

/** What became of one filter. */
interface Judged {
  readonly filter: PolicyJudgeFilter;
  /** Of "yes", 0 to 1; `undefined`: there is no verdict. */
  readonly probability: number | undefined;
}

const MILLION = 1_000_000;
const LABEL = 'judge';

/**
 * Puts the questions of a caller's guardrails about the request to their judges, which read what other filters left of it.
 * @throws GatewayError 403 where a filter that blocks matches, or has no verdict and does not let pass without one
 * @spec filter-24, filter-25
 */
export async function judgeRequest({ facts, onBlocked, ...input }: JudgeFilterInput): Promise<void> {
  const state = transcriptOf(facts.log.request.turns, 'results');
  if (state === '') return;
  const byModel = Map.groupBy(input.policy.judgeFilters, ({ model }) => model);
  const judged = (await Promise.all([...byModel].map((group) => judgeBy(...group, state, input)))).flat();
  for (const each of judged) note(facts, each);
  const blocking = judged.find(isBlocked);
  if (blocking === undefined) return;
  await onBlocked();
  throw refusalOf(blocking);
}

async function judgeBy(
  model: string,
  filters: readonly PolicyJudgeFilter[],
  state: string,
  { decide, timeoutMs, signal }: Pick<JudgeFilterInput, 'decide' | 'timeoutMs' | 'signal'>,
): Promise<readonly Judged[]> {
  const questions = filters.map(({ question }, index): DecisionQuestion => ({
    id: String(index),
    type: 'noul',
    instructions: question,
    options: [{ key: 'true' }, { key: 'false' }],
  }));
  try {
    const { verdicts } = await decide(state, questions, { models: [model], timeoutMs, signal });
    return filters.map((filter, index) => {
      const yes = verdicts[index]?.millionths[0];
      return { filter, probability: yes === undefined ? undefined : yes / MILLION };
    });
  } catch (error) {
    // A bug, or a caller that has hung up.
    if (!(error instanceof GatewayError) || signal.aborted) throw error;
    return filters.map((filter) => ({ filter, probability: undefined }));
  }
}

function isMatch({ filter, probability }: Judged): boolean {
  return probability !== undefined && probability >= filter.threshold;
}

function isBlocked(judged: Judged): boolean {
  if (judged.probability === undefined) return judged.filter.onError === 'block';
  return judged.filter.action === 'block' && isMatch(judged);
}

/** A filter that found nothing leaves no trace. */
function note({ log, report }: Pick<RequestFacts, 'log' | 'report'>, judged: Judged): void {
  const { filter, probability } = judged;
  const { source, label, model } = filter;
  const isFound = isMatch(judged);
  if (!isFound && probability !== undefined) return;
  const name = label ?? LABEL;
  const done = isBlocked(judged) ? 'blocked' : isFound ? 'flagged' : 'passed';
  const why = isFound ? name : `${name}, without a verdict`;
  report.pipeline.push({
    type: 'guardrail',
    name: 'content-filter',
    summary: `${done[0]?.toUpperCase()}${done.slice(1)}: ${why} in the request`,
    guardrailId: source.guardrailId,
    guardrailScope: source.scope,
    data: {
      action: done,
      detected: isFound,
      engines: ['judge'],
      patterns: isFound ? [name] : [],
      judge: model,
      ...(probability === undefined ? { decision: 'unavailable' } : { probability }),
    },
  });
  log.warn([{ code: 'filter-matched', path: 'request', message: `${done}: ${why} (guardrail ${source.guardrailId})` }]);
}

function refusalOf(judged: Judged): GatewayError {
  const name = judged.filter.label ?? LABEL;
  return isMatch(judged)
    ? new GatewayError('permission_denied', `Request blocked by content filter: ${name}`, {
        metadata: { patterns: [name] },
      })
    : new GatewayError(
        'permission_denied',
        `Request blocked by content filter: ${name}, whose judge gave no verdict. Send the request again later.`,
        { metadata: { patterns: [], decision: 'unavailable' } },
      );
}
