import { hash } from 'node:crypto';
import type { CandidateModel, ModelChoice } from '../../canonical/model-choice.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { judgeStage, readToolSignals, type StageVerdict } from '../../model-selection/classify/tool-signals.ts';
import { inOrder, type Candidates } from './candidates.ts';
import { isHumanTurn, readTask, type Task } from './conversation.ts';
import type { Judgement } from './judge.ts';
import { readVerdict, tierOf, type Tier, type Verdict } from './verdict.ts';

export type Algorithm = 'capability' | 'stage' | 'auto' | 'random' | 'composite' | 'passthrough';

/** The chosen models, and the reason. */
export interface Decision {
  /** Best first. */
  readonly order: readonly CandidateModel[];
  /** Absent where no tier was chosen, but a model. */
  readonly tier?: Tier;
  readonly source: 'signals' | 'judge' | 'default' | 'random';
  /** Of the signals. */
  readonly signals?: StageVerdict;
  readonly verdict?: Verdict;
  /** Set when a judge was called for this very request. */
  readonly judgement?: Judgement;
  /** An earlier request of the conversation decided. */
  readonly isHeld?: true;
  /** A judge would have been called, but this is a rehearsal. */
  readonly wantsJudge?: true;
}

export interface DecisionInput {
  readonly request: GenerationRequest;
  readonly candidates: Candidates;
  readonly choice: Pick<ModelChoice, 'isRehearsal' | 'random' | 'remembered' | 'remember'>;
  /** Never rejects. */
  readonly judge: (task: Task) => Promise<Judgement>;
}

/** As long as a conversation may rest. */
const MEMORY_MS = 60 * 60_000;
const TIER = 'switchyard-router:tier';
const VERDICT = 'switchyard-router:verdict';
const DRAWN_AT_RANDOM = 'switchyard-router:given';

/** @spec router-28 */
export async function decide(algorithm: Algorithm, input: DecisionInput): Promise<Decision> {
  const { candidates } = input;
  if (algorithm === 'passthrough') return { order: candidates.ranked, source: 'default' };
  if (algorithm === 'random') return chooseAtRandom(input);
  // One model is the best and the cheapest, or the only one: every verdict would choose it.
  if (candidates.capable === candidates.efficient)
    return { order: inOrder(candidates, 'capable'), tier: 'capable', source: 'default' };
  const { tier, ...reasons } = await BY_ALGORITHM[algorithm](input);
  return { order: inOrder(candidates, tier), tier, ...reasons };
}

type TierDecision = Omit<Decision, 'order'> & { readonly tier: Tier };
type DecideTier = (input: DecisionInput) => TierDecision | Promise<TierDecision>;

const BY_ALGORITHM: Readonly<Record<Exclude<Algorithm, 'random' | 'passthrough'>, DecideTier>> = {
  capability: judged,
  stage: (input) => bySignals(input) ?? judged(input),
  auto: (input) => bySignals(input) ?? { tier: 'efficient', source: 'default' },
  composite,
};

function bySignals({ request }: DecisionInput): TierDecision | undefined {
  const signals = readToolSignals(request);
  const verdict = signals && judgeStage(signals);
  return verdict && { tier: verdict.tier, source: 'signals', signals: verdict };
}

/** A judge is called after each message of a person. While tool calls follow, the task and the verdict are the same. */
async function judged({ request, choice, judge }: DecisionInput): Promise<TierDecision> {
  const task = readTask(request);
  if (task === undefined) return { tier: 'capable', source: 'default' };
  const digest = hash('sha256', JSON.stringify(task), 'base64url');
  const isHuman = isHumanTurn(request);
  const held = isHuman ? undefined : verdictIn(await choice.remembered(VERDICT), digest);
  if (held !== undefined) return { tier: tierOf(held), source: 'judge', verdict: held, isHeld: true };
  if (choice.isRehearsal) return { tier: 'capable', source: 'default', wantsJudge: true };
  const judgement = await judge(task);
  const { verdict } = judgement;
  if (verdict === undefined) return { tier: 'capable', source: 'default', judgement };
  const { rule, boundary, pSolve } = verdict;
  const kept = `${digest} ${JSON.stringify({ reason: '', rule, boundary, p_solve: pSolve })}`;
  if (isHuman) choice.remember(VERDICT, kept, MEMORY_MS);
  return { tier: tierOf(verdict), source: 'judge', verdict, judgement };
}

function verdictIn(kept: string | undefined, digest: string): Verdict | undefined {
  return kept?.startsWith(`${digest} `) === true ? readVerdict(kept.slice(digest.length)) : undefined;
}

/** What a person said decides until they speak again, unless the tools say more. */
async function composite(input: DecisionInput): Promise<TierDecision> {
  const { request, choice } = input;
  const isHuman = isHumanTurn(request);
  const reported = isHuman ? undefined : bySignals(input);
  if (reported !== undefined) return reported;
  // What is held at the opening of a conversation is of another one that began alike.
  const isOpening = isHuman && readTask(request)?.latest === undefined;
  const held = isOpening ? undefined : await heldTier(choice);
  if (!isHuman && held !== undefined) return { tier: held, source: 'judge', isHeld: true };
  const decision = await judged(input);
  const isUndecided = decision.verdict === undefined && held !== undefined;
  const { tier } = isUndecided ? { tier: held } : decision;
  choice.remember(TIER, tier, MEMORY_MS);
  return { ...decision, tier, ...(isUndecided && { isHeld: true }) };
}

async function heldTier(choice: Pick<ModelChoice, 'remembered'>): Promise<Tier | undefined> {
  const held = await choice.remembered(TIER);
  return held === 'capable' || held === 'efficient' ? held : undefined;
}

/** Once for a session that the caller names, else for every request. */
async function chooseAtRandom({ request, candidates, choice }: DecisionInput): Promise<Decision> {
  const { ranked, capable, efficient } = candidates;
  const isNamed = (request.directives.sessionId ?? request.settings.promptCacheKey ?? '') !== '';
  const before = isNamed ? await choice.remembered(DRAWN_AT_RANDOM) : undefined;
  const held = ranked.find(({ slug }) => slug === before);
  const atRandom = held ?? ranked[Math.floor(choice.random() * ranked.length)] ?? capable;
  if (isNamed) choice.remember(DRAWN_AT_RANDOM, atRandom.slug, MEMORY_MS);
  const tier = atRandom === capable ? 'capable' : atRandom === efficient ? 'efficient' : undefined;
  return {
    order: [...new Set([atRandom, ...ranked])],
    source: 'random',
    ...(tier !== undefined && { tier }),
    ...(held !== undefined && { isHeld: true }),
  };
}
