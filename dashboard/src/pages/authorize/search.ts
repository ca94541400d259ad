import type { Search } from '../../parts/search.ts';

export interface AuthorizeSearch {
  readonly callback: string;
  readonly challenge: string;
  readonly method: 'S256' | 'plain';
  readonly label: string;
}

export function parseAuthorizeSearch(search: Search): AuthorizeSearch {
  return {
    callback: search['callback_url'] ?? '',
    challenge: search['code_challenge'] ?? '',
    method: search['code_challenge_method'] === 'plain' ? 'plain' : 'S256',
    label: search['key_label'] ?? '',
  };
}

/** What is wrong with where the key would go; `undefined`: nothing. Only https, and programs on the person's own machine. */
export function problemOfCallback(callback: string): string | undefined {
  if (callback === '') return undefined;
  if (!URL.canParse(callback)) return 'The address to come back to is no address.';
  const { protocol, hostname } = new URL(callback);
  const isLoopback = hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback)) return undefined;
  return `The application wants to come back to ${protocol}//${hostname}, which is neither https nor on this machine.`;
}
