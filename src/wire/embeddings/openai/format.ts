import type { EmbeddingsFormat } from '../format.ts';
import { decodeError } from '../../upstream-error.ts';
import { decodeAnswer } from './answer.ts';
import { encodeRequest } from './request.ts';

/** The form of the vendor that most hosts speak. */
export const openAiEmbeddings: EmbeddingsFormat = {
  id: 'embeddings/openai',
  path: () => '/embeddings',
  inputsMax: 2_048,
  encodings: ['float', 'base64'],
  encode: encodeRequest,
  decode: decodeAnswer,
  decodeError,
};
