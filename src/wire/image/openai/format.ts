import { decodeError } from '../../upstream-error.ts';
import type { ImageFormat } from '../format.ts';
import { decodeAnswer, decodeEvent } from './answer.ts';
import { encodeRequest } from './request.ts';

/** As many as the vendor makes. */
const N_MAX = 10;

/** The form of the vendor that most hosts speak. @source openai 7.55, `images.generate` and `images.edit` (2026-11) */
export const openAiImages: ImageFormat = {
  id: 'image/openai',
  streams: true,
  nMax: N_MAX,
  encode: encodeRequest,
  decode: decodeAnswer,
  decodeEvent,
  decodeError,
};
