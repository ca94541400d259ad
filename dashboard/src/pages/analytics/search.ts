import { oneOf, type Search } from '../../parts/search.ts';
import { RANGES, type Range } from '../../parts/time.ts';

export const KINDS = ['line', 'bars', 'table'] as const;

export interface AnalyticsSearch {
  readonly metric: string;
  readonly by: readonly string[];
  readonly range: Range;
  readonly kind: (typeof KINDS)[number];
  /** `model:acme/one`, `-model:acme/one` */
  readonly filters: readonly { readonly field: string; readonly value: string; readonly isExcluded: boolean }[];
}

export function parseAnalyticsSearch(search: Search): AnalyticsSearch {
  return {
    metric: search['m'] ?? 'total_usage',
    by: (search['by'] ?? 'model')
      .split(',')
      .filter((name) => name !== '' && name !== 'none')
      .slice(0, 2),
    range: oneOf(search['range'] ?? '7d', RANGES),
    kind: oneOf(search['kind'], KINDS),
    filters: parseFilters(search['f'] ?? ''),
  };
}

function parseFilters(text: string): AnalyticsSearch['filters'] {
  return text.split(',').flatMap((part) => {
    const [, minus = '', field = '', value = ''] = /^(-?)([a-z_]+):(.+)$/.exec(part) ?? [];
    return field === '' ? [] : [{ field, value, isExcluded: minus === '-' }];
  });
}

export function formatFilters(filters: AnalyticsSearch['filters']): string | undefined {
  const text = filters.map(({ field, value, isExcluded }) => `${isExcluded ? '-' : ''}${field}:${value}`).join(',');
  return text === '' ? undefined : text;
}
