import type { ManagementServices } from '../http/management/route.ts';
import { isBuilt } from '../plugins/contract.ts';
import { PLUGINS, pluginsSchema } from '../plugins/index.ts';
import { notBuilt } from '../pipeline/not-built-yet.ts';
import { checkShape } from '../wire/gateway/issues.ts';

const UNBUILT: ReadonlySet<string> = new Set(
  Object.values(PLUGINS).flatMap((plugin) => (isBuilt(plugin) ? [] : [plugin.id])),
);

/** Plugins that an account wants for its requests, as strictly as a request's own are read. */
export const readPlugins: ManagementServices['readPlugins'] = (sent, path) => {
  const plugins = checkShape(pluginsSchema, sent, { root: path });
  for (const [index, { id, enabled }] of plugins.entries())
    if (enabled && UNBUILT.has(id)) throw notBuilt(`${path}[${index}]`, `the plugin ${JSON.stringify(id)}`);
  return plugins;
};
