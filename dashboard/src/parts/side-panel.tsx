import type { ReactElement, ReactNode } from 'react';
import { IconButton } from './button.tsx';
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
