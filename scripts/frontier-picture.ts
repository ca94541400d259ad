import type { ParetoModel } from '../src/model-selection/rank/pareto.ts';

export interface FrontierPicture {
  readonly field: readonly ParetoModel[];
  /** Cheapest first. */
  readonly frontier: readonly ParetoModel[];
  /** Of the prices. */
  readonly date: string;
}

const WIDTH = 960;
const HEIGHT = 560;
const MARGIN = { left: 64, right: 36, top: 64, bottom: 64 } as const;
const LABEL_PX = 12;
const CHAR_PX = 7;
const DOT_PX = 5;

/** Readable on light and on dark paper: colours follow the reader's scheme, on paper of its own. */
const STYLE = `
  svg { --paper: #ffffff; --ink: #1f2328; --faint: #59636e; --grid: #d1d9e0; --dot: #9aa4af; --line: #0b6bcb }
  @media (prefers-color-scheme: dark) {
    svg { --paper: #0d1117; --ink: #e6edf3; --faint: #9198a1; --grid: #30363d; --dot: #76818d; --line: #58a6ff }
  }
  text { font: ${LABEL_PX}px system-ui, sans-serif; fill: var(--faint) }
  .title { font-size: 17px; font-weight: 600; fill: var(--ink) }
  .name { fill: var(--ink) }
  .paper { fill: var(--paper) }
  .grid { stroke: var(--grid) }
  .other { fill: var(--dot) }
  .best { fill: var(--line) }
  .line { fill: none; stroke: var(--line); stroke-width: 2 }`;

export function formatFrontier({ field, frontier, date }: FrontierPicture): string {
  const scale = scaleOf(field);
  const onIt = new Set(frontier);
  const dots = field
    .filter((model) => !onIt.has(model))
    .map((model) => formatDot(model, scale, { name: 'other', radius: DOT_PX - 1.5 }));
  const best = frontier.map((model) => formatDot(model, scale, { name: 'best', radius: DOT_PX }));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Coding scores of models by price, with the Pareto frontier">
<style>${STYLE}
</style>
<rect class="paper" width="${WIDTH}" height="${HEIGHT}" rx="8"/>
<text class="title" x="${MARGIN.left}" y="30">Who writes code best for the money</text>
<text x="${MARGIN.left}" y="49">Each dot is a tested model of the catalog; no model beats those on the line. Prices of ${date}, scores of LiveBench 2026-06-25.</text>
${formatGrid(scale).join('\n')}
${dots.join('\n')}
<path class="line" d="${formatSteps(frontier, scale)}"/>
${best.join('\n')}
${placeLabels(frontier, scale).join('\n')}
</svg>
`;
}

interface Scale {
  readonly x: (price: number) => number;
  readonly y: (score: number) => number;
  readonly prices: readonly number[];
  readonly scores: readonly number[];
}

const TICKS_USD = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const SCORE_STEP = 0.05;
/** Room for a name above the best. */
const NAME_STEPS = 0.3;

/** Prices by their logarithm: from 0.1 to 0.2 is as far as from 10 to 20. */
function scaleOf(field: readonly ParetoModel[]): Scale {
  const prices = field.map(({ price }) => price);
  const scores = field.map(({ score }) => score);
  const from = Math.log(Math.min(...prices) / 1.25);
  const to = Math.log(Math.max(...prices) * 1.25);
  const low = Math.floor(Math.min(...scores) / SCORE_STEP) * SCORE_STEP;
  const high = Math.ceil(Math.max(...scores) / SCORE_STEP + NAME_STEPS) * SCORE_STEP;
  const steps = Math.round((high - low) / SCORE_STEP);
  return {
    x: (price) => MARGIN.left + ((Math.log(price) - from) / (to - from)) * (WIDTH - MARGIN.left - MARGIN.right),
    y: (score) => HEIGHT - MARGIN.bottom - ((score - low) / (high - low)) * (HEIGHT - MARGIN.top - MARGIN.bottom),
    prices: TICKS_USD.filter((price) => Math.log(price) >= from && Math.log(price) <= to),
    scores: Array.from({ length: steps + 1 }, (_, step) => low + step * SCORE_STEP),
  };
}

function formatGrid({ x, y, prices, scores }: Scale): readonly string[] {
  const [left, right, bottom] = [MARGIN.left, WIDTH - MARGIN.right, HEIGHT - MARGIN.bottom];
  return [
    ...scores.flatMap((score) => [
      `<line class="grid" x1="${left}" x2="${right}" y1="${px(y(score))}" y2="${px(y(score))}"/>`,
      `<text x="${left - 8}" y="${px(y(score) + 4)}" text-anchor="end">${score.toFixed(2)}</text>`,
    ]),
    ...prices.flatMap((price) => [
      `<line class="grid" x1="${px(x(price))}" x2="${px(x(price))}" y1="${MARGIN.top}" y2="${bottom}"/>`,
      `<text x="${px(x(price))}" y="${bottom + 20}" text-anchor="middle">${price}</text>`,
    ]),
    `<text x="${(left + right) / 2}" y="${HEIGHT - 18}" text-anchor="middle">USD per million input tokens, list price</text>`,
    `<text transform="translate(18 ${HEIGHT / 2}) rotate(-90)" text-anchor="middle">coding score</text>`,
  ];
}

function formatDot(
  { slug, price, score }: ParetoModel,
  { x, y }: Scale,
  { name, radius }: { readonly name: string; readonly radius: number },
): string {
  const title = `${slug}: ${score.toFixed(3)} for ${price} USD`;
  return `<circle class="${name}" cx="${px(x(price))}" cy="${px(y(score))}" r="${radius}"><title>${title}</title></circle>`;
}

/** Until the next one is paid for, the last one stays the best. */
function formatSteps(frontier: readonly ParetoModel[], { x, y }: Scale): string {
  const steps = frontier.map(({ price, score }, at) =>
    at === 0 ? `M${px(x(price))} ${px(y(score))}` : `H${px(x(price))} V${px(y(score))}`,
  );
  return `${steps.join(' ')} H${WIDTH - MARGIN.right}`;
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
}

/** Each where it covers no other name: above the line where there is room, else below it. */
function placeLabels(frontier: readonly ParetoModel[], { x, y }: Scale): readonly string[] {
  const placed: Box[] = [];
  return frontier.map(({ slug, price, score }) => {
    const name = slug.slice(slug.indexOf('/') + 1);
    const width = name.length * CHAR_PX;
    const [cx, cy] = [x(price), y(score)];
    const places: readonly Box[] = [
      { left: cx - width - 8, top: cy - LABEL_PX - 2, width },
      { left: cx - width / 2, top: cy - LABEL_PX - 10, width },
      { left: cx + 9, top: cy + 4, width },
      { left: cx + 9, top: cy + 4 + LABEL_PX + 3, width },
      { left: cx + 9, top: cy - LABEL_PX - 10, width },
    ];
    const free = places.find((box) => isNested(box) && !placed.some((other) => overlaps(box, other))) ?? places[2];
    if (free === undefined) return '';
    placed.push(free);
    return `<text class="name" x="${px(free.left)}" y="${px(free.top + LABEL_PX)}">${name}</text>`;
  });
}

function isNested({ left, width }: Box): boolean {
  return left > MARGIN.left && left + width < WIDTH - 4;
}

function overlaps(one: Box, other: Box): boolean {
  return (
    one.left < other.left + other.width &&
    other.left < one.left + one.width &&
    Math.abs(one.top - other.top) < LABEL_PX + 2
  );
}

function px(value: number): string {
  return value.toFixed(1);
}
