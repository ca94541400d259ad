import type { Block, MediaBlock, MediaSource } from '../../../canonical/blocks.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { writeOutDocuments } from '../../text-documents.ts';
import { MEDIUM_NAMES, unsupportedMedia } from '../../unsupported-media.ts';
import { decodeDataUrl } from '../../../lib/net/data-url.ts';
import type { ConverseDialect, ConverseMedia } from '../dialect.ts';
import type { EncodeContext } from './encode-context.ts';
import { isCited } from './document-citations.ts';
import { formatOf, type MediaFormat } from './media-formats.ts';
import { textOf, type WireObject } from '../../json-fields.ts';

/** Where the bytes of a file are. */
interface Content {
  readonly source: JsonObject;
  readonly mediaType?: string;
  /** Something that may end in an extension. */
  readonly name?: string | undefined;
}

/**
 * Blocks for an image, a video or a document. A document of text is written out for a model that reads no documents.
 * @throws GatewayError 400 for a file that this format or the model cannot take
 * @spec translate-13
 */
export function encodeMedia(block: MediaBlock, path: string, context: EncodeContext): readonly WireObject[] {
  const { media, source } = block;
  if (media !== 'audio' && (source.type === 'text' || source.type === 'blocks'))
    return encodeTextDocument(block, source, path, context);
  const content = media === 'audio' ? undefined : contentOf(source, block.name);
  const named = content && formatOf(content.mediaType, content.name);
  const text = textOfContent(content, named);
  if (named?.kind === 'document' && text !== undefined && !reads('document', context))
    return encodeMedia({ ...block, source: { type: 'text', mediaType: 'text/plain', text } }, path, context);
  if (content === undefined || named === undefined || !reads(named.kind, context))
    throw unsupportedMedia(path, describeMedia(block, content, named?.kind));
  if (block.detail !== undefined && block.detail !== 'auto')
    context.warnings.add('field-dropped', `${path}.image_url.detail`, 'the resolution cannot be chosen in this format');
  const { kind, format } = named;
  if (kind === 'document') return [encodeDocument(block, format, content.source, path, context)];
  return [{ [kind]: { format, source: content.source } }];
}

function reads(kind: ConverseMedia, { facts }: EncodeContext): boolean {
  return facts.media?.includes(kind) !== false;
}

/** The content of a file, if it is text. */
function textOfContent(content: Content | undefined, named: MediaFormat | undefined): string | undefined {
  const bytes = textOf(content?.source['bytes']);
  return bytes === undefined || !TEXT_FORMATS.has(named?.format ?? '')
    ? undefined
    : Buffer.from(bytes, 'base64').toString('utf8');
}

/**
 * Whether an address must be made bytes: the provider opens none but those of its own store. What cannot be fetched is
 * refused then, and not left out.
 */
export function mustInlineUrl(url: string, media: MediaBlock['media'], { converse }: ConverseDialect): boolean {
  if (media === 'audio' || converse?.media?.includes(media) === false) return false;
  return !url.startsWith('s3://') && decodeDataUrl(url) === undefined;
}

/** The beginning of a sentence about it. */
function describeMedia(
  { media, source }: MediaBlock,
  content: Content | undefined,
  kind: ConverseMedia | undefined,
): string {
  if (kind !== undefined) return `is ${MEDIUM_NAMES[kind]}`;
  if (media === 'audio') return 'is audio';
  if (content !== undefined) return 'is a file of a type';
  return source.type === 'url' ? 'is a file at an address' : 'is a stored file';
}

/** `undefined` for a file that is neither here nor in the provider's own store. */
function contentOf(source: MediaSource, name: string | undefined): Content | undefined {
  if (source.type === 'base64') return { source: { bytes: source.data }, mediaType: source.mediaType, name };
  const address = source.type === 'url' ? source.url : source.type === 'file' ? source.fileId : '';
  if (address.startsWith('s3://')) return { source: { s3Location: { uri: address } }, name: address };
  const data = decodeDataUrl(address);
  return data && { source: { bytes: data.data }, mediaType: data.mediaType, name };
}

function encodeTextDocument(
  block: MediaBlock,
  source: Extract<MediaSource, { readonly type: 'text' | 'blocks' }>,
  path: string,
  context: EncodeContext,
): readonly WireObject[] {
  if (!reads('document', context)) return writeOutDocuments([block]).flatMap((part) => encodePart(part, path, context));
  const parts = source.type === 'text' ? [] : writeOutDocuments(source.blocks);
  const texts =
    source.type === 'text' ? [source.text] : parts.flatMap((part) => (part.type === 'text' ? part.text : []));
  const format = formatOf(source.type === 'text' ? source.mediaType : undefined, block.name)?.format ?? '';
  const encoded = encodeDocument(
    block,
    TEXT_FORMATS.has(format) ? format : 'txt',
    sourceOfTexts(texts, isCited(block, context.facts)),
    path,
    context,
  );
  // A document holds only text here: its pictures follow it.
  return [encoded, ...parts.filter(({ type }) => type !== 'text').flatMap((part) => encodePart(part, path, context))];
}

const TEXT_FORMATS: ReadonlySet<string> = new Set(['txt', 'md', 'html', 'csv']);

/**
 * Text that is not to be cited goes as a file, which every model takes; the other two ways are refused then.
 * @source github.com/strands-agents/harness-sdk pull request 3582, read 2026-11
 */
function sourceOfTexts(texts: readonly string[], cited: boolean): JsonObject {
  const [only] = texts;
  if (!cited || only === undefined) return { bytes: Buffer.from(texts.join('\n\n'), 'utf8').toString('base64') };
  return texts.length === 1 ? { text: only } : { content: texts.map((text) => ({ text })) };
}

function encodePart(part: Block, path: string, context: EncodeContext): readonly WireObject[] {
  if (part.type === 'text') return part.text.trim() === '' ? [] : [{ text: part.text }];
  if (part.type === 'media') return encodeMedia(part, path, context);
  context.warnings.add('content-dropped', path, `${part.type} cannot stand in a document in this format`);
  return [];
}

function encodeDocument(
  block: MediaBlock,
  format: string,
  source: JsonObject,
  path: string,
  { facts, warnings, documentNames }: EncodeContext,
): WireObject {
  if (block.context !== undefined && facts.claude !== true)
    warnings.add('field-dropped', `${path}.context`, 'the model takes none');
  return {
    document: {
      format,
      name: takeDocumentName(block.name, documentNames),
      source,
      ...(block.context !== undefined && facts.claude === true && { context: block.context }),
      ...(isCited(block, facts) && { citations: { enabled: true } }),
    },
  };
}

/** @source AWS SDK `DocumentBlock.name`, 3.1162 (2026-11): at most 200 of these, no two spaces in a row. */
const ILLEGAL = /[^a-zA-Z0-9\s\-()[\]]+/g;
const NAME_CHARS_MAX = 200;
const SUFFIX_CHARS_MAX = 12;
const NAME_DEFAULT = 'document';

/**
 * A name that this format takes and that no document before has: two of one name are refused. Names count up in the order
 * of the conversation, so that a longer one keeps those of its beginning.
 */
export function takeDocumentName(given: string | undefined, taken: Set<string>): string {
  const stem = (given ?? '')
    .replace(/\.[a-z0-9]{1,5}$/i, '')
    .replace(ILLEGAL, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, NAME_CHARS_MAX - SUFFIX_CHARS_MAX)
    .trim();
  const base = stem === '' ? NAME_DEFAULT : stem;
  let name = base;
  for (let copy = 2; taken.has(name); copy++) name = `${base}-${copy}`;
  taken.add(name);
  return name;
}
