// `npm run package`: writes dist/package, which is what npm publishes and what the image holds, and packs it;
// `--no-archive` does not. docs/decisions/0028 says why it is JavaScript with its dependencies inside.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { rolldown } from 'rolldown';
import * as z from 'zod';

import { collectLicenses } from './package/licenses.ts';

const ROOT = path.join(import.meta.dirname, '..');
const SOURCE = path.join(ROOT, 'src');
const FOLDER = path.join(ROOT, 'dist/package');
/** Where the modules of dependencies go: npm leaves every folder named node_modules out of a package. */
const VENDOR = 'vendor/';
/** How sources name the script of a thread or of a process. */
const SCRIPT_URL = /new URL\((["'])(\.[^"']+)\.ts\1, import\.meta\.url\)/g;
/** Beside the sources, as they are. */
const FILES = ['bin', 'LICENSE', 'README.md', 'CHANGELOG.md'];

const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
  bin: z.record(z.string(), z.string()),
  type: z.literal('module'),
  engines: z.record(z.string(), z.string()),
  optionalDependencies: z.record(z.string(), z.string()),
});

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
const modules = await writeModules();
copyData();
copyDashboard();
for (const file of FILES) cpSync(path.join(ROOT, file), path.join(FOLDER, file), { recursive: true });
writeFileSync(
  path.join(FOLDER, 'THIRD-PARTY-LICENSES.md'),
  collectLicenses(ROOT, [...modules, ...listDashboardPackages()]),
);
writeManifest();
if (!process.argv.includes('--no-archive')) pack();

/**
 * Writes each source as a file of its own, at its place, since sources find data and scripts beside them; and each package
 * as one file, since packages of CommonJS whose modules require each other do not survive a file a module.
 * @returns the paths of what went in
 */
async function writeModules(): Promise<readonly string[]> {
  const entries = ['main.ts', 'worker.ts', ...listScripts()];
  const bundle = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(entries.map((file) => [file.slice(0, -'.ts'.length), path.join(SOURCE, file)])),
    platform: 'node',
    preserveEntrySignatures: 'allow-extension',
    plugins: [{ name: 'scripts', renderChunk: (code) => ({ code: code.replaceAll(SCRIPT_URL, renameScript) }) }],
    onLog(level, { code, message }) {
      // The same module, imported at once here and later there.
      if (level === 'warn' && code !== 'INEFFECTIVE_DYNAMIC_IMPORT') throw new Error(`${code}: ${message}`);
    },
  });
  const isEntry = new Set(entries.map((file) => path.join(SOURCE, file)));
  const { output } = await bundle.write({
    dir: path.join(FOLDER, 'dist'),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ debugName: 'modules', test: (id) => !isEntry.has(id), name: chunkOf }],
    },
  });
  return output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
}

function chunkOf(id: string): string {
  const [, dependency] = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id.replaceAll('\\', '/')) ?? [];
  return dependency === undefined ? path.relative(SOURCE, id).replace(/\.ts$/, '') : VENDOR + dependency;
}

function renameScript(_url: string, quote: string, name: string): string {
  return `new URL(${quote}${name}.js${quote}, import.meta.url)`;
}

/** The sources that run in a thread or a process of their own, which no import names. */
function listScripts(): readonly string[] {
  const sources = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(isSource);
  const scripts = sources.flatMap((file) => {
    const text = readFileSync(path.join(SOURCE, file), 'utf8');
    return [...text.matchAll(SCRIPT_URL)].map(([, , name]) => path.join(path.dirname(file), `${name}.ts`));
  });
  return [...new Set(scripts)].filter((file) => file !== 'worker.ts');
}

function isSource(file: string): boolean {
  return file.endsWith('.ts') && !file.endsWith('.test.ts');
}

/** Everything beside the sources that is no source: catalogs, tables, schemas. */
function copyData(): void {
  for (const entry of readdirSync(SOURCE, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.endsWith('.ts')) continue;
    const from = path.join(entry.parentPath, entry.name);
    const to = path.join(FOLDER, 'dist', path.relative(SOURCE, from));
    mkdirSync(path.dirname(to), { recursive: true });
    cpSync(from, to);
  }
}

/** @throws when it was not built: a package without it would say so at its first page only */
function copyDashboard(): void {
  const built = path.join(ROOT, 'dashboard/dist');
  if (!existsSync(path.join(built, 'index.html')))
    throw new Error('dashboard/dist is missing: npm run dashboard:build');
  cpSync(built, path.join(FOLDER, 'dashboard/dist'), { recursive: true });
}

/** The manifests of the packages that the dashboard's build put into its scripts and style sheets. */
function listDashboardPackages(): readonly string[] {
  const text = readFileSync(path.join(ROOT, 'dashboard/dist/packages.json'), 'utf8');
  return z
    .array(z.string())
    .min(1)
    .parse(JSON.parse(text))
    .map((folder) => path.join(ROOT, folder, 'package.json'));
}

function writeManifest(): void {
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')));
  writeFileSync(path.join(FOLDER, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

function pack(): void {
  const { status } = spawnSync('npm', ['pack', '--pack-destination', path.join(ROOT, 'dist')], {
    cwd: FOLDER,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
