import type { CandidateModel, ModelChoice, RouterSettings } from '../../canonical/model-choice.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { plainModels } from '../../model-selection/candidates/plain-models.ts';
import type { Tier } from './verdict.ts';

/** The models of each tier, and all candidates. */
export interface Candidates {
  /** In the requested or ranked order. Never empty. */
  readonly ranked: readonly CandidateModel[];
  readonly capable: CandidateModel;
  /** The same as `capable` where one model is the best and the cheapest: then there is nothing to decide. */
  readonly efficient: CandidateModel;
  /** Where they come from. */
  readonly from: 'models' | 'configuration' | 'ranking';
  /** As the caller spelled it, with its suffixes. */
  spell(model: CandidateModel): string;
}

/** Candidates from a whole catalog: the best ones only, since the cheapest of all would rarely do. */
const RANKED_MAX = 20;

export interface CandidatesInput {
  readonly request: GenerationRequest;
  readonly pool: readonly CandidateModel[];
  readonly choice: Pick<ModelChoice, 'resolve' | 'priorOf'> & {
    readonly settings: Pick<RouterSettings, 'efficientModel' | 'capableModel'>;
  };
  /** What the request is about. */
  readonly taskType: string;
  /** Whether a slug is one of the router's own. */
  readonly isOwn: (slug: string) => boolean;
}

/** @returns `undefined` when no model may serve. @spec router-27 */
export function findCandidates(input: CandidatesInput): Candidates | undefined {
  const { request, pool, choice, taskType, isOwn } = input;
  const bySlug = new Map(pool.map((model) => [model.slug, model]));
  const spelled = new Map<CandidateModel, string>();
  const among = (slugs: readonly string[]): readonly CandidateModel[] => {
    const found = slugs.flatMap((slug) => {
      const model = bySlug.get(choice.resolve(slug) ?? slug);
      if (model !== undefined && !spelled.has(model)) spelled.set(model, slug);
      return model ?? [];
    });
    return [...new Set(found)];
  };
  const spell = (model: CandidateModel): string => spelled.get(model) ?? model.slug;
  const qualityOf = qualitiesOf(pool, choice, taskType);
  const listed = request.directives.models.filter((slug) => !isOwn(slug));
  if (listed.length > 0) return tiersOf({ ranked: among(listed), qualityOf, from: 'models', spell });
  const { capableModel, efficientModel } = choice.settings;
  const [capable] = among(capableModel === undefined ? [] : [capableModel]);
  const [efficient] = among(efficientModel === undefined ? [] : [efficientModel]);
  if (capable !== undefined && efficient !== undefined)
    return { ranked: [...new Set([capable, efficient])], capable, efficient, from: 'configuration', spell };
  const ranked = rank(plainModels(pool), qualityOf);
  const found = tiersOf({ ranked, qualityOf, from: 'ranking', spell });
  return (
    found && { ...found, ...(capable !== undefined && { capable }), ...(efficient !== undefined && { efficient }) }
  );
}

type QualityOf = (model: CandidateModel) => number;

/** Of an untested model. */
const UNKNOWN = -1;

function qualitiesOf(
  pool: readonly CandidateModel[],
  choice: Pick<ModelChoice, 'priorOf'>,
  taskType: string,
): QualityOf {
  const known = new Map(pool.map((model) => [model, choice.priorOf(model.slug, taskType) ?? UNKNOWN]));
  return (model) => known.get(model) ?? UNKNOWN;
}

/** The best of the tested models. Without test results the price is the only difference. */
function rank(pool: readonly CandidateModel[], qualityOf: QualityOf): readonly CandidateModel[] {
  const tested = pool.filter((model) => qualityOf(model) !== UNKNOWN);
  return byQuality(tested.length > 1 ? tested : pool, qualityOf).slice(0, RANKED_MAX);
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

function byQuality(models: readonly CandidateModel[], qualityOf: QualityOf): readonly CandidateModel[] {
  return models.toSorted((left, right) => qualityOf(right) - qualityOf(left) || priceOf(right) - priceOf(left));
}

/** As cost bands have it: most requests read three times as much as they write. */
export function priceOf({ promptPrice, completionPrice }: CandidateModel): number {
  return (3 * promptPrice + completionPrice) / 4;
}

/** The model of the tier first, then the capable one for fallback, then the others. */
export function inOrder({ ranked, capable, efficient }: Candidates, tier: Tier): readonly CandidateModel[] {
  return [...new Set([tier === 'capable' ? capable : efficient, capable, ...ranked])];
}
