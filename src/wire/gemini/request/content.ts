import type { Block, MediaBlock } from '../../../canonical/blocks.ts';
import { unreachable } from '../../../lib/assert.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { pathOfCitations } from '../../gateway/source/source-paths.ts';
import { writeOutDocuments } from '../../text-documents.ts';
import { warnOfUnsupportedBlock } from '../../unsupported-blocks.ts';
import { unsupportedMedia } from '../../unsupported-media.ts';
import type { LocatedBlock } from '../../gateway/source/source-positions.ts';
import type { EncodeContext } from './encode-context.ts';
import { encodeFile, decodeText, describeMedia } from './media.ts';

/** A part of a content, as the format has it. */
export type WirePart = JsonObject;

/** Blocks as far as they are text or files. @param other takes any other */
export function encodeParts(
  blocks: readonly LocatedBlock[],
  context: EncodeContext,
  other: (placed: LocatedBlock, context: EncodeContext) => void,
): readonly WirePart[] {
  return blocks.flatMap(({ block, path }) =>
    spellOut(block).flatMap((piece): readonly WirePart[] => {
      const placed = { block: piece, path };
      switch (piece.type) {
        case 'text':
          warnOfSources(piece.citations ?? [], path, context);
          return piece.text === '' ? [] : [{ text: piece.text }];
        case 'refusal':
          return piece.text === '' ? [] : [{ text: piece.text }];
        case 'media': {
          const file = encodeMedia(piece, path, context);
          if (file !== undefined) return [file];
          other(placed, context);
          return [];
        }
        case 'reasoning':
        case 'tool-call':
        case 'tool-result':
        case 'opaque':
          other(placed, context);
          return [];
        default:
          return unreachable(piece);
      }
    }),
  );
}

/** Documents of text, and blocks of other formats with a plain text, are text here. */
export function spellOut(block: Block): readonly Block[] {
  return writeOutDocuments([block.type === 'media' ? decodeText(block) : block]);
}

function warnOfSources(citations: readonly unknown[], path: string, { request, warn }: EncodeContext): void {
  if (citations.length > 0)
    warn('content-dropped', pathOfCitations(request.format, path), 'sources of earlier responses are not sent again');
}

function encodeMedia(block: MediaBlock, path: string, context: EncodeContext): WirePart | undefined {
  if (block.detail !== undefined && block.detail !== 'auto')
    context.warnOnce('field-dropped', `${path}.detail`, 'the resolution cannot be chosen in this format');
  return encodeFile(block, path, context);
}

/** What has no place where it stands. @throws GatewayError 400 for a file */
export function warnOfBlock({ block, path }: LocatedBlock, context: EncodeContext): void {
  if (block.type === 'media') throw unsupportedMedia(path, describeMedia(block));
  warnOfUnsupportedBlock(block, path, context.warn);
}
