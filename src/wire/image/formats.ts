import { chatImages } from './chat/format.ts';
import type { ImageFormat } from './format.ts';
import { geminiImages } from './gemini/format.ts';
import { openAiImages } from './openai/format.ts';
import { stabilityImages } from './stability/format.ts';

/** Every format in which upstreams make pictures. */
export const IMAGE_FORMATS: ReadonlyMap<string, ImageFormat> = new Map(
  [openAiImages, geminiImages, chatImages, stabilityImages].map((format) => [format.id, format]),
);
