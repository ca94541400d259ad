import { posix } from 'node:path';
import { readTokens } from './source-tokens.ts';
import type { Token } from './source-tokens.ts';

/** One source file. The path starts with `src/` and has forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** One broken rule, as `src/a/b.ts:3: what is wrong`. */
export type Violation = string;

/** A folder of members behind one contract. A member never imports another, the pipeline or the store. */
const REGISTRIES = ['providers', 'plugins', 'tools', 'content-filters'] as const;
type Registry = (typeof REGISTRIES)[number];

/**
 * The allowed imports: a folder of `src` to the folders whose files it may import, besides itself. `contracts` means the
 * `contract.ts` of the registries and nothing else of them, `state/contract` that of the shared state. Registries have
 * rules of their own, below.
 */
const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  http: [
    'scim',
    'stored-responses',
    'interns',
    'evaluations',
    'classifiers',
    'video-jobs',
    'jobs',
    'vault',
    'containers',
    'notifications',
    'mcp-server',
    'pipeline',
    'accounts',
    'catalog',
    'telemetry',
    'wire',
    'resources',
    'canonical',
    'lib',
  ],
  'stored-responses': ['pipeline', 'accounts', 'store', 'wire', 'state/contract', 'canonical', 'lib'],
  'video-jobs': [
    'pipeline',
    'routing',
    'accounts',
    'telemetry',
    'catalog',
    'store',
    'wire',
    'contracts',
    'state/contract',
    'canonical',
    'lib',
  ],
  'mcp-server': ['accounts', 'canonical', 'lib'],
  notifications: ['jobs', 'accounts', 'telemetry', 'store', 'resources', 'canonical', 'lib'],
  interns: ['pipeline', 'jobs', 'accounts', 'store', 'resources', 'canonical', 'lib'],
  evaluations: ['pipeline', 'jobs', 'accounts', 'store', 'resources', 'canonical', 'lib'],
  classifiers: [
    'pipeline',
    'decisions',
    'jobs',
    'accounts',
    'telemetry',
    'catalog',
    'wire',
    'store',
    'resources',
    'canonical',
    'lib',
  ],
  // Work that outlives a request. Areas register their kinds: it knows none of them.
  scim: ['accounts', 'store', 'state/contract', 'canonical', 'lib'],
  jobs: ['store', 'lib'],
  // Pure: questions, prompts and probabilities. What runs their generations is the pipeline.
  decisions: ['canonical', 'lib'],
  pipeline: [
    'decisions',
    'routing',
    'accounts',
    'telemetry',
    'catalog',
    'wire',
    'contracts',
    'state/contract',
    'canonical',
    'lib',
  ],
  routing: ['catalog', 'state/contract', 'canonical', 'lib'],
  accounts: ['catalog', 'store', 'state/contract', 'resources', 'canonical', 'lib'],
  telemetry: ['catalog', 'store', 'resources', 'canonical', 'lib'],
  catalog: ['store', 'canonical', 'lib'],
  search: ['canonical', 'lib'],
  documents: ['canonical', 'lib'],
  mcp: ['canonical', 'lib'],
  vault: ['store', 'canonical', 'lib'],
  containers: ['canonical', 'lib'],
  // A server of its own: it shares no code with the formats and the adapter by which the gateway calls it.
  sandbox: ['canonical', 'lib'],
  'model-selection': ['canonical', 'lib'],
  wire: ['canonical', 'lib'],
  store: ['journal', 'state/contract', 'resources', 'canonical', 'lib'],
  journal: ['lib'],
  resources: ['canonical', 'lib'],
  state: ['canonical', 'lib'],
  canonical: ['lib'],
  // Facts of endpoints have one type each, in the words of requests.
  config: ['canonical', 'lib'],
  lib: [],
};

/** Folders that put the parts together: they may import everything below them. */
const COMPOSITION: ReadonlySet<string> = new Set(['', 'app', 'cli']);

/** What a member of a registry, its contract and its index may import besides their own folder. */
const REGISTRY_IMPORTS: Readonly<Record<Registry, readonly string[]>> = {
  providers: ['wire', 'canonical', 'lib'],
  plugins: ['model-selection', 'canonical', 'lib'],
  // A panel is put together as routers choose.
  tools: ['model-selection', 'canonical', 'lib'],
  'content-filters': ['canonical', 'lib'],
};

/**
 * Folders of `wire` that are no formats: the gateway's own fields, and what formats of several kinds share, such as the queue of a
 * vendor that makes pictures and clips.
 */
const SHARED_BY_FORMATS: ReadonlySet<string> = new Set(['gateway', 'operations']);
/** Formats never import each other, but for one that carries members of another inside: converse those of a Claude. */
const EMBEDS: Readonly<Record<string, string>> = { converse: 'messages' };

/** Packages that only some folders may know. Every other package is free where its folder is. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  kysely: ['store'],
  'node:sqlite': ['store'],
  pg: ['store'],
  fastify: ['http'],
  ioredis: ['state'],
  'rate-limiter-flexible': ['state'],
  yaml: ['config'],
  'lru-cache': ['lib'],
  '@modelcontextprotocol/client': ['mcp'],
  '@modelcontextprotocol/server': ['mcp-server', 'http'],
  '@modelcontextprotocol/node': ['http'],
  nodemailer: ['notifications'],
  // Of telemetry the configurations of destinations, which users write.
  zod: ['wire', 'config', 'http', 'mcp-server', 'store', 'resources', 'catalog', 'telemetry', ...REGISTRIES],
};

const FOLDER_DEPTH_MAX = 3;
const FORBIDDEN_FOLDERS: ReadonlySet<string> = new Set(['utils', 'helpers', 'common', 'services', 'types']);
const FILE_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test)?\.ts$/;
/**
 * Where a provider's id may stand in quotes, besides tests: its registry, the sandbox, which is one, the catalog's data, and
 * the answers of `/files`, two of whose shapes the specification names after the vendors that they are like.
 */
const MAY_QUOTE_PROVIDERS = /^src\/(?:(?:providers|sandbox|catalog\/data)\/|http\/management\/files\/file-shape\.ts$)/;
/** Where formats are at home, one of which may be called like the vendor whose own it is. */
const MAY_QUOTE_FORMATS = /^src\/(?:wire|canonical)\//;

/**
 * Everything in which these files break the architecture.
 * @param dependencies packages that an installation without development tools has
 */
export function findViolations(files: readonly SourceFile[], dependencies: ReadonlySet<string>): readonly Violation[] {
  const providerIds = membersOf('providers', files);
  const unlikeFormats = providerIds.difference(membersOf('wire', files));
  return files.flatMap((file) => {
    const tokens = readTokens(file.text);
    const unspeakable = MAY_QUOTE_FORMATS.test(file.path) ? unlikeFormats : providerIds;
    return [
      ...nameViolations(file),
      ...barrelViolations(file, tokens),
      ...(isTest(file.path) ? [] : importViolations(file, tokens, dependencies)),
      ...(isTest(file.path) || MAY_QUOTE_PROVIDERS.test(file.path) ? [] : quoteViolations(file, tokens, unspeakable)),
    ];
  });
}

interface Import {
  readonly source: string;
  readonly line: number;
}

/** Sources of static imports, re-exports, dynamic imports and type imports. A computed source is `undefined`. */
export function readImports(tokens: readonly Token[]): readonly (Import | { source: undefined; line: number })[] {
  const found: (Import | { source: undefined; line: number })[] = [];
  tokens.forEach((token, index) => {
    if (token.kind !== 'word' || (token.text !== 'import' && token.text !== 'from')) return;
    const [next, afterNext] = [tokens[index + 1], tokens[index + 2]];
    // Only an import or a re-export has a string right after `from`.
    if (next?.kind === 'string') found.push({ source: next.text, line: token.line });
    else if (token.text === 'import' && next?.text === '(' && tokens[index - 1]?.text !== '.')
      found.push({ source: afterNext?.kind === 'string' ? afterNext.text : undefined, line: token.line });
  });
  return found;
}

function importViolations(
  file: SourceFile,
  tokens: readonly Token[],
  dependencies: ReadonlySet<string>,
): readonly Violation[] {
  return readImports(tokens).flatMap(({ source, line }) => {
    const problem = source === undefined ? 'imports a computed name' : problemOfImport(file.path, source, dependencies);
    return problem === undefined ? [] : [`${file.path}:${line}: ${problem}`];
  });
}

function problemOfImport(path: string, source: string, dependencies: ReadonlySet<string>): string | undefined {
  if (!source.startsWith('.')) return problemOfPackage(path, source, dependencies);
  const target = posix.join(posix.dirname(path), source);
  if (!target.startsWith('src/')) return `imports ${target}, which is not below src`;
  if (isTest(target)) return `imports the test ${target}`;
  const [from, to] = [placeOf(path), placeOf(target)];
  const allowed = isRegistry(from.folder) ? mayRegistryImport(from.folder, from, to) : mayImport(from, to);
  return allowed ? undefined : `may not import ${target}`;
}

interface Place {
  /** First folder below `src`; empty for files of `src` itself. */
  readonly folder: string;
  /** Second folder; empty where there is none. */
  readonly member: string;
  readonly file: string;
}

function placeOf(path: string): Place {
  const [, ...steps] = path.split('/');
  return {
    folder: steps.length > 1 ? (steps[0] ?? '') : '',
    member: steps.length > 2 ? (steps[1] ?? '') : '',
    file: steps.at(-1) ?? '',
  };
}

function mayImport(from: Place, to: Place): boolean {
  if (COMPOSITION.has(from.folder)) return to.folder !== 'cli' || from.folder === 'cli' || from.file === 'main.ts';
  if (to.folder === from.folder) return from.folder !== 'wire' || mayFormatImport(from, to);
  const allowed = IMPORTS[from.folder] ?? [];
  if (isRegistry(to.folder)) return allowed.includes('contracts') && isContract(to);
  if (isContract(to) && allowed.includes(`${to.folder}/contract`)) return true;
  return allowed.includes(to.folder);
}

function mayFormatImport(from: Place, to: Place): boolean {
  if (to.member === '' || SHARED_BY_FORMATS.has(to.member) || to.member === from.member) return true;
  return EMBEDS[from.member] === to.member;
}

function mayRegistryImport(registry: Registry, from: Place, to: Place): boolean {
  if (to.folder !== registry) return REGISTRY_IMPORTS[registry].includes(to.folder);
  // The registry and its data see every member; the contract sees none; a member sees itself and the contract.
  if (from.member === '') return !isContract(from) || to.member === '';
  return to.member === from.member || isContract(to) || isShared(to);
}

/** What several members of a registry have in common, private to them. */
const SHARED_BY_MEMBERS: ReadonlySet<string> = new Set(['tools/inner-model.ts']);

function isShared({ folder, member, file }: Place): boolean {
  return member === '' && SHARED_BY_MEMBERS.has(`${folder}/${file}`);
}

function isContract(place: Place): boolean {
  return place.member === '' && place.file === 'contract.ts';
}

function problemOfPackage(path: string, source: string, dependencies: ReadonlySet<string>): string | undefined {
  const name = source.startsWith('@') ? source.split('/', 2).join('/') : source.replace(/^(node:)?([^/]*).*/, '$1$2');
  // What only development installs is missing where the gateway runs.
  if (!name.startsWith('node:') && !dependencies.has(name)) return `imports ${name}, which is no dependency`;
  const allowed = Object.hasOwn(PACKAGES, name) ? PACKAGES[name] : undefined;
  if (allowed === undefined || allowed.includes(placeOf(path).folder)) return undefined;
  return `may not know ${name}`;
}

function nameViolations({ path }: SourceFile): readonly Violation[] {
  const folders = path.split('/').slice(1, -1);
  const name = posix.basename(path);
  const forbidden = folders.find((folder) => FORBIDDEN_FOLDERS.has(folder));
  return [
    ...(folders.length > FOLDER_DEPTH_MAX ? [`${path}:1: is deeper than ${FOLDER_DEPTH_MAX} folders below src`] : []),
    ...(forbidden === undefined ? [] : [`${path}:1: a folder named ${forbidden} says nothing`]),
    ...(FILE_NAME.test(name) ? [] : [`${path}:1: file names are kebab-case`]),
    ...(name.startsWith('test-') ? [`${path}:1: what tests share is in tests/support`] : []),
    ...(name === 'index.ts' && !isRegistryIndex(path) ? [`${path}:1: only the registries have an index`] : []),
  ];
}

/** A file that only passes on what others export, and `export *` anywhere. */
function barrelViolations({ path }: SourceFile, tokens: readonly Token[]): readonly Violation[] {
  const exportsAt = tokens.flatMap((token, index) => (token.kind === 'word' && token.text === 'export' ? [index] : []));
  const isStar = (index: number): boolean =>
    tokens[tokens[index + 1]?.text === 'type' ? index + 2 : index + 1]?.text === '*';
  const star = exportsAt.find((index) => tokens[index - 1]?.text !== '.' && isStar(index));
  if (star !== undefined) return [`${path}:${tokens[star]?.line ?? 1}: export * hides what a file offers`];
  const passesOn = exportsAt.filter((index) => isReExport(tokens, index)).length;
  if (passesOn === 0 || passesOn < exportsAt.length) return [];
  return [`${path}:1: only passes on what other files export`];
}

/** `export { ... } from` or `export type { ... } from`. */
function isReExport(tokens: readonly Token[], index: number): boolean {
  const open = tokens[index + 1]?.text === 'type' ? index + 2 : index + 1;
  if (tokens[open]?.text !== '{') return false;
  const close = tokens.findIndex((token, at) => at > open && token.kind === 'sign' && token.text === '}');
  return tokens[close + 1]?.text === 'from' && tokens[close + 2]?.kind === 'string';
}

function quoteViolations(
  { path }: SourceFile,
  tokens: readonly Token[],
  providerIds: ReadonlySet<string>,
): readonly Violation[] {
  return tokens
    .filter((token, index) => token.kind === 'string' && providerIds.has(token.text) && !isImportSource(tokens, index))
    .map(({ text, line }) => `${path}:${line}: names the provider '${text}'`);
}

function isImportSource(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1]?.text;
  return before === 'from' || before === 'import';
}

/** Ids of a registry's members: the names of their folders. */
function membersOf(registry: string, files: readonly SourceFile[]): ReadonlySet<string> {
  const places = files.map(({ path }) => placeOf(path));
  return new Set(
    places.filter(({ folder, member }) => folder === registry && member !== '').map((place) => place.member),
  );
}

function isRegistry(folder: string): folder is Registry {
  return REGISTRIES.some((registry) => registry === folder);
}

function isRegistryIndex(path: string): boolean {
  return REGISTRIES.some((registry) => path === `src/${registry}/index.ts`);
}

function isTest(path: string): boolean {
  return path.endsWith('.test.ts');
}
