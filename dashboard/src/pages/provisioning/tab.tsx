import type { ReactElement, ReactNode } from 'react';
import { NothingMatches } from '../../parts/nothing-matches.tsx';

/** Of each tab that is a list. */
export interface TabProps {
  readonly filter: string;
  readonly peek: string;
  readonly onPeek: (id: string | undefined) => void;
  readonly onFilter: (filter: string) => void;
}

/** A list and the panel beside it; or why there are no rows. */
export function Listed({
  what,
  total,
  found,
  filter,
  onFilter,
  empty,
  children,
}: Pick<TabProps, 'filter' | 'onFilter'> & {
  readonly what: string;
  /** Without the filter. */
  readonly total: number;
  readonly found: number;
  readonly empty: ReactElement;
  readonly children: ReactNode;
}): ReactElement {
  if (total === 0) return empty;
  if (found === 0) return <NothingMatches what={what} filters={[{ name: filter, onDrop: () => onFilter('') }]} />;
  return <div className="flex min-h-0 flex-1">{children}</div>;
}
