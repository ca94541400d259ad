import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, useState, type KeyboardEvent, type ReactElement, type ReactNode, type RefObject } from 'react';
import { useHotkeys } from './hotkeys.ts';

/** A column. The first is the name of its row for screen readers. */
export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  /** Of the column in pixels; one that grows takes what is left. */
  readonly width: number;
  readonly grows?: boolean;
  readonly align?: 'right';
  readonly cell: (row: Row) => ReactNode;
}

interface GridProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Enter, or a click. */
  readonly onOpen?: (row: Row) => void;
  /** Space. */
  readonly onPeek?: (row: Row) => void;
  /** The row whose panel is open. */
  readonly chosen?: string | undefined;
  /** Of the whole list, where it is known. */
  readonly total?: number;
  /** Below the last row: how far was looked, and more. */
  readonly foot?: ReactNode;
  readonly className?: string;
}

const ROW_PX = 28;
const OVERSCAN = 12;

/**
 * Rows of one height, of which those in sight are in the document. One tab stop; arrows, `j` and `k` move, Enter opens, Space
 * peeks.
 */
export function Grid<Row>(props: GridProps<Row>): ReactElement {
  const { label, columns, rows, keyOf, onOpen, onPeek, chosen, total, foot, className = '' } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
  });
  const { active, setActive, onKeyDown } = useGridKeys(props, scroller, (index) => virtualizer.scrollToIndex(index));
  const template = columns
    .map(({ width, grows }) => (grows === true ? `minmax(${width}px, 1fr)` : `${width}px`))
    .join(' ');
  const minWidth = columns.reduce((sum, { width }) => sum + width, 0) + 24;
  const press = (index: number, row: Row): void => {
    setActive(index);
    (onPeek ?? onOpen)?.(row);
  };
  return (
    <div
      ref={scroller}
      role="grid"
      aria-label={label}
      aria-rowcount={(total ?? rows.length) + 1}
      aria-colcount={columns.length}
      aria-activedescendant={rows.length > 0 ? `row-${active}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      className={`group/grid min-h-0 flex-1 overflow-auto bg-surface focus-visible:outline-offset-[-2px] ${className}`}
    >
      <div role="presentation" style={{ width: 'max-content', minWidth: `max(100%, ${minWidth}px)` }}>
        <Head columns={columns} template={template} />
        <div role="rowgroup" className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return undefined;
            const key = keyOf(row);
            const looks = { index, top: start, template, isActive: index === active, isChosen: chosen === key };
            return (
              <GridRow
                key={key}
                {...looks}
                columns={columns}
                row={row}
                onPress={() => press(index, row)}
                isPressable={onOpen !== undefined || onPeek !== undefined}
              />
            );
          })}
        </div>
      </div>
      {foot !== undefined && (
        // A grid owns rows alone, so that a screen reader finds what stands below the last one.
        <div role="rowgroup">
          <div role="row">
            <div role="gridcell" aria-colindex={1} aria-colspan={columns.length}>
              {foot}
            </div>
          </div>
        </div>
      )}
    </div>
  );
}

interface GridKeys {
  readonly active: number;
  readonly setActive: (index: number) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

function useGridKeys<Row>(
  { rows, onOpen, onPeek }: GridProps<Row>,
  scroller: RefObject<HTMLDivElement | null>,
  show: (index: number) => void,
): GridKeys {
  const [active, setActive] = useState(0);
  const move = (to: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setActive(next);
    show(next);
  };
  const act = (action: ((row: Row) => void) | undefined): void => {
    const row = rows[active];
    if (row !== undefined) action?.(row);
  };
  useHotkeys({ j: () => move(active + 1), k: () => move(active - 1) });
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_PX) - 2);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -rows.length,
      End: rows.length,
    };
    const step = steps[event.key];
    if (step !== undefined) move(active + step);
    else if (event.key === 'Enter') act(onOpen ?? onPeek);
    else if (event.key === ' ') act(onPeek ?? onOpen);
    else return;
    event.preventDefault();
  };
  return { active, setActive, onKeyDown };
}

function Head<Row>({
  columns,
  template,
}: {
  readonly columns: readonly Column<Row>[];
  readonly template: string;
}): ReactElement {
  return (
    <div role="rowgroup" className="sticky top-0 z-10">
      <div
        role="row"
        aria-rowindex={1}
        className="grid h-7 items-center border-b border-line bg-surface px-3 text-xs font-medium text-dim"
        style={{ gridTemplateColumns: template }}
      >
        {columns.map(({ id, title, align }) => (
          <span key={id} role="columnheader" className={`truncate pr-3 ${align === 'right' ? 'text-right' : ''}`}>
            {title}
          </span>
        ))}
      </div>
    </div>
  );
}

interface GridRowProps<Row> {
  readonly index: number;
  readonly top: number;
  readonly template: string;
  readonly columns: readonly Column<Row>[];
  readonly row: Row;
  readonly isActive: boolean;
  readonly isChosen: boolean;
  readonly isPressable: boolean;
  readonly onPress: () => void;
}

function GridRow<Row>({
  index,
  top,
  template,
  columns,
  row,
  isActive,
  isChosen,
  isPressable,
  onPress,
}: GridRowProps<Row>): ReactElement {
  const looks = isChosen ? 'bg-chosen' : 'hover:bg-hover';
  // The keys of the row are those of the grid, which holds the focus.
  return (
    <div
      id={`row-${index}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      onClick={onPress}
      className={`absolute right-0 left-0 grid items-center border-b border-line/60 px-3 ${looks} ${isPressable ? 'cursor-pointer' : ''} ${isActive ? 'group-focus-visible/grid:shadow-[inset_2px_0_0_var(--color-accent)]' : ''}`}
      style={{ height: ROW_PX, transform: `translateY(${top}px)`, gridTemplateColumns: template }}
    >
      {columns.map(({ id, align, cell }) => (
        <span key={id} role="gridcell" className={`truncate pr-3 ${align === 'right' ? 'text-right' : ''}`}>
          {cell(row)}
        </span>
      ))}
    </div>
  );
}
