import { useEffect, useRef, useState, type ReactElement } from 'react';
import { Icon } from './icon.tsx';

const SETTLE_MS = 200;

/** The filter of a page: `/` goes to it, Escape leaves it, and what is typed goes into the address once it rests. */
export function FilterBox({
  value,
  onChange,
  placeholder,
  label = 'Filter',
}: {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder: string;
  readonly label?: string;
}): ReactElement {
  const [text, setText] = useState(value);
  const change = useRef(onChange);
  useEffect(() => {
    change.current = onChange;
  });
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    // A page that renders meanwhile, with a new function each time, does not begin the wait anew.
    const timer = setTimeout(() => change.current(text), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <label className="flex h-7 min-w-40 flex-1 items-center gap-1.5 rounded-md border border-line bg-page px-2 text-dim focus-within:border-accent sm:max-w-md">
      <Icon name="search" size={14} />
      <span className="sr-only">{label}</span>
      <input
        data-filter=""
        type="search"
        value={text}
        placeholder={placeholder}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
        className="h-full min-w-0 flex-1 bg-transparent text-text outline-none placeholder:text-dim"
      />
    </label>
  );
}

/** Whether a text holds every word of a filter. */
export function matches(filter: string, ...texts: readonly (string | null | undefined)[]): boolean {
  const all = texts.join(' ').toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
