import { isRecord } from '../../../api/errors.ts';
import type { ChatMessage } from '../../../api/generation/response.ts';

/** The text of a message, its parts joined. */
export function textOfContent(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .map((part) => (isRecord(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');
}

/** The addresses of the pictures of a message. */
export function imagesOfContent(content: ChatMessage['content']): readonly string[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) => {
    const image = isRecord(part) ? part['image_url'] : undefined;
    return isRecord(image) && typeof image['url'] === 'string' ? image['url'] : [];
  });
}

export function toUserMessage(text: string, images: readonly string[]): ChatMessage {
  if (images.length === 0) return { role: 'user', content: text };
  return {
    role: 'user',
    content: [{ type: 'text', text }, ...images.map((url) => ({ type: 'image_url', image_url: { url } }))],
  };
}
