import type { ReactElement } from 'react';
import { Button } from './button.tsx';
import { Empty } from './states.tsx';

/** Rows exist, and none passes the filters: each can be dropped alone. */
export function NothingMatches({
  what,
  filters,
}: {
  readonly what: string;
  readonly filters: readonly { readonly name: string; readonly onDrop: () => void }[];
}): ReactElement {
  return (
    <Empty
      title={`No ${what} matches ${filters.length === 1 ? 'this filter' : `these ${filters.length} filters`}.`}
      action={filters.map(({ name, onDrop }) => (
        <Button key={name} icon="close" onClick={onDrop}>
          {name}
        </Button>
      ))}
    />
  );
}
