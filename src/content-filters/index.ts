import { contentFilter } from './content-filter/filter.ts';
import type { ContentFilter } from './contract.ts';
import { entities } from './entities/filter.ts';
import { promptInjection } from './prompt-injection/filter.ts';
import { sensitiveData } from './sensitive-data/filter.ts';

/** Every kind of rule, under the name of its folder. */
export const CONTENT_FILTERS = {
  'content-filter': contentFilter,
  'sensitive-data': sensitiveData,
  entities,
  'prompt-injection': promptInjection,
} satisfies Readonly<Record<string, ContentFilter>>;
