import { bflImages } from './bfl/format.ts';
import { chatImages } from './chat/format.ts';
import { falImages } from './fal/format.ts';
import { fireworksImages } from './fireworks/format.ts';
import type { ImageFormat } from './format.ts';
import { geminiImages } from './gemini/format.ts';
import { openAiImages } from './openai/format.ts';
import { replicateImages } from './replicate/format.ts';
import { stabilityImages } from './stability/format.ts';

/** Every format in which upstreams make pictures. */
export const IMAGE_FORMATS: ReadonlyMap<string, ImageFormat> = new Map(
  [openAiImages, geminiImages, chatImages, stabilityImages, bflImages, falImages, replicateImages, fireworksImages].map(
    (format) => [format.id, format],
  ),
);
