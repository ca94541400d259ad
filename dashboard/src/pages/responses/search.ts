import type { Search } from '../../parts/search.ts';

export interface ResponsesSearch {
  readonly workspace: string;
  readonly peek: string;
}

export function parseResponsesSearch({ workspace = '', peek = '' }: Search): ResponsesSearch {
  return { workspace, peek };
}
