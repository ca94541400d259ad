import type { Json, JsonObject } from '../../lib/json.ts';
import type { Plugin } from '../contract.ts';
import { webFetchOptions } from './options.ts';

const TOOL = 'service:web_fetch';

/** Offers the server tool that reads pages, to models whose caller did not think of it. @spec web-20 */
export const webFetch: Plugin<typeof webFetchOptions> = {
  id: 'web-fetch',
  summary: 'Lets models read web pages.',
  options: webFetchOptions,
  transformRequest(request, { max_uses, allowed_domains, blocked_domains, max_content_tokens }) {
    // What the caller says of the tool itself counts.
    if (request.tools.some((tool) => tool.type === 'server' && tool.name === TOOL)) return Promise.resolve(request);
    const parameters = present({ max_uses, allowed_domains, blocked_domains, max_content_tokens });
    const tool = { type: 'server', name: TOOL, parameters } as const;
    return Promise.resolve({ ...request, tools: [...request.tools, tool] });
  },
};

function present(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}
