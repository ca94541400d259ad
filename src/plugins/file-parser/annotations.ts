import type { Block, Citation } from '../../canonical/blocks.ts';
import type { FilePart, ParsedFile } from '../../canonical/tools/parsed-file.ts';
import type { Turn } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';

const HASH = /^[0-9a-f]{64}$/;

/** What the caller gets with the answer, and sends back so that the file is not read again. @spec plugin-14 */
export function formatAnnotation(hash: string, { parts }: ParsedFile, name: string | undefined): JsonObject {
  return {
    type: 'file',
    file: {
      hash,
      ...(name !== undefined && { name }),
      content: parts.map((part) =>
        part.type === 'text' ? { type: 'text', text: part.text } : { type: 'image_url', image_url: { url: part.url } },
      ),
    },
  };
}

/** Files that were read for earlier answers, by hash: the annotations that the caller sent back. */
export function readAnnotations(turns: readonly Turn[]): ReadonlyMap<string, ParsedFile> {
  const files = new Map<string, ParsedFile>();
  for (const { blocks } of turns)
    for (const citation of blocks.flatMap(citationsOf)) {
      const known = readFile(citation);
      if (known !== undefined) files.set(known.hash, known.file);
    }
  return files;
}

function citationsOf(block: Block): readonly Citation[] {
  return block.type === 'text' ? (block.citations ?? []) : [];
}

function readFile(citation: Citation): { readonly hash: string; readonly file: ParsedFile } | undefined {
  if (citation.type !== 'opaque' || citation.format !== 'chat' || citation.value['type'] !== 'file') return undefined;
  const { file } = citation.value;
  if (!isJsonObject(file)) return undefined;
  const { hash, content } = file;
  if (typeof hash !== 'string' || !HASH.test(hash) || !Array.isArray(content)) return undefined;
  // The annotation lacks the number of pages.
  return { hash, file: { pages: 0, parts: content.filter(isJsonObject).flatMap(readPart) } };
}

function readPart({ type, text, image_url: image }: JsonObject): readonly FilePart[] {
  if (type === 'text' && typeof text === 'string') return [{ type, text }];
  if (type !== 'image_url' || !isJsonObject(image) || typeof image['url'] !== 'string') return [];
  return [{ type: 'image', url: image['url'] }];
}

/** Their text is already in the request: the upstream must not read it twice. */
export function withoutAnnotations(turns: readonly Turn[]): readonly Turn[] {
  return turns.map((turn) => {
    if (!turn.blocks.some((block) => citationsOf(block).some(isFile))) return turn;
    return { ...turn, blocks: turn.blocks.map(withoutFiles) };
  });
}

function isFile(citation: Citation): boolean {
  return readFile(citation) !== undefined;
}

function withoutFiles(block: Block): Block {
  if (block.type !== 'text' || block.citations === undefined) return block;
  const { citations, ...text } = block;
  const others = citations.filter((citation) => !isFile(citation));
  return others.length === 0 ? text : { ...text, citations: others };
}
