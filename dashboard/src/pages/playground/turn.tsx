import type { ReactElement } from 'react';
import type { ChatMessage } from '../../api/chat-stream.ts';
import { isRecord } from '../../api/errors.ts';
import { Markdown } from '../../parts/markdown/markdown.tsx';

/** What is drawn of a picture: data alone, since no page calls another host, and no SVG, which holds more than a picture. */
const SHOWN = /^data:image\/(?:png|jpeg|gif|webp);base64,/;

/** A message of before: the text, and the pictures with it. */
export function Turn({ message }: { readonly message: ChatMessage }): ReactElement {
  const parts = Array.isArray(message.content) ? message.content : [];
  const shown = typeof message.content === 'string' ? message.content : textOfParts(parts);
  if (message.role === 'assistant')
    return shown === '' ? (
      <p className="text-xs text-dim">called {message.tool_calls?.map((call) => call.function.name).join(', ')}</p>
    ) : (
      <Markdown text={shown} />
    );
  return (
    <div
      className={`max-w-[92%] self-end rounded-lg px-3 py-2 break-words whitespace-pre-wrap ${message.role === 'tool' ? 'bg-page font-mono text-xs' : 'bg-chosen'}`}
    >
      {shown}
      <Pictures urls={imagesOfParts(parts)} />
    </div>
  );
}

/** Pictures beside a text; one from another host is its address, and no picture. */
export function Pictures({ urls }: { readonly urls: readonly string[] }): ReactElement | undefined {
  if (urls.length === 0) return undefined;
  return (
    <ul className="flex flex-wrap gap-2">
      {urls.map((url, at) => (
        <li key={at} className="min-w-0">
          {SHOWN.test(url) ? (
            <img
              src={url}
              alt={`${at + 1} of ${urls.length}`}
              className="max-h-64 max-w-full rounded border border-line"
            />
          ) : (
            <span className="text-xs break-all text-dim">a picture at {url.slice(0, 200)}</span>
          )}
        </li>
      ))}
    </ul>
  );
}

function textOfParts(parts: readonly unknown[]): string {
  return parts.map((part) => (isRecord(part) && typeof part['text'] === 'string' ? part['text'] : '')).join('');
}

function imagesOfParts(parts: readonly unknown[]): readonly string[] {
  return parts.flatMap((part) => {
    const image = isRecord(part) ? part['image_url'] : undefined;
    return isRecord(image) && typeof image['url'] === 'string' ? image['url'] : [];
  });
}
