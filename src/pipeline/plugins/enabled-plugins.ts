import type { DefaultPlugin, Directives, PluginRequest } from '../../canonical/directives.ts';
import type { Warning } from '../../canonical/extra.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Plugin } from '../../plugins/contract.ts';

/** A plugin that runs for one request. */
export interface EnabledPlugin {
  readonly plugin: Plugin;
  /** As the plugin's own schema gives them. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The request or a rule names it. */
  readonly isRequested: boolean;
  /** It is switched off, and the request names a slug of its own all the same: it says which model that is, and does nothing else. */
  readonly onlyChooses?: true;
}

export interface EnabledPlugins {
  /** In the order in which they run. */
  readonly plugins: readonly EnabledPlugin[];
  /** Entries of the request that do not count. */
  readonly warnings: readonly Warning[];
}

/**
 * Which plugins run for a request, in the order of the registry.
 * @param variants suffixes behind the slugs of the request's models
 * @param defaults the key's, then its workspace's: each gives way to the one before and to the request, unless it prevents that
 * @throws GatewayError 400 for stored options that the plugin does not take
 * @spec plugin-6
 */
export function enablePlugins(
  registry: readonly Plugin[],
  { plugins: requested, models }: Pick<Directives, 'plugins' | 'models'>,
  defaults: readonly (readonly DefaultPlugin[])[],
  variants: ReadonlySet<string>,
): EnabledPlugins {
  const usual = usualOf(registry);
  const isNoneNamed = requested.length === 0 && defaults.length === 0 && variants.size === 0;
  if (isNoneNamed && !models.some((model) => isSlugOf(usual, model))) return usual;
  const warnings: Warning[] = [];
  const plugins = registry.flatMap((plugin) => {
    const index = requested.findIndex(({ id }) => id === plugin.id);
    const own = requested[index];
    const slug = plugin.slugs && models.find((model) => isSlugOf(plugin, model));
    const isNamed = plugin.variant !== undefined && variants.has(plugin.variant);
    if (own === undefined && slug === undefined && !isNamed && defaults.length === 0)
      return plugin.unrequested === true ? unrequested(plugin) : [];
    const layers = defaults.flatMap((layer) => layer.find(({ id }) => id === plugin.id) ?? []);
    const binding = layers.findLast(({ preventOverrides }) => preventOverrides);
    if (own !== undefined && binding !== undefined) warnings.push(overridden(own, `plugins[${index}]`));
    const entry = binding ?? own ?? (isNamed ? { id: plugin.id, options: {}, ...layers[0], enabled: true } : layers[0]);
    const path = entry !== undefined && entry === own ? `plugins[${index}]` : 'plugins';
    return enable(plugin, entry, slug, path) ?? [];
  });
  return { plugins, warnings };
}

/** The plugins that run unrequested, and all slugs that name one. */
interface UsualPlugins extends EnabledPlugins, Pick<Plugin, 'slugs'> {}

/** Nearly every request is one that names none, and a registry does not change. */
const usuals = new WeakMap<readonly Plugin[], UsualPlugins>();

function usualOf(registry: readonly Plugin[]): UsualPlugins {
  const known = usuals.get(registry);
  if (known !== undefined) return known;
  const plugins = registry.filter((plugin) => plugin.unrequested === true).map(unrequested);
  const usual = { plugins, warnings: [], slugs: registry.flatMap(({ slugs = [] }) => slugs) };
  usuals.set(registry, usual);
  return usual;
}

/** Whether a slug of the request is one that stands for a choice of this plugin's, whatever variant is behind it. */
export function isSlugOf({ slugs = [] }: Pick<Plugin, 'slugs'>, slug: string): boolean {
  return slugs.some((own) => slug.startsWith(own) && (slug.length === own.length || slug[own.length] === ':'));
}

function enable(
  plugin: Plugin,
  entry: PluginRequest | undefined,
  slug: string | undefined,
  path: string,
): EnabledPlugin | undefined {
  if (entry === undefined) return plugin.unrequested === true || slug !== undefined ? unrequested(plugin) : undefined;
  if (!entry.enabled && slug === undefined) return undefined;
  const read = plugin.options.safeParse(entry.options);
  if (read.success)
    return { plugin, options: read.data, isRequested: true, ...(!entry.enabled && { onlyChooses: true as const }) };
  // The request's own were checked with its body: these were stored by a version of the gateway that knew others.
  const message = `the account's default options of the plugin ${JSON.stringify(plugin.id)} are not valid any more`;
  throw new GatewayError('invalid_request', `${path}: ${message}.`, { issues: [{ path, message }] });
}

/** Those that run for every request are made once. */
const UNREQUESTED = new WeakMap<Plugin, EnabledPlugin>();

function unrequested(plugin: Plugin): EnabledPlugin {
  const known = UNREQUESTED.get(plugin) ?? { plugin, options: plugin.options.parse({}), isRequested: false };
  UNREQUESTED.set(plugin, known);
  return known;
}

function overridden({ id }: PluginRequest, path: string): Warning {
  const message = `is left out: the account prevents requests from setting the plugin ${JSON.stringify(id)}`;
  return { code: 'field-dropped', path, message };
}
