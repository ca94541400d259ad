import { renderMermaidSVG } from 'beautiful-mermaid';

/** Colours of the theme, so that a diagram follows the reader's choice of light and dark. */
const COLOURS = {
  bg: 'var(--vp-c-bg)',
  fg: 'var(--vp-c-text-1)',
  line: 'var(--vp-c-text-3)',
  accent: 'var(--vp-c-brand-1)',
  muted: 'var(--vp-c-text-2)',
  surface: 'var(--vp-c-bg-soft)',
  border: 'var(--vp-c-divider)',
} as const;

/** The renderer asks a foreign host for its font; the page has one. */
const FONT_IMPORT = /@import url\([^)]*\);?/g;

/**
 * A diagram as a picture inside the page: no script draws it, and no host is asked. Templates of Vue drop `<style>`, so the
 * picture is a text of theirs.
 */
export function renderDiagram(source: string): string {
  const svg = renderMermaidSVG(source, { ...COLOURS, transparent: true, font: 'Inter' }).replaceAll(FONT_IMPORT, '');
  const label = source.trim().split('\n')[0] ?? 'diagram';
  return `<figure class="diagram" role="img" aria-label="Diagram: ${escapeText(label)}" v-html="${escapeText(JSON.stringify(svg))}"></figure>\n`;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
