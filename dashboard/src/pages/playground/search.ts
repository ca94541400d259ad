import { FORMATS, type Format } from '../../api/generation/response.ts';
import { oneOf, type Search } from '../../parts/search.ts';

export const COLUMNS_MAX = 4;

export interface PlaygroundSearch {
  readonly models: readonly string[];
  readonly preset: string;
  readonly format: Format;
}

export function parsePlaygroundSearch(search: Search): PlaygroundSearch {
  const models = (search['models'] ?? '').split(',').filter(Boolean);
  return {
    models: models.slice(0, COLUMNS_MAX),
    preset: search['preset'] ?? '',
    format: oneOf(search['format'], FORMATS),
  };
}
