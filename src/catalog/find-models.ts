import type { FoundModel, ModelQuery } from '../canonical/tools/model-search.ts';
import type { Catalog, Model } from './model.ts';

/** When the family of a model is unknown. */
const SERIES_UNKNOWN = 'Other';
/** A word in the name counts more than one in the description, of which there are many. */
const NAME_WEIGHT = 4;

/**
 * Served models that match, best match first; of equal ones those with the later date. Pure.
 * @spec tool-30
 */
export function findModels(catalog: Catalog, query: ModelQuery): readonly FoundModel[] {
  const words = (query.words ?? '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((word) => word !== '');
  return catalog
    .list()
    .flatMap((model) => {
      const found = serializeModel(model);
      const score = scoreOf(model, words);
      return score === undefined || !fits(found, query) ? [] : [{ found, score, released: model.released ?? '' }];
    })
    .toSorted((left, right) => right.score - left.score || right.released.localeCompare(left.released))
    .map(({ found }) => found);
}

/** `undefined` where a word stands nowhere. */
function scoreOf(model: Model, words: readonly string[]): number | undefined {
  const name = `${model.slug} ${model.name}`.toLowerCase();
  const description = (model.description ?? '').toLowerCase();
  let score = 0;
  for (const word of words) {
    if (name.includes(word)) score += NAME_WEIGHT;
    else if (description.includes(word)) score += 1;
    else return undefined;
  }
  return score;
}

function fits(found: FoundModel, query: ModelQuery): boolean {
  const { inputModalities = [], outputModalities = [], contextTokensMin = 0, series } = query;
  return (
    inputModalities.every((modality) => found.inputModalities.includes(modality)) &&
    outputModalities.every((modality) => found.outputModalities.includes(modality)) &&
    (found.contextTokensMax ?? 0) >= contextTokensMin &&
    (series === undefined || found.series.toLowerCase() === series.toLowerCase())
  );
}

function serializeModel(model: Model): FoundModel {
  const { slug, name, description, contextTokensMax, inputModalities, outputModalities, tokenizer } = model;
  return {
    slug,
    name,
    ...(description !== undefined && { description }),
    ...(contextTokensMax !== undefined && { contextTokensMax }),
    inputModalities: inputModalities ?? ['text'],
    outputModalities: outputModalities ?? ['text'],
    series: tokenizer ?? SERIES_UNKNOWN,
  };
}
