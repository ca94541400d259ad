import { transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { withTextsOfQuestion, type DecisionOperation, type Verdict } from '../../canonical/decisions.ts';
import { estimateDecisionTokens } from '../../canonical/estimate-tokens.ts';
import { textsOf } from '../../canonical/operation.ts';
import { estimateOperationUsage } from '../../canonical/operation-usage.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { Endpoint } from '../../catalog/model.ts';
import { confidenceOf, toMillionths } from '../../decisions/probabilities.ts';
import { offerOf } from '../../providers/contract.ts';
import { encodeDecisions } from '../../wire/decisions/answer-out.ts';
import { nativeDecisions, type DecodedDecision } from '../../wire/decisions/native/format.ts';
import { boundUsage } from '../billing/complete-usage.ts';
import { ESTIMATE_MARGIN } from '../billing/cost-estimate.ts';
import type { CallDeps, CandidateCall } from './call-candidates.ts';
import { callInParts } from './call-in-parts.ts';
import { announce, type KindSteps } from './kind-steps.ts';

const MS = 1_000;

/** How a decision model decides. @spec decision-13 */
export const DECISION_STEPS: KindSteps<DecisionOperation, DecodedDecision> = {
  texts: textsOf,
  withTexts,
  promptTokens: estimateDecisionTokens,
  margin: () => ESTIMATE_MARGIN,
  call,
  usageOf: (given, { operation, served }) => countUsage(given, operation, served.candidate.endpoint),
  upstreamIdOf: ({ id }) => id,
  async deliver({ open, served, writer }) {
    open.facts.meter.end = { type: 'end', finish: 'stop' };
    await open.settle().durable;
    const identity = announce(writer, open, served);
    const { request, createdMs } = open.facts.log;
    const { usage, charge } = open.finalUsage();
    const outcome = {
      verdicts: verdictsOf(request, served.given),
      method: 'native' as const,
      inputTokens: usage.promptTokens,
      outputTokens: usage.completionTokens,
      costNanoUsd: charge?.totalNanoUsd,
      generations: [identity.id],
      warnings: request.warnings,
    };
    const answer = encodeDecisions(outcome, identity, Math.floor(createdMs / MS));
    await writer.answerPieces(identity.id, [Buffer.from(JSON.stringify(answer))]);
  },
};

/** What it says of itself stands: its orders are its own affair. */
function verdictsOf({ questions }: DecisionOperation, { answers }: DecodedDecision): readonly Verdict[] {
  return questions.map((question, at) => {
    const { probabilities = [], confidence } = answers[at] ?? {};
    const millionths = toMillionths(probabilities);
    return { question, millionths, confidence: confidence ?? confidenceOf(millionths), spread: 0, orders: 1 };
  });
}

/** None: nothing of it is kept. */
function withTexts(operation: DecisionOperation, texts: readonly string[]): DecisionOperation {
  const [state = '', ...rest] = texts;
  if (texts.length === 0) return { ...operation, state, questions: [] };
  const questions = operation.questions.map((question) => withTextsOfQuestion(question, rest));
  return { ...operation, state, questions };
}

/** One call; every failure is a value. What is no distribution over the options is none that a caller gets. */
async function call(
  deps: CallDeps,
  input: CandidateCall<DecisionOperation>,
): Promise<DecodedDecision | UpstreamFailure> {
  const { provider, endpoint, request } = input;
  const { upstreamModel: model } = endpoint;
  const offer = offerOf(provider, 'decisions', model);
  if (offer === undefined) return transportFailure('connect');
  const calls = [{ path: nativeDecisions.path, body: { json: nativeDecisions.encode(request, model) } }];
  const decoded = await callInParts(deps, input, { offer, format: nativeDecisions, calls }, (answer) => {
    return nativeDecisions.decode(answer, request.questions) ?? transportFailure('garbage');
  });
  if ('kind' in decoded) return decoded;
  return decoded[0] ?? transportFailure('garbage');
}

function countUsage(
  { inputTokens, outputTokens = 0 }: DecodedDecision,
  operation: DecisionOperation,
  { contextTokensMax }: Endpoint,
): Usage {
  const estimate = estimateOperationUsage(operation);
  const { promptTokensMax } = boundUsage({ contextTokens: contextTokensMax, outputTokens: 0, requestedTokens: 0 });
  const isCounted = inputTokens !== undefined && inputTokens > 0 && inputTokens <= promptTokensMax;
  return {
    ...estimate,
    promptTokens: isCounted ? inputTokens : estimate.promptTokens,
    completionTokens: isCounted ? outputTokens : 0,
    estimated: !isCounted,
  };
}
