import { getDocumentProxy } from 'unpdf';
import type { TextJob, TextResult } from './job.ts';

type PdfJob = Exclude<TextJob, { kind: 'page' }>;
type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;
type PageItems = Awaited<ReturnType<Awaited<ReturnType<Pdf['getPage']>>['getTextContent']>>['items'];

/** Nothing of a file is run, and nothing is fetched for it. */
const CAUTIOUS = {
  isEvalSupported: false,
  disableFontFace: true,
  useSystemFonts: false,
  enableXfa: false,
  verbosity: 0,
};

/** The text of a PDF as Markdown, page by page. Runs in a thread of its own: a page may take seconds. */
export async function readPdf(job: PdfJob): Promise<TextResult> {
  const { bytes, pagesMax } = job;
  let pdf: Pdf;
  try {
    pdf = await getDocumentProxy(bytes, CAUTIOUS);
  } catch (error) {
    const isLocked = error instanceof Error && error.name === 'PasswordException';
    return { status: 'failed', fault: isLocked ? 'encrypted' : 'unreadable' };
  }
  try {
    if (pdf.numPages > pagesMax) return { status: 'failed', fault: 'too-many-pages' };
    const read = { status: 'read', title: '', text: '', isCut: false, pages: pdf.numPages } as const;
    return job.kind === 'count' ? read : { ...read, ...(await readText(pdf, job.charsMax)) };
  } finally {
    await pdf.loadingTask.destroy();
  }
}

async function readText(pdf: Pdf, charsMax: number): Promise<{ title: string; text: string; isCut: boolean }> {
  const pages: string[] = [];
  let chars = 0;
  let isCut = false;
  for (let number = 1; number <= pdf.numPages && !isCut; number++) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    const text = formatPage(items);
    if (text === '') continue;
    isCut = chars + text.length > charsMax;
    pages.push(`## Page ${number}\n\n${isCut ? text.slice(0, charsMax - chars).toWellFormed() : text}`);
    chars += text.length;
  }
  return { title: await titleOf(pdf), text: pages.join('\n\n'), isCut };
}

/** Lines unchanged; a gap of more than a line begins a paragraph. */
function formatPage(items: PageItems): string {
  let text = '';
  let line = '';
  let lastY: number | undefined;
  const endLine = (): void => {
    text += `${line.trimEnd()}\n`;
    line = '';
  };
  for (const item of items) {
    if (!('str' in item)) continue;
    const y: unknown = item.transform[5];
    if (typeof y === 'number' && line === '' && item.str.trim() !== '') {
      if (lastY !== undefined && Math.abs(lastY - y) > item.height * 2) text += '\n';
      lastY = y;
    }
    line += item.str;
    if (item.hasEOL) endLine();
  }
  endLine();
  return text.replaceAll(/\n{3,}/g, '\n\n').trim();
}

async function titleOf(pdf: Pdf): Promise<string> {
  try {
    const { info } = await pdf.getMetadata();
    const title: unknown = 'Title' in info ? info.Title : undefined;
    return typeof title === 'string' ? title.trim() : '';
  } catch {
    // A title is nothing to fail for.
    return '';
  }
}
