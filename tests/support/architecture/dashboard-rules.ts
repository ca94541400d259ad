import { posix } from 'node:path';
import type { SourceFile, Violation } from './layer-rules.ts';

/**
 * The allowed imports of the dashboard, as data: a folder of `dashboard/src` to the folders that it may import besides itself.
 * Pages import parts and the API, and never each other. Files of `src` itself put the parts together.
 */
const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  pages: ['parts', 'api'],
  shell: ['parts', 'api', ''],
  parts: ['api'],
  api: [],
};

/** Packages that one folder knows, so that another one in their place is a change of that folder. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  '@base-ui/react': ['parts', ''],
  '@tanstack/react-virtual': ['parts'],
  uplot: ['parts'],
  marked: ['parts'],
  diff: ['parts'],
  'openapi-fetch': ['api'],
};

/** What only `api/` does. */
const CALLS = /\b(?:fetch\(|new (?:XMLHttpRequest|EventSource|WebSocket|SharedWorker|Worker)\b|sendBeacon\()/;
/** Snippets are texts. */
const TEXTS = /`[^`]*`|'[^']*'/g;
/** No HTML is ever made of a string: what models and callers wrote is text. */
const HTML =
  /dangerouslySetInnerHTML|\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write\b|\bsrcDoc\b|DOMParser|createContextualFragment/;
const IMPORT = /(?:^|[\s;}])(?:import|from)\s*\(?\s*'([^']+)'/g;
const FILE_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test|\.d)?\.(?:tsx?|css|svg)$/;

/** Everything in which these files break the architecture of the dashboard. Paths begin with `dashboard/src/`. */
export function findDashboardViolations(files: readonly SourceFile[]): readonly Violation[] {
  const known = new Set(files.map(({ path }) => path));
  return files.flatMap((file) => [
    ...(FILE_NAME.test(posix.basename(file.path)) ? [] : [`${file.path}:1: file names are kebab-case`]),
    ...pageViolations(file.path, known),
    ...importViolations(file),
    ...lineViolations(file),
  ]);
}

/** A page is a folder with its component and the parser of its address. */
function pageViolations(path: string, known: ReadonlySet<string>): readonly Violation[] {
  const page = /^(dashboard\/src\/pages\/[^/]+)\/page\.tsx$/.exec(path)?.[1];
  if (page === undefined || known.has(`${page}/search.ts`)) return [];
  return [`${path}:1: a page has its search.ts beside it`];
}

function importViolations({ path, text }: SourceFile): readonly Violation[] {
  if (path.endsWith('.d.ts')) return [];
  return [...text.matchAll(IMPORT)].flatMap(({ 1: source = '', index }) => {
    const line = text.slice(0, index + 1).split('\n').length;
    const problem = source.startsWith('.') ? problemOfFile(path, source) : problemOfPackage(path, source);
    return problem === undefined ? [] : [`${path}:${line}: ${problem}`];
  });
}

function problemOfFile(path: string, source: string): string | undefined {
  const target = posix.join(posix.dirname(path), source);
  if (!target.startsWith('dashboard/src/')) return `imports ${target}, which is not of the dashboard`;
  const [from, to] = [placeOf(path), placeOf(target)];
  if (from.folder === '') return undefined;
  if (from.folder === to.folder) {
    const isOtherPage = from.folder === 'pages' && from.member !== to.member;
    return isOtherPage ? `may not import the page ${to.member}` : undefined;
  }
  return IMPORTS[from.folder]?.includes(to.folder) === true ? undefined : `may not import ${target}`;
}

function problemOfPackage(path: string, source: string): string | undefined {
  const name = source
    .split('/')
    .slice(0, source.startsWith('@') ? 2 : 1)
    .join('/');
  const allowed = Object.hasOwn(PACKAGES, name) ? PACKAGES[name] : undefined;
  return allowed === undefined || allowed.includes(placeOf(path).folder) ? undefined : `may not know ${name}`;
}

function placeOf(path: string): { readonly folder: string; readonly member: string } {
  const [, , ...steps] = path.split('/');
  return { folder: steps.length > 1 ? (steps[0] ?? '') : '', member: steps.length > 2 ? (steps[1] ?? '') : '' };
}

function lineViolations({ path, text }: SourceFile): readonly Violation[] {
  if (path.endsWith('.d.ts') || path.includes('.test.')) return [];
  return text
    .split('\n')
    .flatMap((line, at) => [
      ...(HTML.test(line) ? [`${path}:${at + 1}: makes HTML of a text`] : []),
      ...(CALLS.test(line.replaceAll(TEXTS, '')) && placeOf(path).folder !== 'api'
        ? [`${path}:${at + 1}: only api/ calls the gateway`]
        : []),
      ...(/^export (?:type )?\*/.test(line) ? [`${path}:${at + 1}: export * hides what a file offers`] : []),
    ]);
}
