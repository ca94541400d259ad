import type { Block, MediaBlock, TextBlock } from '../../canonical/blocks.ts';

/**
 * Blocks with each document of text put out as text, wrapped with its title, because this format has files but no
 * documents. Pictures inside such a document follow it.
 */
export function writeOutDocuments(blocks: readonly Block[]): readonly Block[] {
  return blocks.some(isTextDocument)
    ? blocks.flatMap((block) => (isTextDocument(block) ? writeOut(block) : [block]))
    : blocks;
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
  return {
    type: 'text',
    text: `${head}\n${text}\n</document>`,
    ...(document.cache !== undefined && { cache: document.cache }),
  };
}

function attribute(name: string, value: string | undefined): string {
  return value === undefined ? '' : ` ${name}="${value.replaceAll('"', "'")}"`;
}
