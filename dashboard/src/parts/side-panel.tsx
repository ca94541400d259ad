import type { ReactElement, ReactNode } from 'react';
import { Button, IconButton } from './button.tsx';
import { Grid, type Column } from './grid.tsx';
import { Name } from './text.tsx';
import { useHotkeys } from './hotkeys.ts';

/** A panel beside a list, for the row that is peeked at: Escape closes it, `[` and `]` go through the filtered list. */
export function SidePanel({
  title,
  onClose,
  onPrevious,
  onNext,
  onOpen,
  children,
}: {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly onPrevious?: (() => void) | undefined;
  readonly onNext?: (() => void) | undefined;
  readonly onOpen?: () => void;
  readonly children: ReactNode;
}): ReactElement {
  useHotkeys({
    Escape: onClose,
    ...(onPrevious !== undefined && { '[': onPrevious }),
    ...(onNext !== undefined && { ']': onNext }),
  });
  return (
    <aside
      aria-label="Details"
      className="flex min-h-0 w-[480px] max-w-full shrink-0 flex-col border-l border-line bg-surface max-lg:fixed max-lg:inset-x-0 max-lg:top-11 max-lg:bottom-0 max-lg:z-10 max-lg:w-full"
    >
      <div className="flex items-center gap-1 border-b border-line py-1 pr-1 pl-4">
        <h2 className="min-w-0 flex-1 truncate font-semibold">{title}</h2>
        {onPrevious !== undefined && (
          <IconButton icon="chevron" label="Previous row ([)" className="rotate-180" onClick={onPrevious} />
        )}
        {onNext !== undefined && <IconButton icon="chevron" label="Next row (])" onClick={onNext} />}
        {onOpen !== undefined && <IconButton icon="external" label="Open as a page" onClick={onOpen} />}
        <IconButton icon="close" label="Close (Esc)" onClick={onClose} />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto">{children}</div>
    </aside>
  );
}

/** A list with the panel of the row that is peeked at beside it, and a button that reads older rows. */
export function PeekedList<Row extends { readonly id: string }>({
  label,
  columns,
  rows,
  total,
  peek,
  onPeek,
  onMore,
  nameOf,
  children,
}: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly total: number;
  readonly peek: string;
  readonly onPeek: (id: string | undefined) => void;
  /** Undefined: all are read. */
  readonly onMore: (() => void) | undefined;
  readonly nameOf: (row: Row) => string;
  /** What the panel shows of a row. */
  readonly children: (row: Row) => ReactNode;
}): ReactElement {
  const at = rows.findIndex(({ id }) => id === peek);
  const row = rows[at];
  const goTo = (index: number): (() => void) | undefined => {
    const other = rows[index];
    return other === undefined ? undefined : () => onPeek(other.id);
  };
  return (
    <div className="flex min-h-0 flex-1">
      <Grid
        label={label}
        columns={columns}
        rows={rows}
        total={total}
        keyOf={({ id }) => id}
        chosen={peek}
        onPeek={({ id }) => onPeek(id)}
        foot={
          onMore === undefined ? undefined : (
            <div className="p-3">
              <Button onClick={onMore}>Load older</Button>
            </div>
          )
        }
      />
      {row !== undefined && (
        <SidePanel
          title={<Name>{nameOf(row)}</Name>}
          onClose={() => onPeek(undefined)}
          onPrevious={goTo(at - 1)}
          onNext={goTo(at + 1)}
        >
          {children(row)}
        </SidePanel>
      )}
    </div>
  );
}
