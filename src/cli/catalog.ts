import { findCatalogFaults } from '../catalog/find-faults.ts';
import { createModelNames, type NamedModel } from '../catalog/model-names.ts';
import { MODELS_DEV_URL, slugsOfList } from '../catalog/models-dev.ts';
import { readProviderData } from '../catalog/read-data.ts';
import { createRefreshFile } from '../catalog/refresh-file.ts';
import { refreshCatalog, RefreshError } from '../catalog/refresh.ts';
import type { Config } from '../config/config.ts';
import { CONFIG_FLAGS, parseFlags } from '../config/flags.ts';
import { systemClock } from '../lib/clock.ts';
import { createDownloader } from '../lib/net/download.ts';
import { createProxyOf } from '../lib/net/proxy/proxies.ts';
import { nearestName } from '../lib/text/nearest-name.ts';
import { ADAPTER_IDS } from '../providers/index.ts';
import { figuresOf, type Figure, type ModelFigures } from '../app/catalog/catalog-figures.ts';
import { readLayers, type CatalogLayers } from '../app/catalog/catalog-layers.ts';
import { CommandError, unknownVerb, UsageError } from './command.ts';
import type { Io } from './command.ts';
import { configArgs, loadCheckedConfig } from './load-config.ts';

const FLAGS = {
  ...CONFIG_FLAGS,
  json: { type: 'boolean' },
  all: { type: 'boolean' },
  'accept-moved': { type: 'boolean' },
} as const;

type Run = (config: Config, operands: readonly string[], output: Output) => Promise<number>;

const COMMANDS: Readonly<Record<string, Run>> = { list, show, check, refresh };
const VERBS = Object.keys(COMMANDS);

/** `model-gateway catalog`: what the gateway knows of models, and how it knows. Only `refresh` uses the network. */
export async function runCatalog(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, FLAGS);
  const [verb, ...operands] = words;
  const run = verb !== undefined && Object.hasOwn(COMMANDS, verb) ? COMMANDS[verb] : undefined;
  if (run === undefined) throw unknownVerb('catalog', verb, VERBS);
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  return run(config, operands, { ...values, io });
}

interface Output {
  readonly 'accept-moved'?: boolean | undefined;
  readonly json?: boolean | undefined;
  readonly all?: boolean | undefined;
  readonly io: Io;
}

async function list(config: Config, words: readonly string[], { json, all, io }: Output): Promise<number> {
  const layers = await readLayers(config, io.env);
  const slugs = new Set([
    ...layers.config.models.map(({ slug }) => slug),
    ...layers.known
      .filter(({ endpoints }) => all === true || endpoints.some(({ provider }) => layers.usable.has(provider)))
      .map(({ facts }) => facts.slug),
  ]);
  const wanted = words.map((word) => word.toLowerCase());
  const models = [...slugs]
    .filter((slug) => wanted.every((word) => slug.toLowerCase().includes(word)))
    .flatMap((slug) => figuresOf(slug, layers) ?? []);
  io.stdout.write(json === true ? `${JSON.stringify(models, undefined, 2)}\n` : models.map(formatLine).join(''));
  if (models.length > 0) return 0;
  io.stderr.write(
    all === true
      ? 'No model is called so.\n'
      : 'No provider that is set up serves such a model; --all lists the others.\n',
  );
  return 1;
}

function formatLine({ slug, unreviewed, figures, endpoints }: ModelFigures): string {
  const context = valueOf(figures, 'context_length') ?? '?';
  const prices = endpoints.flatMap((endpoint) => {
    const prompt = valueOf(endpoint.figures, 'price.prompt');
    return prompt === undefined ? [] : [`$${prompt}/$${valueOf(endpoint.figures, 'price.completion')}`];
  });
  const names = [...new Set(endpoints.map(({ provider }) => provider))].join(', ');
  const note = unreviewed ? '  (not reviewed)' : '';
  return `${slug}  ${context} tokens  ${prices[0] ?? 'price unknown'}  ${names}${note}\n`;
}

function valueOf(figures: readonly Figure[], member: string): string | undefined {
  const found = figures.find((figure) => figure.member === member);
  return found && String(found.value);
}

async function show(config: Config, operands: readonly string[], { json, io }: Output): Promise<number> {
  const [slug, ...more] = operands;
  if (slug === undefined || more.length > 0) throw new UsageError('catalog show: takes one model');
  const layers = await readLayers(config, io.env);
  const model = figuresOf(slug, layers) ?? figuresByName(slug, layers);
  if (model === undefined) throw unknownModel(slug, layers);
  io.stdout.write(json === true ? `${JSON.stringify(model, undefined, 2)}\n` : formatModel(model));
  return 0;
}

/**
 * By what callers may write in place of a slug: an alias, a permanent name, or a name without its author. Models that a
 * provider here serves come first, as they do in requests.
 */
function figuresByName(name: string, layers: CatalogLayers): ModelFigures | undefined {
  const models = namedModels(layers);
  const served = models.filter(({ endpoints }) => endpoints.some(({ provider }) => layers.usable.has(provider)));
  const { aliases } = layers.config;
  for (const some of [served, models]) {
    const renamed = createModelNames(some, { aliases, resolvesBareNames: true }).rename(name);
    const found = figuresOf(renamed, layers) ?? figuresOf(renamed.split(':')[0] ?? renamed, layers);
    if (found !== undefined) return found;
  }
  const permanent = models.find(({ canonicalSlug }) => canonicalSlug === name);
  return permanent && figuresOf(permanent.slug, layers);
}

function namedModels({ config, known }: CatalogLayers): readonly NamedModel[] {
  const named = new Set(config.models.map(({ slug }) => slug));
  return [
    ...config.models.map(({ slug, endpoints }) => ({
      slug,
      endpoints: endpoints.map(({ provider, model }) => ({ provider, upstreamModel: model })),
    })),
    ...known.filter(({ facts }) => !named.has(facts.slug)).map(({ facts, endpoints }) => ({ ...facts, endpoints })),
  ];
}

function unknownModel(slug: string, layers: CatalogLayers): CommandError {
  const names = [...layers.config.models.map((one) => one.slug), ...layers.known.map(({ facts }) => facts.slug)];
  const nearest = nearestName(slug, names);
  return new CommandError(
    `${slug}: nothing is known of it${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`,
  );
}

function formatModel({ slug, unreviewed, figures, endpoints }: ModelFigures): string {
  const lines = [`${slug}${unreviewed ? '  (not reviewed)' : ''}`, ...figures.map(formatFigure)];
  for (const endpoint of endpoints) {
    lines.push('', `${endpoint.provider}  ${endpoint.model}${endpoint.usable ? '' : '  (not set up here)'}`);
    if (endpoint.figures.every(({ member }) => !member.startsWith('price'))) lines.push('  price unknown');
    lines.push(...endpoint.figures.map(formatFigure));
  }
  return `${lines.join('\n')}\n`;
}

function formatFigure({ member, value, layer, source, date }: Figure): string {
  const text = typeof value === 'string' ? value : Array.isArray(value) ? value.join(' ') : JSON.stringify(value);
  return `  ${member}: ${text}  [${layer}: ${source}${date === undefined ? '' : `, ${date}`}]`;
}

/** Faults make it fail; endpoints of unknown price are only reported. */
async function check(config: Config, operands: readonly string[], { io }: Output): Promise<number> {
  refuseOperands('check', operands);
  const layers = await readLayers(config, io.env);
  const faults = await findCatalogFaults(systemClock.nowMs(), ADAPTER_IDS);
  for (const fault of faults) io.stdout.write(`fault: ${fault}\n`);
  for (const warning of warningsOf(layers)) io.stdout.write(`note: ${warning}\n`);
  const models = layers.known.length;
  io.stdout.write(
    faults.length === 0
      ? `The catalog is in order: ${models} models, and ${layers.config.models.length} of yours.\n`
      : '',
  );
  return faults.length === 0 ? 0 : 1;
}

function warningsOf(layers: CatalogLayers): readonly string[] {
  const { config, list: fetched, known, usable, data } = layers;
  const { refresh: settings } = config.catalog;
  const warnings: string[] = [];
  if (settings.enabled && fetched === undefined) warnings.push('the public list has not been fetched yet');
  if (fetched !== undefined) warnings.push(`the public list is of ${fetched.fetched}`);
  for (const { provider, model, fault } of fetched?.refused ?? [])
    if (usable.has(provider) && fault !== 'no price')
      warnings.push(`${provider} ${model}: its price is not taken: ${fault}`);
  const authors = new Set(data.authors.map(({ author }) => author));
  for (const { slug, adapter } of config.providers)
    if (authors.has(slug) && adapter !== slug)
      warnings.push(`providers.${slug}: has the name of an author, whose models are not requested there`);
  const named = new Set(config.models.map(({ slug }) => slug));
  const served = known.filter(
    ({ facts, endpoints }) => !named.has(facts.slug) && endpoints.some(({ provider }) => usable.has(provider)),
  );
  for (const slug of [...named, ...served.map(({ facts }) => facts.slug)])
    for (const { provider, model, usable: isUsable, figures } of figuresOf(slug, layers)?.endpoints ?? [])
      if (isUsable && figures.every(({ member }) => !member.startsWith('price')))
        warnings.push(`${slug} at ${provider} (${model}): its price is unknown, and so is what it costs`);
  return warnings;
}

async function refresh(config: Config, operands: readonly string[], output: Output): Promise<number> {
  refuseOperands('refresh', operands);
  const { io, 'accept-moved': isMoveFine = false } = output;
  const { enabled, url = MODELS_DEV_URL } = config.catalog.refresh;
  if (!enabled)
    throw new CommandError('catalog refresh: is off; set catalog.refresh.enabled in the configuration first.');
  const downloader = createDownloader({ proxyOf: createProxyOf(config.proxies) });
  const file = createRefreshFile(config.dataDir);
  try {
    const fetched = await refreshCatalog({
      url,
      file,
      isMoveFine,
      download: downloader.download,
      signal: new AbortController().signal,
      slugs: slugsOfList(readProviderData()),
      nowMs: systemClock.nowMs(),
    });
    io.stdout.write(`${fetched.endpoints.length} models at their providers, from ${url}.\n`);
    for (const { provider, model, fault } of fetched.refused)
      if (fault !== 'no price') io.stdout.write(`note: ${provider} ${model}: its price is not taken: ${fault}\n`);
    io.stdout.write('A running gateway takes it over within a minute.\n');
    return 0;
  } catch (error) {
    if (!(error instanceof RefreshError)) throw error;
    throw new CommandError(`${error.message} The last list stays.`, { cause: error });
  } finally {
    await downloader.close();
  }
}

function refuseOperands(verb: string, [operand]: readonly string[]): void {
  if (operand !== undefined) throw new UsageError(`catalog ${verb}: ${operand}: unexpected argument`);
}
