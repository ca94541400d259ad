import type { z } from 'zod';
import type { GenerationRequest } from '../../canonical/request.ts';
import { invalid } from '../../canonical/gateway-error.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import type { EndpointFacts, PluginContext } from '../contract.ts';
import type { webOptions } from './options.ts';

type WebOptions = z.output<typeof webOptions>;

/** Whether everybody who may serve searches by itself: then whoever does searches. */
export function searchesNatively(endpoints: readonly EndpointFacts[]): boolean {
  return endpoints.length > 0 && endpoints.every((endpoint) => isVendor(endpoint) || takesSearchOptions(endpoint));
}

/** One that may be spoken to in another format may not be given the tool. */
function isVendor({ vendorTools, formats }: EndpointFacts): boolean {
  return vendorTools === true && formats?.every((format) => format === 'messages') === true;
}

function takesSearchOptions({ supportedParameters }: EndpointFacts): boolean {
  return supportedParameters?.has('web_search_options') === true;
}

/**
 * Has the endpoint search: the vendor of the messages format by its tool, others by `web_search_options`.
 * @throws GatewayError 400 where nobody who may serve searches by itself
 */
export function askNatively(
  request: GenerationRequest,
  options: WebOptions,
  endpoints: readonly EndpointFacts[],
  context: PluginContext,
): GenerationRequest {
  const byTool = endpoints.every(isVendor);
  if (endpoints.length === 0 || !(byTool || endpoints.some(takesSearchOptions)))
    throw invalid(
      'plugins',
      'the engine "native" needs an endpoint that searches by itself, and no endpoint of the model does',
    );
  context.note({
    type: 'plugin',
    name: 'web-search',
    summary: 'Left to the endpoint',
    data: { engine: 'native' },
  });
  return byTool ? withTool(request, options) : withOptions(request, options, context);
}

/** What the caller itself says of such a tool counts. */
function withTool(request: GenerationRequest, options: WebOptions): GenerationRequest {
  const isAsked = request.tools.some((tool) => tool.type === 'opaque' && isSearch(tool.value['type']));
  if (isAsked) return request;
  const { max_uses, include_domains: allowed = [], exclude_domains: blocked = [] } = options;
  const location = locationOf(options);
  const value: JsonObject = {
    type: 'web_search_20250305',
    name: 'web_search',
    ...(max_uses !== undefined && { max_uses }),
    // One of the two: pages to include win. generation.md 4.2
    ...(allowed.length > 0 && { allowed_domains: allowed }),
    ...(allowed.length === 0 && blocked.length > 0 && { blocked_domains: blocked }),
    ...(location !== undefined && { user_location: location }),
  };
  return { ...request, tools: [...request.tools, { type: 'opaque', format: 'messages', value }] };
}

function isSearch(type: Json | undefined): boolean {
  return typeof type === 'string' && type.startsWith('web_search');
}

function withOptions(request: GenerationRequest, options: WebOptions, context: PluginContext): GenerationRequest {
  const { settings } = request;
  for (const [member, value] of [
    ['include_domains', options.include_domains],
    ['exclude_domains', options.exclude_domains],
    ['x_search', options.x_search],
  ] as const)
    if (value !== undefined)
      context.warn({
        code: 'field-dropped',
        path: `plugins.${member}`,
        message: 'web_search_options cannot say it, so the search of the endpoint does without',
      });
  const location = locationOf(options);
  const webSearchOptions: JsonObject = {
    ...(location !== undefined && { user_location: nestedLocation(location) }),
    ...settings.webSearchOptions,
  };
  return { ...request, settings: { ...settings, webSearchOptions } };
}

/** Where the user is, without what was left empty. */
function locationOf({ user_location: location }: WebOptions): Readonly<Record<string, Json>> | undefined {
  if (location === undefined || location === null) return undefined;
  const { type: _type, ...places } = location;
  const known = Object.entries(places).flatMap(([name, place]): [string, Json][] =>
    typeof place === 'string' ? [[name, place]] : [],
  );
  return { type: 'approximate', ...Object.fromEntries(known) };
}

/** The chat format puts the place one level down. developers.openai.com "Web search", read 2026-11 */
function nestedLocation({ type = 'approximate', ...approximate }: Readonly<Record<string, Json>>): JsonObject {
  return { type, approximate };
}
