import { privacyOf } from '../canonical/directives.ts';
import type { FusionPreset, FusionPresetName, FusionPresets, FusionSlot } from '../canonical/tools/fusion.ts';
import type { CandidateModel, CandidatePool } from '../canonical/model-choice.ts';
import type { GenerationRequest } from '../canonical/request.ts';

const FRONTIER: FusionSlot = [
  '~anthropic/claude-opus-latest',
  '~openai/gpt-latest',
  '~google/gemini-pro-latest',
  '~x-ai/grok-latest',
  '~deepseek/deepseek-pro-latest',
];

/**
 * Where the operator says nothing else. The first choice of each place is that of the specification; behind it stand models
 * of the same kind from others, so that a panel comes together with whatever is configured.
 * @spec fusion-5
 */
export const FUSION_PRESETS_DEFAULT: FusionPresets = {
  'general-high': {
    panel: [
      ['~anthropic/claude-opus-latest', '~x-ai/grok-latest', '~mistralai/mistral-large-latest'],
      ['~openai/gpt-latest', '~deepseek/deepseek-pro-latest', '~qwen/qwen-max-latest'],
      ['~google/gemini-pro-latest', '~moonshotai/kimi-latest', '~z-ai/glm-latest'],
    ],
    analyst: FRONTIER,
  },
  'general-budget': {
    panel: [
      ['~google/gemini-flash-latest', '~openai/gpt-mini-latest', '~mistralai/mistral-medium-latest'],
      ['deepseek/deepseek-v3.2', '~deepseek/deepseek-flash-latest', '~qwen/qwen-plus-latest'],
      ['~moonshotai/kimi-latest', '~z-ai/glm-latest', '~anthropic/claude-haiku-latest'],
    ],
    analyst: FRONTIER,
  },
  'general-fast': {
    panel: [
      ['~google/gemini-flash-latest', '~mistralai/mistral-small-latest'],
      ['~openai/gpt-mini-latest', '~deepseek/deepseek-flash-latest'],
      ['~anthropic/claude-haiku-latest', '~qwen/qwen-flash-latest', '~z-ai/glm-flash-latest'],
    ],
    analyst: ['~anthropic/claude-sonnet-latest', ...FRONTIER],
  },
};

/** The available models. */
export interface PanelCandidates extends CandidatePool {
  /** The concrete slug that a slug or an alias stands for. */
  readonly resolve: (slug: string) => string | undefined;
}

/** Concrete slugs. */
export interface ChosenPanel {
  /** No two are the same. Shorter than the preset's where there are fewer models. */
  readonly panel: readonly string[];
  /** `undefined`: no model is available. */
  readonly analyst: string | undefined;
}

/**
 * The models that take the places of a preset: each the first available alternative without a place. Empty places go to
 * alternatives of the others, and then to any other model: the strongest first, in cheaper presets the cheaper half
 * first, and authors without a place before the others. Pure.
 */
export function choosePanel(name: FusionPresetName, preset: FusionPreset, candidates: PanelCandidates): ChosenPanel {
  const left = new Map(candidates.leftOut.map(({ slug, reason }) => [slug, reason]));
  const taken = new Set<string>();
  const firstOf = (slot: FusionSlot, isFree: (slug: string) => boolean): string | undefined => {
    for (const alternative of slot) {
      const slug = candidates.resolve(alternative);
      if (slug === undefined || !isFree(slug) || !mayServe(left.get(slug))) continue;
      taken.add(slug);
      return withSuffix(slug, alternative);
    }
    return undefined;
  };
  const isUntaken = (slug: string): boolean => !taken.has(slug);
  const places = preset.panel.map((slot) => firstOf(slot, isUntaken));
  const pool = preset.panel.flat();
  const panel = places
    .map((slug) => slug ?? firstOf(pool, isUntaken))
    .flatMap((slug) => slug ?? takeOther(rest(name, candidates.models), taken) ?? []);
  return { panel, analyst: firstOf(preset.analyst, () => true) ?? byStrength(candidates.models)[0]?.slug };
}

/** @param taken gets it */
function takeOther(models: readonly CandidateModel[], taken: Set<string>): string | undefined {
  const authors = new Set([...taken].map(authorOf));
  const free = models.filter(({ slug }) => !taken.has(slug));
  const slug = (free.find((model) => !authors.has(authorOf(model.slug))) ?? free[0])?.slug;
  if (slug !== undefined) taken.add(slug);
  return slug;
}

function authorOf(slug: string): string {
  return slug.slice(0, slug.indexOf('/'));
}

/** The suffix (`:nitro`) stays with a model that replaces an alias. */
function withSuffix(slug: string, requested: string): string {
  const colon = requested.indexOf(':');
  const suffix = colon < 0 ? '' : requested.slice(colon);
  return slug.endsWith(suffix) ? slug : slug + suffix;
}

/** The request for members of a panel, as far as that determines which models qualify: text, and only text. */
export function forPanel(request: GenerationRequest): GenerationRequest {
  const { directives } = request;
  const provider = privacyOf(directives.provider);
  return { ...request, turns: [], tools: [], settings: {}, directives: { ...directives, provider } };
}

/** Reasons that exclude a model by default; the operator's own preset may name it all the same. */
const UNREQUESTED: ReadonlySet<string> = new Set(['price_unknown', 'not_reviewed']);

/** @param reason why it is left out of what may be chosen freely */
function mayServe(reason: string | undefined): boolean {
  return reason === undefined || UNREQUESTED.has(reason);
}

/** In the order in which they get places. A small panel of dear models is better than none. */
function rest(name: FusionPresetName, models: readonly CandidateModel[]): readonly CandidateModel[] {
  if (name === 'general-high') return byStrength(models);
  const byPrice = models.toSorted((one, other) => priceOf(one) - priceOf(other));
  const half = Math.ceil(byPrice.length / 2);
  return [...byStrength(byPrice.slice(0, half)), ...byPrice.slice(half)];
}

/** Prompts are about three times as long as answers. */
const PROMPT_PARTS = 3;

function priceOf({ promptPrice, completionPrice }: CandidateModel): number {
  return PROMPT_PARTS * promptPrice + completionPrice;
}

/** Untested models come after the others, the newest first. */
function byStrength(models: readonly CandidateModel[]): readonly CandidateModel[] {
  return models.toSorted(
    (one, other) =>
      (other.intelligence ?? -1) - (one.intelligence ?? -1) || (other.released ?? '').localeCompare(one.released ?? ''),
  );
}
