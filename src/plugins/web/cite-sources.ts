import type { Block } from '../../canonical/blocks.ts';
import type { BlockEndEvent, CitationEvent, EventBatch, GenerationEvent, StartEvent } from '../../canonical/events.ts';
import { gapBeforeText } from '../../canonical/text-gap.ts';
import type { WebSearchHit } from '../../canonical/tools/web-search.ts';
import { truncateAtWord } from '../../lib/text/truncate.ts';

/** Of an excerpt in a citation. */
const EXCERPT_CHARS_MAX = 2_000;
/** Places in a response; further ones are dropped. */
const PLACES_MAX = 200;
/** Of one text that is looked through; no answer is that long. */
const TEXT_CHARS_MAX = 4_000_000;

/**
 * A link in Markdown with its text, or a bare address. The space before what follows the address in a link keeps the
 * search linear: the author of a response must not be able to craft a text that is searched again and again.
 */
const LINK =
  /\[[^[\]]*\]\(\s*<?(?<linked>https?:\/\/[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)>?(?:\s[^()]*)?\)|(?<bare>https?:\/\/[^\s<>()[\]"'`]+)/g;
/** What ends a sentence and no address. */
const ENDS = '.,;:!?*_';

/**
 * Finds the pages that support a response: those that it links to, each with the place of the link, and at its end the
 * others, which were in the prompt. @spec web-13
 */
export class SourceCiter {
  readonly #hits: ReadonlyMap<string, WebSearchHit>;
  readonly #cited = new Set<WebSearchHit>();
  #format: StartEvent['format'] | undefined;
  #previous: Block | undefined;
  /** Characters of the completed texts, with the gaps between them. */
  #stated = 0;
  #text: { readonly index: number; readonly gap: (stated: number) => number; text: string } | undefined;
  #places = 0;

  constructor(hits: readonly WebSearchHit[]) {
    this.#hits = new Map(hits.map((hit) => [plainAddress(hit.url), hit]));
  }

  push(events: EventBatch): EventBatch {
    if (!events.some(matters)) {
      for (const event of events) this.#read(event);
      return events;
    }
    return events.flatMap((event): EventBatch => {
      if (event.type === 'block-end') return [...this.#endText(event), event];
      if (event.type === 'end') return [...this.#others(), event];
      this.#read(event);
      return [event];
    });
  }

  #read(event: GenerationEvent): void {
    if (event.type === 'start') this.#format = event.format;
    else if (event.type === 'block-start') this.#startBlock(event.index, event.block);
    else if (event.type === 'block-delta' && event.index === this.#text?.index && event.text !== undefined) {
      if (this.#text.text.length < TEXT_CHARS_MAX) this.#text.text += event.text;
    }
  }

  #startBlock(index: number, block: Block): void {
    const [format, previous] = [this.#format, this.#previous];
    this.#previous = block;
    if (block.type !== 'text') return;
    this.#text = { index, text: block.text, gap: (stated) => gapBeforeText(format, previous, stated, block).length };
  }

  #endText({ index }: BlockEndEvent): readonly CitationEvent[] {
    const ended = this.#text;
    if (ended === undefined || ended.index !== index) return [];
    this.#text = undefined;
    if (ended.text === '') return [];
    const start = this.#stated + ended.gap(this.#stated);
    this.#stated = start + ended.text.length;
    return this.#linksIn(ended.text, start).map((citation) => ({ type: 'citation', index, citation }));
  }

  /** @param start of the text in that of the whole answer */
  #linksIn(text: string, start: number): readonly CitationEvent['citation'][] {
    const citations: CitationEvent['citation'][] = [];
    for (const match of text.matchAll(LINK)) {
      const { linked, bare } = match.groups ?? {};
      const [address, hit] = this.#hitAt(linked ?? bare ?? '');
      if (hit === undefined || this.#places >= PLACES_MAX) continue;
      this.#places++;
      this.#cited.add(hit);
      const length = linked === undefined ? address.length : match[0].length;
      citations.push({ ...citationOf(hit), start: start + match.index, end: start + match.index + length });
    }
    return citations;
  }

  /** An address at the end of a sentence has its full stop on it. */
  #hitAt(address: string): readonly [string, WebSearchHit | undefined] {
    const known = this.#hits.get(plainAddress(address));
    if (known !== undefined) return [address, known];
    let length = address.length;
    while (ENDS.includes(address[length - 1] ?? ' ')) length--;
    const bare = address.slice(0, length);
    return [bare, this.#hits.get(plainAddress(bare))];
  }

  #others(): readonly CitationEvent[] {
    return [...this.#hits.values()]
      .filter((hit) => !this.#cited.has(hit))
      .map((hit) => ({ type: 'citation', index: -1, citation: citationOf(hit) }));
  }
}

function matters({ type }: GenerationEvent): boolean {
  return type === 'block-end' || type === 'end';
}

/** Models drop the slash at the end of an address, and write hosts as they like. */
function plainAddress(address: string): string {
  return (URL.parse(address)?.href ?? address).replace(/\/$/, '');
}

function citationOf({ url, title, content }: WebSearchHit) {
  const excerpt = truncateAtWord(content, EXCERPT_CHARS_MAX);
  return { type: 'url', url, title, ...(excerpt !== '' && { excerpt }) } as const;
}
