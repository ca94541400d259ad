import {
  useState,
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
} from 'react';
import { Button, Kbd } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';

const IMAGE_BYTES_MAX = 8_000_000;
const IMAGES_MAX = 8;
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Where the next message is written: Enter sends, Shift Enter breaks the line, pictures are dropped or pasted. */
export function Composer({
  isRunning,
  problem,
  renderNote,
  onSend,
  onStop,
}: {
  readonly isRunning: boolean;
  /** Why nothing can be sent now. */
  readonly problem: string | undefined;
  /** What is said of a message before it is sent. */
  readonly renderNote: (text: string, images: number) => ReactNode;
  readonly onSend: (text: string, images: readonly string[]) => void;
  readonly onStop: () => void;
}): ReactElement {
  const [text, setText] = useState('');
  const [images, setImages] = useState<readonly string[]>([]);
  const canSend = !isRunning && problem === undefined;
  const send = (): void => {
    if (!canSend || (text.trim() === '' && images.length === 0)) return;
    onSend(text, images);
    setText('');
    setImages([]);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const take = async (files: FileList): Promise<void> => {
    const good = [...files].filter(({ type, size }) => IMAGE_TYPES.has(type) && size <= IMAGE_BYTES_MAX);
    const urls = await Promise.all(good.map(toDataUrl));
    setImages((before) => [...before, ...urls].slice(0, IMAGES_MAX));
  };
  return (
    <div
      className="border-t border-line bg-surface p-3"
      onDragOver={(event: DragEvent) => event.preventDefault()}
      onDrop={(event: DragEvent) => {
        event.preventDefault();
        void take(event.dataTransfer.files);
      }}
    >
      {images.length > 0 && (
        <Images images={images} onDrop={(at) => setImages(images.filter((_, other) => other !== at))} />
      )}
      {problem !== undefined && (
        <p role="alert" className="mb-2 text-bad">
          Nothing is sent until the settings are valid. {problem}
        </p>
      )}
      <div className="flex items-end gap-2 max-sm:flex-wrap">
        <textarea
          aria-label="Message"
          data-filter=""
          rows={Math.min(8, Math.max(2, text.split('\n').length))}
          value={text}
          placeholder="Message. Enter sends; pictures can be dropped here."
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={(event: ClipboardEvent) =>
            event.clipboardData.files.length > 0 && void take(event.clipboardData.files)
          }
          className="min-h-14 flex-1 resize-none rounded-lg border border-strong-line bg-page px-3 py-2 text-base placeholder:text-dim"
        />
        {isRunning ? (
          <Button icon="stop" onClick={onStop} className="h-9">
            Stop all <Kbd>Ctrl .</Kbd>
          </Button>
        ) : (
          <Button look="primary" icon="send" onClick={send} disabled={!canSend} className="h-9">
            Send
          </Button>
        )}
      </div>
      <div className="mt-1 flex min-h-4 flex-wrap gap-x-4">{renderNote(text, images.length)}</div>
    </div>
  );
}

function Images({
  images,
  onDrop,
}: {
  readonly images: readonly string[];
  readonly onDrop: (at: number) => void;
}): ReactElement {
  return (
    <ul className="mb-2 flex flex-wrap gap-2">
      {images.map((url, at) => (
        <li key={url.slice(-40)} className="relative">
          <img src={url} alt={`Attached ${at + 1}`} className="size-14 rounded border border-line object-cover" />
          <button
            type="button"
            aria-label={`Take picture ${at + 1} away`}
            onClick={() => onDrop(at)}
            className="absolute -top-2 -right-2 inline-flex size-7 items-center justify-center rounded-full border border-line bg-raised"
          >
            <Icon name="close" size={12} />
          </button>
        </li>
      ))}
    </ul>
  );
}

function toDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(typeof reader.result === 'string' ? reader.result : ''));
    reader.addEventListener('error', () => reject(new Error(`${file.name} could not be read.`)));
    reader.readAsDataURL(file);
  });
}
