import type { Citation } from '../../../canonical/blocks.ts';
import type { CitationEvent } from '../../../canonical/events.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { decodeAnnotation } from '../citations.ts';
import { itemsOf, objectsOf } from '../../json-fields.ts';

/** No response rests on more sources; a stream of them must not fill the memory. */
const SOURCES_MAX = 1_000;

/**
 * The sources of a response. Some upstreams send them before the text (OpenRouter, whose searches run first), so they wait
 * for it; others list them beside the choices, in every chunk, and have no annotations.
 */
export class CitationCollector {
  readonly #emit: (event: CitationEvent) => void;
  #waiting: Citation[] = [];
  #annotated = false;
  /** The latest chunk that lists sources. */
  #listing: JsonObject | undefined;

  constructor(emit: (event: CitationEvent) => void) {
    this.#emit = emit;
  }

  /** @param text index of the open text block */
  annotate(annotations: Json | undefined, text: number | undefined): void {
    for (const annotation of objectsOf(annotations)) {
      this.#annotated = true;
      this.#add(decodeAnnotation(annotation), text);
    }
  }

  /** Keeps what a chunk lists beside its choices: one that `listsSources`. */
  note(chunk: JsonObject): void {
    this.#listing = chunk;
  }

  /** Gives what has waited for a text, as soon as there is one. */
  giveTo(text: number): void {
    for (const citation of this.#waiting) this.#emit({ type: 'citation', index: text, citation });
    this.#waiting = [];
  }

  /** No more text comes: what still waits belongs to the whole response. */
  close(text: number | undefined): void {
    const listed = this.#annotated || this.#listing === undefined ? [] : decodeListing(this.#listing);
    // The same list may come again after the end of the text.
    if (listed.length > 0) this.#annotated = true;
    for (const citation of listed) this.#add(citation, text);
    this.giveTo(text ?? -1);
  }

  #add(citation: Citation, text: number | undefined): void {
    if (text !== undefined) this.#emit({ type: 'citation', index: text, citation });
    else if (this.#waiting.length < SOURCES_MAX) this.#waiting.push(citation);
  }
}

/** Whether a chunk lists sources beside its choices. */
export function listsSources(chunk: JsonObject): boolean {
  return chunk['search_results'] !== undefined || chunk['citations'] !== undefined;
}

/**
 * `search_results` of Perplexity and of hosts that copy it, or no more than addresses, as xAI sends them. Nothing says
 * which words rest on which. Perplexity's API reference, "Chat Completions", and docs.x.ai "Live Search", read 2026-11.
 */
function decodeListing({ search_results: results, citations }: JsonObject): readonly Citation[] {
  const found = objectsOf(results).flatMap(decodeResult);
  if (found.length > 0) return found;
  return itemsOf(citations).flatMap((url) => (typeof url === 'string' ? [{ type: 'url' as const, url }] : []));
}

function decodeResult({ url, title, snippet }: JsonObject): readonly Citation[] {
  if (typeof url !== 'string' || url === '') return [];
  return [
    {
      type: 'url',
      url,
      ...(typeof title === 'string' && { title }),
      ...(typeof snippet === 'string' && snippet !== '' && { excerpt: snippet }),
    },
  ];
}
