import { useState, type KeyboardEvent, type ReactElement } from 'react';
import type { ChatMessage } from '../../api/generation/response.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Markdown } from '../../parts/markdown/markdown.tsx';
import { imagesOfContent, textOfContent } from './request/content.ts';

/** What is drawn of a picture: data alone, since no page calls another host, and no SVG, which holds more than a picture. */
const SHOWN = /^data:image\/(?:png|jpeg|gif|webp);base64,/;

/** A message of before: the text, and the pictures with it. */
export function Turn({
  message,
  onEdit,
}: {
  readonly message: ChatMessage;
  /** Asks again from here with another text. */
  readonly onEdit: ((text: string) => void) | undefined;
}): ReactElement {
  const [isEdited, setIsEdited] = useState(false);
  const shown = textOfContent(message.content);
  if (message.role === 'assistant')
    return shown === '' ? (
      <p className="text-xs text-dim">called {message.tool_calls?.map((call) => call.function.name).join(', ')}</p>
    ) : (
      <Markdown text={shown} />
    );
  if (isEdited && onEdit !== undefined)
    return (
      <Edit
        text={shown}
        onCancel={() => setIsEdited(false)}
        onSend={(text) => {
          setIsEdited(false);
          onEdit(text);
        }}
      />
    );
  return (
    <div className="flex max-w-[92%] items-start gap-1 self-end">
      {onEdit !== undefined && message.role === 'user' && (
        <IconButton icon="edit" label="Edit this message" onClick={() => setIsEdited(true)} />
      )}
      <div
        className={`min-w-0 rounded-lg px-3 py-2 break-words whitespace-pre-wrap ${message.role === 'tool' ? 'bg-page font-mono text-xs' : 'bg-chosen'}`}
      >
        {shown}
        <Pictures urls={imagesOfContent(message.content)} />
      </div>
    </div>
  );
}

function Edit({
  text: before,
  onCancel,
  onSend,
}: {
  readonly text: string;
  readonly onCancel: () => void;
  readonly onSend: (text: string) => void;
}): ReactElement {
  const [text, setText] = useState(before);
  const canSend = text.trim() !== '';
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onCancel();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (canSend) onSend(text);
  };
  return (
    <div className="flex flex-col gap-2 rounded-lg border border-line p-2">
      <TextArea
        label="Edited message"
        hint="What followed it is replaced; going back in the browser shows it again."
        autoFocus
        rows={Math.min(10, Math.max(2, text.split('\n').length))}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button look="primary" icon="send" disabled={!canSend} onClick={() => onSend(text)}>
          Send again
        </Button>
      </div>
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
