import type { ModelChoice, RouterDecision, RouterSettings } from '../canonical/model-choice.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Catalog, Model } from '../catalog/model.ts';
import type { SessionHold, StickySessions } from '../routing/sticky.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { CallerRules } from './caller-rules.ts';
import { preferencesOf, type RouteParts } from './choose-route.ts';
import { openField, priceTableOf, type FieldParts } from './model-field.ts';

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

export interface RouterParts {
  readonly settings: RouterSettings;
  readonly knowledge: ModelKnowledge;
  readonly memory: RouterMemory;
}

export interface ChoiceParts extends FieldParts, Pick<RouteParts, 'defaults' | 'random'> {
  readonly catalog: Catalog;
  readonly sticky: Pick<StickySessions, 'sessionOf'>;
  readonly routers: RouterParts;
}

export interface ChoiceQuestion {
  /** As the caller sent it: what a conversation is known by. */
  readonly request: GenerationRequest;
  readonly rules: CallerRules;
  readonly record: Pick<GenerationRecord, 'report' | 'taskType' | 'router' | 'comparedWith'>;
  /** Where it is only told what would be: gets what a router came to. */
  readonly rehearsal?: (decision: RouterDecision) => void;
}

/** What came of it is asked for once routers have chosen. */
export interface RequestChoice extends ModelChoice {
  /** `undefined`: no router holds the session. */
  hold(): SessionHold | undefined;
}

/** What routers choose by, for one request. */
export function createModelChoice(parts: ChoiceParts, question: ChoiceQuestion): RequestChoice {
  return new ChoiceOfRequest(parts, question);
}

/** A class because there is one for each request, and most requests never ask it anything. */
class ChoiceOfRequest implements RequestChoice {
  readonly #parts: ChoiceParts;
  readonly #question: ChoiceQuestion;
  #hold: SessionHold | undefined;

  constructor(parts: ChoiceParts, question: ChoiceQuestion) {
    this.#parts = parts;
    this.#question = question;
  }

  get settings(): RouterSettings {
    return this.#parts.routers.settings;
  }

  get isRehearsal(): boolean {
    return this.#question.rehearsal !== undefined;
  }

  field(request: GenerationRequest): ReturnType<ModelChoice['field']> {
    const { rules } = this.#question;
    const preferences = preferencesOf(this.#parts, request, rules);
    return openField(this.#parts, request, { preferences, permissions: rules.policy, credentials: rules.credentials });
  }

  resolve(slug: string): string | undefined {
    return this.#find(slug)?.slug;
  }

  priorOf(slug: string, taskType: string): number | undefined {
    const model = this.#find(slug);
    return model && this.#parts.routers.knowledge.priorOf(model, taskType);
  }

  tested(): ReturnType<ModelChoice['tested']> {
    return this.#parts.routers.knowledge.tested();
  }

  traffic(taskType: string): ReturnType<ModelChoice['traffic']> {
    return this.#parts.routers.knowledge.traffic(taskType);
  }

  paidPromptPrice(slug: string): number | undefined {
    return this.#parts.routers.knowledge.paidPromptPrice(slug);
  }

  random(): number {
    return this.#parts.random();
  }

  remembered(what: string): Promise<string | undefined> {
    const key = this.#keyOf(what);
    return key === undefined ? NOTHING : this.#parts.routers.memory.recall(key);
  }

  remember(what: string, value: string, lifeMs: number): void {
    const key = this.isRehearsal ? undefined : this.#keyOf(what);
    if (key !== undefined) this.#parts.routers.memory.keep(key, value, lifeMs);
  }

  decided(decision: RouterDecision): void {
    const { record, rehearsal } = this.#question;
    const remember: ModelChoice['remember'] = (...what) => this.remember(...what);
    this.#hold = holdOf(decision, remember) ?? this.#hold;
    note(record, decision, (slug) => this.#find(slug));
    rehearsal?.(decision);
  }

  hold(): SessionHold | undefined {
    return this.#hold;
  }

  #find(slug: string): Model | undefined {
    const { catalog } = this.#parts;
    return catalog.resolve === undefined ? catalog.find(slug) : catalog.resolve(slug)?.model;
  }

  /** Of the router and the conversation; `undefined` where none may be remembered. */
  #keyOf(what: string): string | undefined {
    const { request, rules } = this.#question;
    const session = this.#parts.sticky.sessionOf(request, rules.accountId);
    return session && `${what} ${session.key()}`;
  }
}

function holdOf({ holds, chosen }: RouterDecision, remember: ModelChoice['remember']): SessionHold | undefined {
  if (holds === undefined) return undefined;
  const { what, idleMs } = holds;
  return { name: what, models: chosen, idleMs, keep: (model) => remember(what, model, idleMs) };
}

const NOTHING: Promise<undefined> = Promise.resolve(undefined);

function note(
  record: ChoiceQuestion['record'],
  decision: RouterDecision,
  find: (slug: string) => Model | undefined,
): void {
  const { report } = record;
  const compared = decision.comparedWith === undefined ? undefined : find(decision.comparedWith);
  report.strategy = decision.strategy;
  // An alias serves under the name of its model.
  report.chosen = [...report.chosen, ...decision.chosen.map((slug) => find(slug)?.slug ?? slug)];
  Object.assign(report.params, decision.params);
  record.router = decision.router;
  record.taskType = decision.taskType ?? record.taskType;
  const price = compared && priceTableOf(compared);
  if (compared !== undefined && price !== undefined) record.comparedWith = { model: compared.slug, price };
}
