import type { ModelChoice, RouterDecision, RouterSettings } from '../canonical/model-choice.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Catalog, Model } from '../catalog/model.ts';
import type { StickySessions } from '../routing/sticky.ts';
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

/** What routers choose by, for one request. */
export function createModelChoice(parts: ChoiceParts, question: ChoiceQuestion): ModelChoice {
  const { catalog, routers } = parts;
  const { rules, record, rehearsal } = question;
  /** Of the router and the conversation; `undefined` where none may be remembered. Most requests never ask for it. */
  const keyOf = (what: string): string | undefined => {
    const session = parts.sticky.sessionOf(question.request, rules.accountId);
    return session && `${what} ${session.key()}`;
  };
  const find = (slug: string): Model | undefined =>
    catalog.resolve === undefined ? catalog.find(slug) : catalog.resolve(slug)?.model;
  return {
    settings: routers.settings,
    isRehearsal: rehearsal !== undefined,
    field(request) {
      const preferences = preferencesOf(parts, request, rules);
      return openField(parts, request, { preferences, permissions: rules.policy, credentials: rules.credentials });
    },
    resolve: (slug) => find(slug)?.slug,
    priorOf(slug, taskType) {
      const model = find(slug);
      return model && routers.knowledge.priorOf(model, taskType);
    },
    tested: () => routers.knowledge.tested(),
    traffic: (taskType) => routers.knowledge.traffic(taskType),
    paidPromptPrice: (slug) => routers.knowledge.paidPromptPrice(slug),
    random: parts.random,
    remembered(what) {
      const key = keyOf(what);
      return key === undefined ? NOTHING : routers.memory.recall(key);
    },
    remember(what, value, lifeMs) {
      const key = rehearsal === undefined ? keyOf(what) : undefined;
      if (key !== undefined) routers.memory.keep(key, value, lifeMs);
    },
    decided(decision) {
      note(record, decision, decision.comparedWith === undefined ? undefined : find(decision.comparedWith));
      rehearsal?.(decision);
    },
  };
}

const NOTHING: Promise<undefined> = Promise.resolve(undefined);

function note(record: ChoiceQuestion['record'], decision: RouterDecision, compared: Model | undefined): void {
  const { report } = record;
  report.strategy = decision.strategy;
  report.chosen = [...report.chosen, ...decision.chosen];
  Object.assign(report.params, decision.params);
  record.router = decision.router;
  record.taskType = decision.taskType ?? record.taskType;
  const price = compared && priceTableOf(compared);
  if (compared !== undefined && price !== undefined) record.comparedWith = { model: compared.slug, price };
}
