import { REPAIR_MS_MAX, repairJson, type RepairClock } from './repair-json.ts';

/** What the answer was to be. `undefined`: an object or an array. */
export type WantedKind = 'object' | 'array' | undefined;

const FENCE_START = /```[\w+-]*[ \t]*\r?\n?/;
const FENCE = '```';

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * JSON out of a text that was to be JSON and is not: without the fence and the words around it, or else repaired. Numbers
 * and strings stay as they are written. `undefined`: nothing that was wanted can be made of it.
 * @spec plugin-17
 */
export function healJson(text: string, wanted: WantedKind): string | undefined {
  const clock: RepairClock = { leftMs: REPAIR_MS_MAX };
  const fenced = insideFence(text);
  const found = (fenced === undefined ? [text] : [fenced, text]).map((source) => findRegions(source, wanted));
  const tried = new Set<string>();
  for (const region of found.flat(2)) {
    if (tried.has(region)) continue;
    tried.add(region);
    const healed = isJson(region) ? region : repairJson(keepBackslashes(region), clock);
    if (healed !== undefined && isOfKind(healed, wanted) && isJson(healed)) return healed;
  }
  return undefined;
}

/** What stands between the first fence and the last one; to the end where it is not closed. */
function insideFence(text: string): string | undefined {
  const start = FENCE_START.exec(text);
  if (start === null) return undefined;
  const inside = text.slice(start.index + start[0].length);
  const end = inside.lastIndexOf(FENCE);
  return end < 0 ? inside : inside.slice(0, end);
}

/** The most brackets of one text that are looked into. */
const REGIONS_MAX = 3;

/**
 * The outermost brackets of a text, as far as the quotes in it can be trusted, the longest first: what is short beside it
 * is a mark in the words around. Each as it may be meant: where nothing closes it, to the last that could, or to the end.
 */
function findRegions(text: string, wanted: WantedKind): readonly (readonly string[])[] {
  const regions: string[][] = [];
  const openers = /[[{]/g;
  for (let opener = openers.exec(text); opener !== null; opener = openers.exec(text)) {
    const end = endOfRegion(text, opener.index);
    regions.push(
      end === undefined ? openRegion(text.slice(opener.index)) : closedRegion(text.slice(opener.index, end)),
    );
    openers.lastIndex = end ?? text.length;
  }
  const lengthOf = (region: readonly string[]): number => region.at(-1)?.length ?? 0;
  return regions
    .filter(([first = '']) => isOfKind(first, wanted))
    .toSorted((left, right) => lengthOf(right) - lengthOf(left))
    .slice(0, REGIONS_MAX);
}

/** After a comma the value continues; other words after the last bracket are no part of it. */
function openRegion(rest: string): string[] {
  const last = rest.lastIndexOf(rest.startsWith('{') ? '}' : ']');
  const isCut = last > 0 && !/^[\s}\]]*,/.test(rest.slice(last + 1));
  return [...(isCut ? [rest.slice(0, last + 1)] : []), rest.trimEnd()];
}

/** Doubled braces are how models copy them from the templates of their instructions. */
function closedRegion(region: string): string[] {
  return region.startsWith('{{') && region.endsWith('}}') ? [region.slice(1, -1), region] : [region];
}

/** One past the bracket that closes the one at `start`; `undefined` where none does. */
function endOfRegion(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === '"') at = endOfString(text, at);
    else if (char === '{' || char === '[') depth++;
    else if ((char === '}' || char === ']') && --depth === 0) return at + 1;
  }
  return undefined;
}

/** The quote that ends the string, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

/** A backslash that escapes nothing was meant as one, as in `C:\Temp` or `\alpha`; the library would leave it out. */
function keepBackslashes(region: string): string {
  return region.replaceAll(/\\(?:u[0-9a-fA-F]{4}|[^u]|u|$)/g, (escape) =>
    /^\\(?:u.{4}|["'\\/bfnrt\r\n])$/.test(escape) ? escape : `\\${escape}`,
  );
}

function isOfKind(json: string, wanted: WantedKind): boolean {
  const first = json.trimStart().charAt(0);
  if (wanted === undefined) return first === '{' || first === '[';
  return first === (wanted === 'object' ? '{' : '[');
}
