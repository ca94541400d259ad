import type { Operation, OperationKind } from '../../canonical/operation.ts';
import { unreachable } from '../../lib/assert.ts';
import { isJsonObject, type Json } from '../../lib/json.ts';
import { decodeDecisions, operationOf } from '../../wire/decisions/request-in.ts';
import { decodeEmbeddings } from '../../wire/embeddings/request-in.ts';
import { decodeImage } from '../../wire/image/request-in.ts';
import { decodeRerank } from '../../wire/rerank/request-in.ts';
import { decodeTranscription } from '../../wire/speech-to-text/request-in.ts';
import { decodeSpeech } from '../../wire/text-to-speech/request-in.ts';
import { decodeVideo } from '../../wire/video/request-in.ts';
import { readAudio } from './read-audio.ts';
import type { Admitted } from './route.ts';

/**
 * The kind of a body in JSON that is no generation; `undefined`: it is one.
 * @param modalitiesOf what the model of a name writes, as far as that is known
 */
export function kindOfBody(
  body: Json,
  modalitiesOf: (name: string) => readonly string[] | undefined,
): OperationKind | undefined {
  if (!isJsonObject(body) || body['messages'] !== undefined) return undefined;
  const { model, query, documents, texts, input_audio: audio, prompt, questions } = body;
  if (query !== undefined && (documents !== undefined || texts !== undefined)) return 'rerank';
  if (audio !== undefined) return 'stt';
  const written = typeof model === 'string' ? (modalitiesOf(model) ?? []) : [];
  if (written.includes('decisions') && questions !== undefined) return 'decisions';
  if (written.includes('image') && prompt !== undefined) return 'image';
  if (written.includes('video') && (prompt !== undefined || !written.includes('text'))) return 'video';
  if (written.includes('embeddings')) return 'embeddings';
  return written.includes('speech') ? 'tts' : undefined;
}

/** A body of the kind, as its own route reads it in JSON. @throws GatewayError 400 with `issues` */
export async function decodeOperation(
  kind: OperationKind,
  { body, text, headers }: Pick<Admitted, 'body' | 'text' | 'headers'>,
): Promise<Operation> {
  switch (kind) {
    case 'embeddings':
      return decodeEmbeddings(body, text, headers);
    case 'rerank':
      return decodeRerank(body, text, headers);
    case 'decisions':
      return operationOf(decodeDecisions(body, text, headers));
    case 'image':
      return decodeImage({ body, text, headers, shape: 'gateway', defaultModel: undefined, uploads: [] });
    case 'stt': {
      const audio = await readAudio(body, [], false);
      return decodeTranscription({ body, text, headers, audio, task: 'transcribe', isForm: false });
    }
    case 'tts':
      return decodeSpeech(body, text, headers, { format: 'mp3' });
    case 'video':
      return decodeVideo(body, text, headers, { model: undefined, isForm: false });
    default:
      return unreachable(kind);
  }
}
