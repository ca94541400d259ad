import type { FieldModel, ModelChoice, RouterSettings } from '../../canonical/model-choice.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { plainModels } from '../../choosing/plain-models.ts';
import type { Tier } from './verdict.ts';

/** Who may answer, and who stands for which tier. */
export interface Candidates {
  /** In the order in which they were asked for, or ranked. Never empty. */
  readonly ranked: readonly FieldModel[];
  readonly capable: FieldModel;
  /** The same as `capable` where one model is the best and the cheapest: then there is nothing to decide. */
  readonly efficient: FieldModel;
  /** Who named them. */
  readonly from: 'models' | 'configuration' | 'ranking';
  /** As the caller spelled it, with its suffixes. */
  spell(model: FieldModel): string;
}

/** Of all that are ranked, so many of the best: the cheapest of a whole catalog would serve nobody well. */
const RANKED_MAX = 20;

export interface CandidatesQuestion {
  readonly request: GenerationRequest;
  readonly field: readonly FieldModel[];
  readonly choice: Pick<ModelChoice, 'resolve' | 'priorOf'> & {
    readonly settings: Pick<RouterSettings, 'efficientModel' | 'capableModel'>;
  };
  /** What the request is about. */
  readonly taskType: string;
  /** Whether a slug is one of the router's own. */
  readonly isOwn: (slug: string) => boolean;
}

/** @returns `undefined` where nobody may answer. @source generation.md 4.10 "Candidates" */
export function findCandidates(question: CandidatesQuestion): Candidates | undefined {
  const { request, field, choice, taskType, isOwn } = question;
  const bySlug = new Map(field.map((model) => [model.slug, model]));
  const spelled = new Map<FieldModel, string>();
  const among = (slugs: readonly string[]): readonly FieldModel[] => {
    const found = slugs.flatMap((slug) => {
      const model = bySlug.get(choice.resolve(slug) ?? slug);
      if (model !== undefined && !spelled.has(model)) spelled.set(model, slug);
      return model ?? [];
    });
    return [...new Set(found)];
  };
  const spell = (model: FieldModel): string => spelled.get(model) ?? model.slug;
  const qualityOf = qualitiesOf(field, choice, taskType);
  const listed = request.directives.models.filter((slug) => !isOwn(slug));
  if (listed.length > 0) return tiersOf({ ranked: among(listed), qualityOf, from: 'models', spell });
  const { capableModel, efficientModel } = choice.settings;
  const [capable] = among(capableModel === undefined ? [] : [capableModel]);
  const [efficient] = among(efficientModel === undefined ? [] : [efficientModel]);
  if (capable !== undefined && efficient !== undefined)
    return { ranked: [...new Set([capable, efficient])], capable, efficient, from: 'configuration', spell };
  const ranked = rank(plainModels(field), qualityOf);
  const found = tiersOf({ ranked, qualityOf, from: 'ranking', spell });
  return (
    found && { ...found, ...(capable !== undefined && { capable }), ...(efficient !== undefined && { efficient }) }
  );
}

type QualityOf = (model: FieldModel) => number;

/** Of a model that nobody tested. */
const UNKNOWN = -1;

function qualitiesOf(field: readonly FieldModel[], choice: Pick<ModelChoice, 'priorOf'>, taskType: string): QualityOf {
  const known = new Map(field.map((model) => [model, choice.priorOf(model.slug, taskType) ?? UNKNOWN]));
  return (model) => known.get(model) ?? UNKNOWN;
}

/** The best of those that were tested. Where that is no choice, a price is all that tells one from the other. */
function rank(field: readonly FieldModel[], qualityOf: QualityOf): readonly FieldModel[] {
  const tested = field.filter((model) => qualityOf(model) !== UNKNOWN);
  return byQuality(tested.length > 1 ? tested : field, qualityOf).slice(0, RANKED_MAX);
}

function tiersOf({
  ranked,
  qualityOf,
  from,
  spell,
}: Pick<Candidates, 'ranked' | 'from' | 'spell'> & { readonly qualityOf: QualityOf }): Candidates | undefined {
  const [capable] = byQuality(ranked, qualityOf);
  if (capable === undefined) return undefined;
  const efficient = ranked.reduce((cheapest, model) => {
    const cheaper = priceOf(model) - priceOf(cheapest);
    return cheaper < 0 || (cheaper === 0 && qualityOf(model) > qualityOf(cheapest)) ? model : cheapest;
  });
  // Equals in price and in quality are no two tiers.
  const isSame = priceOf(efficient) === priceOf(capable);
  return { ranked, capable, efficient: isSame ? capable : efficient, from, spell };
}

function byQuality(models: readonly FieldModel[], qualityOf: QualityOf): readonly FieldModel[] {
  return models.toSorted((left, right) => qualityOf(right) - qualityOf(left) || priceOf(right) - priceOf(left));
}

/** As cost bands have it: most requests read three times as much as they write. */
export function priceOf({ promptPrice, completionPrice }: FieldModel): number {
  return (3 * promptPrice + completionPrice) / 4;
}

/** Whoever a tier stands for, and then the others: who is chosen falls back to the capable one first. */
export function inOrder({ ranked, capable, efficient }: Candidates, tier: Tier): readonly FieldModel[] {
  return [...new Set([tier === 'capable' ? capable : efficient, capable, ...ranked])];
}
