import { useState, type ReactElement } from 'react';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';

const SHOWN_MS = 1_500;

/** Copies a text, and says so where it was pressed. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }): ReactElement {
  const [isDone, setIsDone] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setIsDone(true);
    setTimeout(() => setIsDone(false), SHOWN_MS);
  };
  return <IconButton icon={isDone ? 'check' : 'copy'} label={isDone ? 'Copied' : label} onClick={() => void copy()} />;
}

/** An id with its middle cut and a button that copies all of it. */
export function Id({ id, length = 14 }: { readonly id: string; readonly length?: number }): ReactElement {
  const half = Math.floor(length / 2);
  const text = id.length <= length + 1 ? id : `${id.slice(0, half)}…${id.slice(-half)}`;
  return (
    <span className="inline-flex items-center gap-0.5 font-mono text-xs" title={id}>
      {text}
      <CopyInline text={id} />
    </span>
  );
}

function CopyInline({ text }: { readonly text: string }): ReactElement {
  return (
    <button
      type="button"
      aria-label={`Copy ${text}`}
      onClick={(event) => {
        event.stopPropagation();
        void navigator.clipboard.writeText(text);
      }}
      className="inline-flex size-7 items-center justify-center rounded text-dim hover:bg-hover hover:text-text"
    >
      <Icon name="copy" size={12} />
    </button>
  );
}

/** A text to be copied as it stands: a command, a body, a snippet. */
export function CodeBlock({
  text,
  label,
  isWrapped = false,
}: {
  readonly text: string;
  readonly label: string;
  readonly isWrapped?: boolean;
}): ReactElement {
  return (
    <div className="relative rounded-md border border-line bg-page text-left">
      <pre
        tabIndex={0}
        aria-label={label}
        className={`max-h-96 overflow-auto p-3 pr-10 font-mono text-xs leading-[18px] ${isWrapped ? 'whitespace-pre-wrap break-words' : ''}`}
      >
        {text}
      </pre>
      <div className="absolute top-1 right-1 rounded-md bg-page">
        <CopyButton text={text} label={`Copy: ${label}`} />
      </div>
    </div>
  );
}
