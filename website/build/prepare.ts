// Lays the pages of docs/ out for the site: with the files of the repository that they link to, and a reference of the
// HTTP API from docs/openapi.json. Everything lands in website/.pages, which is made anew each time.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { formatHttpPages } from './http-pages.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const PAGES = path.join(ROOT, 'website/.pages');
/** Pages outside of docs/. */
const PROJECT = 'project';
/** Other files, as they are. */
const FILES = 'public/files';
/** A link of Markdown, or a picture. */
const LINK = /(!?\[(?:[^\]\\]|\\.)*\]\()([^)\s]+)(\))/g;
const FENCE = /(^(`{3,}|~{3,}).*?^\2[^\S\n]*$)/ms;

const copied = new Set<string>();

rmSync(PAGES, { recursive: true, force: true });
mkdirSync(path.join(PAGES, FILES), { recursive: true });
for (const name of readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }))
  if (name.endsWith('.md')) addPage(`docs/${name}`);
for (const name of ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md']) addPage(name);
for (const [name, text] of formatHttpPages(path.join(ROOT, 'docs/openapi.json'))) write(`http/${name}`, text);
cpSync(path.join(ROOT, 'website/pages'), PAGES, { recursive: true });
cpSync(path.join(ROOT, 'docs/openapi.json'), path.join(PAGES, 'public/openapi.json'));
cpSync(path.join(ROOT, 'docs/images/overview-dark.png'), path.join(PAGES, 'public/overview.png'));

/** @param file from the root of the repository */
function addPage(file: string): void {
  if (copied.has(file)) return;
  copied.add(file);
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const parts = text.split(FENCE).filter((_, index) => index % 3 !== 2);
  write(placeOf(file), parts.map((part, index) => (index % 2 === 1 ? part : rewrite(part, file))).join(''));
}

/** Where a file of the repository is on the site, below its pages. */
function placeOf(file: string): string {
  if (file.startsWith('docs/')) return file.slice('docs/'.length);
  return file.endsWith('.md') ? `${PROJECT}/${file}` : `${FILES}/${file}`;
}

/** Links between files of the repository become links between pages of the site. What looks like HTML stays text. */
function rewrite(text: string, from: string): string {
  return text.replaceAll(LINK, (whole, open: string, target: string, close: string) => {
    if (/^(?:[a-z]+:|#)/.test(target)) return whole;
    const [file = '', anchor] = target.split('#');
    const found = path.posix.normalize(path.posix.join(path.posix.dirname(from), file));
    return `${open}${linkTo(found, from)}${anchor === undefined ? '' : `#${anchor}`}${close}`;
  });
}

function linkTo(file: string, from: string): string {
  if (!existsSync(path.join(ROOT, file))) throw new Error(`${from} links to ${file}, which does not exist`);
  const isFolder = statSync(path.join(ROOT, file)).isDirectory();
  if (isFolder && existsSync(path.join(ROOT, file, 'README.md'))) return linkTo(`${file}/README.md`, from);
  if (isFolder) return addListing(file.replace(/\/$/, ''));
  if (file.endsWith('.md')) {
    addPage(file);
    return `/${placeOf(file)}`;
  }
  if (isPicture(file) && file.startsWith('docs/')) return pictureOf(file);
  addFile(file);
  return `/files/${asText(file)}`;
}

function isPicture(file: string): boolean {
  return /\.(?:png|svg)$/.test(file);
}

function pictureOf(file: string): string {
  const place = placeOf(file);
  mkdirSync(path.dirname(path.join(PAGES, 'public', place)), { recursive: true });
  cpSync(path.join(ROOT, file), path.join(PAGES, 'public', place));
  return `/${place}`;
}

/** Browsers show text: a source would be downloaded, or run. */
function asText(file: string): string {
  return file.endsWith('.json') || isPicture(file) ? file : `${file}.txt`;
}

function addFile(file: string): void {
  if (copied.has(file)) return;
  copied.add(file);
  const target = path.join(PAGES, FILES, asText(file));
  mkdirSync(path.dirname(target), { recursive: true });
  cpSync(path.join(ROOT, file), target);
}

/** A folder is a page that lists its files. */
function addListing(folder: string): string {
  const place = `${PROJECT}/${folder}/index.md`;
  if (!copied.has(folder)) {
    copied.add(folder);
    const lines = readdirSync(path.join(ROOT, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
      .map(({ name }) => `- [${name}](${linkTo(`${folder}/${name}`, folder)})`);
    write(place, `# ${folder}\n\n${lines.join('\n')}\n`);
  }
  return `/${place}`;
}

function write(name: string, text: string): void {
  const target = path.join(PAGES, name);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, protect(text));
}

/** Pages are templates of Vue: braces and tags in their prose are neither. */
function protect(text: string): string {
  return text
    .split(FENCE)
    .filter((_, index) => index % 3 !== 2)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part
            .replaceAll(/<(?!!--|\/?(?:br|a|details|summary|sub|sup|img)\b)/g, '&lt;')
            .replaceAll('{{', '&#123;&#123;'),
    )
    .join('');
}
