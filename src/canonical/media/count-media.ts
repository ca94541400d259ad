import { unreachable } from '../../lib/assert.ts';
import type { Block } from '../blocks.ts';
import type { Operation } from '../operation.ts';
import { isPictureDocument } from '../rerank.ts';
import { mediaOfInputs } from './embeddings-input.ts';
import type { GenerationRequest } from '../request.ts';
import { isTextOnly } from '../text-only.ts';

const NONE = { all: 0, audio: 0 } as const;

interface MediaCounts {
  /** Of every kind. */
  readonly all: number;
  readonly audio: number;
}

/** The same of a request that is no generation. */
export function countOperationMedia(operation: Operation): MediaCounts {
  switch (operation.kind) {
    case 'embeddings': {
      const media = mediaOfInputs(operation.inputs);
      return { all: media.length, audio: media.filter((one) => one.media === 'audio').length };
    }
    case 'rerank':
      return { all: operation.documents.filter(isPictureDocument).length, audio: 0 };
    case 'image':
      return { all: operation.references.length + (operation.mask === undefined ? 0 : 1), audio: 0 };
    case 'stt':
      return { all: 1, audio: 1 };
    case 'video': {
      const sounds = operation.references.filter(({ media }) => media === 'audio').length;
      return { all: operation.frames.length + operation.references.length, audio: sounds };
    }
    case 'tts':
    case 'decisions':
      return NONE;
    default:
      return unreachable(operation);
  }
}

/** Counts media that callers sent, results of their tools included. Earlier responses of a model do not count. */
export function countPromptMedia(request: Pick<GenerationRequest, 'turns'>): MediaCounts {
  if (isTextOnly(request)) return NONE;
  let all = 0;
  let audio = 0;
  const count = (blocks: readonly Block[]): void => {
    for (const block of blocks) {
      if (block.type === 'tool-result') count(block.content);
      if (block.type !== 'media') continue;
      all++;
      if (block.media === 'audio') audio++;
    }
  };
  for (const turn of request.turns) if (turn.role !== 'assistant') count(turn.blocks);
  return { all, audio };
}

/**
 * Whether the request links files whose length the gateway does not know: recordings, videos and documents. Images do not
 * count, because one is as large as another.
 */
export function linksFiles({ turns }: Pick<GenerationRequest, 'turns'>): boolean {
  return turns.some(({ blocks }) => blocks.some(isLinkedFile));
}

function isLinkedFile(block: Block): boolean {
  if (block.type === 'tool-result') return block.content.some(isLinkedFile);
  if (block.type !== 'media') return false;
  const { media, source } = block;
  if (source.type === 'blocks') return source.blocks.some(isLinkedFile);
  if (media === 'image') return false;
  return source.type === 'file' || (source.type === 'url' && !source.url.startsWith('data:'));
}
