import type { ReactElement, ReactNode } from 'react';
import { To } from './button.tsx';

export interface RankedRow {
  readonly name: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly value: number;
  readonly text: ReactNode;
  readonly note?: ReactNode;
}

/** A short list with a bar behind each figure. Every row is a link. */
export function Ranked({ rows, empty }: { readonly rows: readonly RankedRow[]; readonly empty: string }): ReactElement {
  const most = Math.max(...rows.map(({ value }) => value), 0);
  if (rows.length === 0) return <p className="py-2 text-dim">{empty}</p>;
  return (
    <ul>
      {rows.map(({ name, to, search, value, text, note }) => (
        <li key={`${name} ${to}`} className="relative">
          <svg
            aria-hidden="true"
            width="100%"
            height="100%"
            viewBox="0 0 100 1"
            preserveAspectRatio="none"
            className="absolute inset-0 text-hover"
          >
            <rect width={most === 0 ? 0 : (value / most) * 100} height="1" fill="currentColor" />
          </svg>
          <To
            to={to}
            {...(search !== undefined && { search })}
            className="relative flex h-7 items-center gap-3 rounded px-2 hover:underline"
          >
            <span className="min-w-0 flex-1 truncate">{name}</span>
            {note !== undefined && <span className="text-xs text-dim">{note}</span>}
            <span className="font-mono text-xs">{text}</span>
          </To>
        </li>
      ))}
    </ul>
  );
}
