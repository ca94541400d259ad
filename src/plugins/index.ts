import { z } from 'zod';
import type { PluginRequest } from '../canonical/directives.ts';
import { assert } from '../lib/assert.ts';
import { isJsonObject } from '../lib/json.ts';
import { autoBetaRouter } from './auto-beta-router/plugin.ts';
import { autoRouter } from './auto-router/plugin.ts';
import { bodybuilder } from './bodybuilder/plugin.ts';
import { contextCompression } from './context-compression/plugin.ts';
import type { Plugin } from './contract.ts';
import { fileParser } from './file-parser/plugin.ts';
import { freeRouter } from './free-router/plugin.ts';
import { fusion } from './fusion/plugin.ts';
import { moderation } from './moderation/plugin.ts';
import { paretoRouter } from './pareto-router/plugin.ts';
import { responseHealing } from './response-healing/plugin.ts';
import { switchyardRouter } from './switchyard-router/plugin.ts';
import { webFetch } from './web-fetch/plugin.ts';
import { web } from './web/plugin.ts';

/**
 * Every plugin by its id, in the order in which they run: plugins that refuse a request, choose its models, add to it,
 * fit it to an endpoint, and repair the response.
 * @spec plugin-5
 */
export const PLUGINS = {
  moderation,
  'auto-router': autoRouter,
  'auto-beta-router': autoBetaRouter,
  'pareto-router': paretoRouter,
  'switchyard-router': switchyardRouter,
  fusion,
  'file-parser': fileParser,
  web,
  'web-fetch': webFetch,
  'context-compression': contextCompression,
  'response-healing': responseHealing,
} satisfies Readonly<Record<string, Plugin>>;

/** Routers that take no options and no entry in `plugins`: their slug says it all. @spec model-20 */
export const SLUG_ROUTERS = {
  'free-router': freeRouter,
  bodybuilder,
} satisfies Readonly<Record<string, Plugin>>;

/** One entry of `plugins`: its options stay as the caller wrote them, members that the plugin does not know are gone. */
export const pluginSchema: z.ZodType<PluginRequest> = createPluginSchema(Object.values(PLUGINS));

export const pluginsSchema = z.array(pluginSchema);

/**
 * `enabled` is accepted everywhere, even by plugins without a use for it: `enabled: false` must never enable a plugin.
 */
function createPluginSchema(plugins: readonly Plugin[]): z.ZodType<PluginRequest> {
  const [first, ...others] = plugins.map(entrySchema);
  assert(first !== undefined, 'a registry has members');
  return z.discriminatedUnion('id', [first, ...others]).transform(readEntry);
}

function entrySchema(plugin: Plugin) {
  return plugin.options.extend({ id: z.literal(plugin.id), enabled: z.boolean().optional() });
}

function readEntry({ id, enabled, ...options }: Readonly<Record<string, unknown>>): PluginRequest {
  assert(typeof id === 'string' && isJsonObject(options), 'a checked entry has an id, and what came as JSON is JSON');
  return { id, enabled: enabled !== false, options };
}
