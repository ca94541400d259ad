const QUOTE = 34;
const BACKSLASH = 92;
const OPENERS = new Set([91, 123]);
const CLOSERS = new Set([93, 125]);

/** How far a JSON object that comes in pieces has got. Every character is looked at once, however many pieces there are. */
export interface JsonExtent {
  depth: number;
  inString: boolean;
  escaped: boolean;
  /** The outermost bracket has been closed. */
  complete: boolean;
}

export function openExtent(): JsonExtent {
  return { depth: 0, inString: false, escaped: false, complete: false };
}

/** Goes on with the next piece. Tells where an object or array ends, not whether it is one that a parser would take. */
export function extend(extent: JsonExtent, piece: string): void {
  for (let at = 0; at < piece.length; at++) {
    const code = piece.charCodeAt(at);
    if (extent.escaped) extent.escaped = false;
    else if (extent.inString) {
      if (code === BACKSLASH) extent.escaped = true;
      else if (code === QUOTE) extent.inString = false;
    } else if (code === QUOTE) extent.inString = true;
    else if (OPENERS.has(code)) extent.depth++;
    else if (CLOSERS.has(code)) extent.complete ||= --extent.depth === 0;
  }
}
