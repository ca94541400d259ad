import { oneOf, type Search } from '../../parts/search.ts';
import { RANGES, type Range } from '../../parts/time.ts';

/** Filters of the list that the address holds, by the API's names. */
export const FILTER_NAMES = [
  'status',
  'model',
  'requested',
  'provider',
  'key',
  'workspace',
  'session',
  'request_id',
  'user',
  'app',
  'preset',
  'router',
  'task',
  'finish',
  'request_origin',
  'cached',
  'byok',
  'rescued',
  'warned',
  'min_cost',
  'min_ms',
  'min_ttft',
] as const;
export type FilterName = (typeof FILTER_NAMES)[number];

export interface RequestsSearch {
  readonly range: Range;
  readonly filters: readonly { readonly name: FilterName; readonly value: string }[];
  readonly peek: string;
  readonly columns: string;
  /** New requests are shown as they happen. */
  readonly isTailing: boolean;
  /** Those that are under way are listed above. */
  readonly hasRunning: boolean;
}

export function parseRequestsSearch(search: Search): RequestsSearch {
  return {
    range: oneOf(search['range'] ?? '24h', RANGES),
    filters: FILTER_NAMES.flatMap((name) => {
      const value = search[name] ?? '';
      return value === '' ? [] : [{ name, value }];
    }),
    peek: search['peek'] ?? '',
    columns: search['cols'] ?? '',
    isTailing: search['tail'] === 'true',
    hasRunning: search['running'] === 'true',
  };
}

const SHORT: Readonly<Record<string, FilterName>> = {
  cost: 'min_cost',
  ms: 'min_ms',
  ttft: 'min_ttft',
  error: 'status',
};

/** What is typed: `status:error model:acme/* cost>0.01 session:cart-17`, as parameters. An id alone is a request's. */
export function parseTyped(text: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const word of text.trim().split(/\s+/).filter(Boolean)) {
    const [, name = '', value = ''] = /^([a-z_]+)(?::|>=?|=)(.+)$/.exec(word) ?? [];
    const known = FILTER_NAMES.find((one) => one === name) ?? SHORT[name];
    if (known !== undefined) found[known] = value;
    else if (/^\d{3}$|^error$|^\dxx$/.test(word)) found['status'] = word;
    else if (word.startsWith('req-')) found['request_id'] = word;
    else found['model'] = word.includes('/') || word.endsWith('*') ? word : `${word}*`;
  }
  return found;
}
