import { oneOf, type Search } from '../../parts/search.ts';

export const TABS = ['server', 'connections'] as const;
export const CLIENT_NAMES = ['claude', 'codex', 'vscode', 'cursor'] as const;
export type ClientName = (typeof CLIENT_NAMES)[number];

export interface McpSearch {
  readonly tab: (typeof TABS)[number];
  /** Whose settings are shown. */
  readonly client: ClientName;
  /** A connection. */
  readonly peek: string;
}

export function parseMcpSearch(search: Search): McpSearch {
  return {
    tab: oneOf(search['tab'], TABS),
    client: oneOf(search['client'], CLIENT_NAMES),
    peek: search['peek'] ?? '',
  };
}
