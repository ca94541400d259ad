import { isSafeAddress } from '../../lib/net/loopback-name.ts';
import type { ConfigDocument, Problem } from '../document.ts';
import { problem, valueAt } from '../problems.ts';

/** What tokens go to must be reached by TLS, or be on this machine; and what shows a page needs the dashboard. */
export function safetyProblems(value: unknown, document: ConfigDocument): Problem[] {
  const at = (...path: string[]): unknown => valueAt(value, path);
  const isOpen = (address: unknown): boolean =>
    typeof address === 'string' && URL.canParse(address) && !isSafeAddress(address);
  const publicUrl = at('server', 'public_url');
  const found: Problem[] = [];
  if (at('mcp_server', 'enabled') === true && at('mcp_server', 'oauth') === true) {
    const say = (message: string) => found.push(problem(document, ['mcp_server', 'oauth'], message));
    if (at('console', 'enabled') === false) say('needs the dashboard, where a person agrees: console.enabled is false');
    if (isOpen(publicUrl)) say('needs TLS: server.public_url must begin with https://, or name this machine');
  }
  if (at('scim', 'enabled') === true && at('console', 'plain_http') !== true) {
    const own = at('scim', 'base_url');
    const needs = 'an identity provider sends its token there: it must begin with https://, or name this machine';
    if (isOpen(own)) found.push(problem(document, ['scim', 'base_url'], needs));
    else if (own === undefined && isOpen(publicUrl)) found.push(problem(document, ['server', 'public_url'], needs));
  }
  return found;
}
