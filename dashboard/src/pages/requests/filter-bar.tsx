import { useState, type ReactElement } from 'react';
import { Icon } from '../../parts/icon.tsx';
import type { ChangeSearch } from '../../parts/search.ts';
import { FILTER_NAMES, parseTyped, type RequestsSearch } from './search.ts';

/** Filters are typed, and are chips once they hold: each is a parameter of the address. */
export function FilterBar({
  filters,
  onChange,
}: {
  readonly filters: RequestsSearch['filters'];
  readonly onChange: ChangeSearch;
}): ReactElement {
  const [text, setText] = useState('');
  return (
    <>
      <form
        className="flex h-7 min-w-48 flex-1 items-center gap-1.5 rounded-md border border-line bg-page px-2 text-dim focus-within:border-accent sm:max-w-lg"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') onChange(parseTyped(text));
          setText('');
        }}
      >
        <Icon name="search" size={14} />
        <input
          data-filter=""
          aria-label="Filter requests, such as status:error model:acme/* cost>0.01"
          placeholder="status:error model:acme/* cost>0.01 session:cart-17"
          list="request-filters"
          value={text}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => setText(event.target.value)}
          className="h-full min-w-0 flex-1 bg-transparent text-text outline-none placeholder:text-dim"
        />
        <datalist id="request-filters">
          {FILTER_NAMES.map((name) => (
            <option key={name} value={`${name}:`} />
          ))}
        </datalist>
      </form>
      <Chip
        name="errors"
        isOn={filters.some(({ name, value }) => name === 'status' && value === 'error')}
        onToggle={(isOn) => onChange({ status: isOn ? 'error' : undefined })}
      />
      {filters
        .filter(({ name, value }) => name !== 'status' || value !== 'error')
        .map(({ name, value }) => (
          <span key={name} className="inline-flex h-7 items-center gap-1 rounded-md bg-chosen pl-2 text-xs">
            <span className="text-dim">{name}</span> <span className="max-w-40 truncate font-medium">{value}</span>
            <button
              type="button"
              aria-label={`Drop the filter ${name}`}
              onClick={() => onChange({ [name]: undefined })}
              className="inline-flex size-7 items-center justify-center rounded hover:text-accent"
            >
              <Icon name="close" size={12} />
            </button>
          </span>
        ))}
    </>
  );
}

function Chip({
  name,
  isOn,
  onToggle,
}: {
  readonly name: string;
  readonly isOn: boolean;
  readonly onToggle: (isOn: boolean) => void;
}): ReactElement {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onClick={() => onToggle(!isOn)}
      className="h-7 rounded-md border border-line px-2 text-xs text-dim hover:text-text aria-pressed:border-bad aria-pressed:bg-bad-soft aria-pressed:text-bad"
    >
      {name}
    </button>
  );
}
