import type { Block, MediaBlock, OpaqueBlock, TextBlock } from '../canonical/blocks.ts';

/**
 * Writes each document of text as a text block with its title, for formats that have files but no documents. Images
 * inside such a document follow it. Blocks of other formats with a plain text become text blocks, too.
 */
export function writeOutDocuments(blocks: readonly Block[]): readonly Block[] {
  return blocks.some((block) => isTextDocument(block) || hasPlainText(block)) ? blocks.flatMap(writeOutBlock) : blocks;
}

function writeOutBlock(block: Block): readonly Block[] {
  if (isTextDocument(block)) return writeOut(block);
  return hasPlainText(block) ? [{ type: 'text', text: block.plainText, ...markOf(block) }] : [block];
}

type PlainTextBlock = OpaqueBlock & { readonly plainText: string };

function hasPlainText(block: Block): block is PlainTextBlock {
  return block.type === 'opaque' && block.plainText !== undefined;
}

function markOf({ cache }: Block): Pick<Block, 'cache'> {
  return cache === undefined ? {} : { cache };
}

type TextDocument = MediaBlock & { readonly source: { readonly type: 'text' | 'blocks' } };

function isTextDocument(block: Block): block is TextDocument {
  return block.type === 'media' && (block.source.type === 'text' || block.source.type === 'blocks');
}

function writeOut(document: TextDocument): readonly Block[] {
  if (document.source.type === 'text') return [wrap(document, document.source.text)];
  const inner = writeOutDocuments(document.source.blocks);
  const texts = inner.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return [wrap(document, texts.join('\n\n')), ...inner.filter((block) => block.type !== 'text')];
}

function wrap(document: MediaBlock, text: string): TextBlock {
  const head = `<document${attribute('title', document.name)}${attribute('context', document.context)}>`;
  return { type: 'text', text: `${head}\n${text}\n</document>`, ...markOf(document) };
}

function attribute(name: string, value: string | undefined): string {
  return value === undefined ? '' : ` ${name}="${value.replaceAll('"', "'")}"`;
}
