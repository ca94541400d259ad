import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import Turndown from 'turndown';
import { decodeText } from './decode-text.ts';
import type { TextJob, TextResult } from './job.ts';

type PageJob = Extract<TextJob, { kind: 'page' }>;

/** What is no text for a reader. */
const NO_TEXT = 'script, style, noscript, template, iframe, svg, head, title';
/** Says no more than a short one. The time of what follows grows with the square of it. */
const LONG_GAP = /(?:\s|&nbsp;|&#160;|&#xa0;){64,}/gi;
const HTML_TAG = /<html[^>]*>/i;
/** Pages name their charset near their beginning. @source WHATWG HTML "prescan a byte stream" */
const CHARSET_WITHIN_BYTES = 1_024;
/** Extracting the readable part of more would take too long: then all of the page is its text. */
const ELEMENTS_MAX = 60_000;
/** The time of what follows grows with the third power of it. Pages that people write stay far below. */
const NESTING_MAX = 256;

/** What is used here of the document object model, whose types belong to browsers. */
interface PageNode {
  readonly textContent: string | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
}

interface PageElement extends PageNode {
  readonly tagName: string;
  readonly parentElement: PageElement | null;
  readonly previousElementSibling: PageElement | null;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  remove(): void;
}

interface PageDocument extends PageNode {
  readonly body: PageElement;
  cloneNode(deep: true): PageDocument;
}

/** The readable part of a page as Markdown. Runs in a thread of its own: a page may take seconds. */
export function readPage({ bytes, charset, url, charsMax }: PageJob): TextResult {
  const html = decodeText(bytes, charset ?? charsetIn(bytes)).replaceAll(LONG_GAP, (gap) =>
    gap.includes('\n') ? '\n' : ' ',
  );
  const document: PageDocument = parseHTML(withRoot(html)).document;
  if (isTooDeep(document)) return { status: 'failed', fault: 'unreadable' };
  const title = [...document.querySelectorAll('title')][0]?.textContent?.trim() ?? '';
  makeLinksWhole(document, url);
  // What it looks at, it changes.
  const article = readArticle(document.cloneNode(true));
  const markdown = toMarkdown(article?.content ?? document.body);
  return {
    status: 'read',
    title: article?.title || title,
    text: markdown.slice(0, charsMax).toWellFormed(),
    isCut: markdown.length > charsMax,
    pages: 1,
  };
}

function charsetIn(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, CHARSET_WITHIN_BYTES));
  return /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(start.toString('latin1'))?.[1];
}

/** Tags that a page may leave out, and that the parser does not put in: without them there is no content. */
function withRoot(html: string): string {
  const rooted = /<html[\s>]/i.test(html) ? html : `<html>${html.replace(/^\s*<!doctype[^>]*>/i, '')}</html>`;
  const hasHead = /<head[\s>]/i.test(rooted);
  if (/<body[\s>]/i.test(rooted))
    return hasHead ? rooted : rooted.replace(HTML_TAG, '$&<head>').replace(/<body[\s>]/i, '</head>$&');
  return hasHead ? rooted.replace(/<\/head\s*>/i, '$&<body>') : rooted.replace(HTML_TAG, '$&<head></head><body>');
}

function isTooDeep(document: PageDocument): boolean {
  const depths = new Map<PageElement | null, number>();
  // In the order of the page: what an element is in comes before it.
  for (const element of document.querySelectorAll('*')) {
    const depth = (depths.get(element.parentElement) ?? 0) + 1;
    if (depth > NESTING_MAX) return true;
    depths.set(element, depth);
  }
  return false;
}

/** A reader knows the address of the page no more. */
function makeLinksWhole(document: PageDocument, url: string): void {
  for (const [selector, attribute] of [
    ['a[href]', 'href'],
    ['img[src]', 'src'],
  ] as const) {
    for (const element of document.querySelectorAll(selector)) {
      const whole = URL.parse(element.getAttribute(attribute) ?? '', url);
      // Pictures that stand in the page itself say nothing to a reader, at great length.
      if (whole === null || (attribute === 'src' && whole.protocol === 'data:')) element.remove();
      else element.setAttribute(attribute, whole.href);
    }
  }
}

function readArticle(document: PageDocument): { readonly title: string; readonly content: PageElement } | undefined {
  try {
    const reader = new Readability<PageElement>(document, {
      maxElemsToParse: ELEMENTS_MAX,
      // The language of code is one.
      keepClasses: true,
      serializer: (node: PageElement) => node,
    });
    const article = reader.parse();
    const content = article?.content;
    if (content === undefined || content === null || (content.textContent ?? '').trim() === '') return undefined;
    return { title: (article?.title ?? '').trim(), content };
  } catch {
    // Too many elements, or a page that it does not understand: then all of the page is its text.
    return undefined;
  }
}

function toMarkdown(element: PageElement): string {
  for (const stray of element.querySelectorAll(NO_TEXT)) stray.remove();
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  addTables(turndown);
  return turndown.turndown(element).trim();
}

/** Tables in GitHub's Markdown: rows of cells, and a rule below the first. */
function addTables(turndown: Turndown): void {
  const cellsOf = (row: PageElement): number => [...row.querySelectorAll('th, td')].length;
  turndown.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content: string) =>
      ` ${content
        .trim()
        .replaceAll(/\s*\n\s*/g, ' ')
        .replaceAll('|', '\\|')} |`,
  });
  turndown.addRule('row', {
    filter: 'tr',
    replacement: (content: string, row: PageElement) =>
      `|${content}\n${isFirstRow(row) ? `|${' --- |'.repeat(cellsOf(row))}\n` : ''}`,
  });
  turndown.addRule('rows', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content: string) => content });
  turndown.addRule('table', { filter: 'table', replacement: (content: string) => `\n\n${content.trim()}\n\n` });
}

function isFirstRow({ previousElementSibling: before, parentElement: parent }: PageElement): boolean {
  if (before !== null) return false;
  return parent === null || parent.tagName === 'TABLE' || parent.previousElementSibling === null;
}
