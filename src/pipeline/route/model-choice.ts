import type { ModelChoice, RouterDecision, RouterSettings } from '../../canonical/model-choice.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Catalog, Model } from '../../catalog/model.ts';
import type { SessionPin, StickySessions } from '../../routing/sticky.ts';
import type { RouteReport } from '../../canonical/route-report.ts';
import type { RequestLog } from '../../telemetry/request-log.ts';
import { preferencesOf, type RouteDeps } from './choose-route.ts';
import { openCandidatePool, priceTableOf, type CandidatePoolDeps } from './candidate-pool.ts';
import type { CallerRules } from '../request.ts';

/** What this gateway knows of models beside its catalog. */
export interface ModelKnowledge {
  priorOf(model: Model, taskType: string): number | undefined;
  tested: ModelChoice['tested'];
  traffic: ModelChoice['traffic'];
  paidPromptPrice: ModelChoice['paidPromptPrice'];
}

/** What routers remember of conversations, by keys of the gateway's. Bounded. Never rejects. */
export interface RouterMemory {
  recall(key: string): Promise<string | undefined>;
  keep(key: string, value: string, lifeMs: number): void;
}

export interface RouterDeps {
  readonly settings: RouterSettings;
  readonly knowledge: ModelKnowledge;
  readonly memory: RouterMemory;
}

export interface ChoiceDeps extends CandidatePoolDeps, Pick<RouteDeps, 'defaults' | 'random'> {
  readonly catalog: Catalog;
  readonly sticky: Pick<StickySessions, 'sessionOf'>;
  readonly routers: RouterDeps;
}

export interface ChoiceInput {
  /** As the caller sent it: what a conversation is known by. */
  readonly request: GenerationRequest;
  readonly rules: CallerRules;
  readonly log: Pick<RequestLog, 'routerChoice'>;
  readonly report: RouteReport;
  /** Gets each decision, where the choice is only rehearsed. */
  readonly rehearsal?: (decision: RouterDecision) => void;
}

/**
 * What routers choose by, for one request, and what they chose. A class because there is one for each request, and most
 * requests never ask it anything.
 */
export class RequestChoice implements ModelChoice {
  readonly #deps: ChoiceDeps;
  readonly #input: ChoiceInput;
  #pin: SessionPin | undefined;

  constructor(deps: ChoiceDeps, input: ChoiceInput) {
    this.#deps = deps;
    this.#input = input;
  }

  get settings(): RouterSettings {
    return this.#deps.routers.settings;
  }

  get isRehearsal(): boolean {
    return this.#input.rehearsal !== undefined;
  }

  candidatePool(request: GenerationRequest): ReturnType<ModelChoice['candidatePool']> {
    const { rules } = this.#input;
    const preferences = preferencesOf(this.#deps, request, rules);
    return openCandidatePool(this.#deps, request, {
      preferences,
      permissions: rules.policy,
      credentials: rules.credentials,
    });
  }

  resolve(slug: string): string | undefined {
    return this.#find(slug)?.slug;
  }

  priorOf(slug: string, taskType: string): number | undefined {
    const model = this.#find(slug);
    return model && this.#deps.routers.knowledge.priorOf(model, taskType);
  }

  tested(): ReturnType<ModelChoice['tested']> {
    return this.#deps.routers.knowledge.tested();
  }

  traffic(taskType: string): ReturnType<ModelChoice['traffic']> {
    return this.#deps.routers.knowledge.traffic(taskType);
  }

  paidPromptPrice(slug: string): number | undefined {
    return this.#deps.routers.knowledge.paidPromptPrice(slug);
  }

  random(): number {
    return this.#deps.random();
  }

  remembered(what: string): Promise<string | undefined> {
    const key = this.#keyOf(what);
    return key === undefined ? NOTHING : this.#deps.routers.memory.recall(key);
  }

  remember(what: string, value: string, lifeMs: number): void {
    const key = this.isRehearsal ? undefined : this.#keyOf(what);
    if (key !== undefined) this.#deps.routers.memory.keep(key, value, lifeMs);
  }

  decided(decision: RouterDecision): void {
    const { rehearsal } = this.#input;
    const remember: ModelChoice['remember'] = (...what) => this.remember(...what);
    this.#pin = pinOf(decision, remember) ?? this.#pin;
    note(this.#input, decision, (slug) => this.#find(slug));
    rehearsal?.(decision);
  }

  /** `undefined`: no router holds the session. */
  pin(): SessionPin | undefined {
    return this.#pin;
  }

  #find(slug: string): Model | undefined {
    const { catalog } = this.#deps;
    return catalog.resolve === undefined ? catalog.find(slug) : catalog.resolve(slug)?.model;
  }

  /** Of the router and the conversation; `undefined` where none may be remembered. */
  #keyOf(what: string): string | undefined {
    const { request, rules } = this.#input;
    const session = this.#deps.sticky.sessionOf(request, rules.scope);
    return session && `${what} ${session.key()}`;
  }
}

function pinOf({ pins, chosen }: RouterDecision, remember: ModelChoice['remember']): SessionPin | undefined {
  if (pins === undefined) return undefined;
  const { what, idleMs } = pins;
  return { name: what, models: chosen, idleMs, keep: (model) => remember(what, model, idleMs) };
}

const NOTHING: Promise<undefined> = Promise.resolve(undefined);

function note(
  { log, report }: Pick<ChoiceInput, 'log' | 'report'>,
  decision: RouterDecision,
  find: (slug: string) => Model | undefined,
): void {
  const compared = decision.comparedWith === undefined ? undefined : find(decision.comparedWith);
  report.strategy = decision.strategy;
  // An alias serves under the name of its model.
  report.chosen = [...report.chosen, ...decision.chosen.map((slug) => find(slug)?.slug ?? slug)];
  Object.assign(report.params, decision.params);
  const price = compared && priceTableOf(compared);
  log.routerChoice = {
    router: decision.router,
    taskType: decision.taskType ?? log.routerChoice?.taskType,
    comparedWith:
      compared === undefined || price === undefined ? log.routerChoice?.comparedWith : { model: compared.slug, price },
  };
}
