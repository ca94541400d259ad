/** One line of the recording. */
export interface TerminalLine {
  readonly text: string;
  /** `command` has a prompt and is typed; `result` is what the program printed. */
  readonly kind: 'command' | 'result' | 'comment';
  /** Seconds after the start. */
  readonly at: number;
}

const WIDTH = 940;
const LINE_PX = 20;
const TOP_PX = 54;
const LEFT_PX = 20;
const BOTTOM_PX = 20;
const COLUMNS_MAX = 114;
/** How long the last picture stands before it begins again. */
const REST_S = 6;

const STYLE = `
  text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; fill: #c9d1d9 }
  .command { fill: #ffffff; font-weight: 600 }
  .comment { fill: #8b949e }
  .prompt { fill: #58a6ff }
  .line { opacity: 0; animation-iteration-count: infinite; animation-timing-function: step-end }
  @media (prefers-reduced-motion: reduce) { .line { animation: none; opacity: 1 } }`;

/** A recording as an animated picture: no script, no font from elsewhere; without motion for readers that want none. */
export function renderTerminal(lines: readonly TerminalLine[], label: string): string {
  const duration = Math.max(...lines.map(({ at }) => at)) + REST_S;
  const height = TOP_PX + lines.length * LINE_PX + BOTTOM_PX;
  const frames = lines.map(({ at }, index) => {
    const percent = ((at / duration) * 100).toFixed(2);
    return `  @keyframes l${index} { 0% { opacity: 0 } ${percent}% { opacity: 1 } 100% { opacity: 1 } }`;
  });
  const texts = lines.map(({ text, kind }, index) => {
    const prompt = kind === 'command' ? '<tspan class="prompt">$ </tspan>' : '';
    const y = TOP_PX + index * LINE_PX;
    return `<text class="line ${kind}" style="animation-name: l${index}; animation-duration: ${duration.toFixed(1)}s" x="${LEFT_PX}" y="${y}">${prompt}${escapeText(clip(text))}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeText(label)}">
<style>${STYLE}
${frames.join('\n')}
</style>
<rect width="${WIDTH}" height="${height}" rx="10" fill="#0d1117"/>
<circle cx="22" cy="20" r="6" fill="#ff5f56"/><circle cx="42" cy="20" r="6" fill="#ffbd2e"/><circle cx="62" cy="20" r="6" fill="#27c93f"/>
${texts.join('\n')}
</svg>
`;
}

function clip(text: string): string {
  return text.length > COLUMNS_MAX ? `${text.slice(0, COLUMNS_MAX - 1)}…` : text;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
