import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactElement, ReactNode } from 'react';
import { IconButton } from './button.tsx';

/** A dialog over the page: Escape closes it, and the focus returns to where it came from. */
export function Dialog({
  title,
  isOpen,
  onClose,
  children,
  width = 'max-w-lg',
}: {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly width?: string;
}): ReactElement {
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/45" />
        <Base.Popup
          data-modal=""
          className={`fixed top-[8vh] left-1/2 z-50 flex max-h-[84vh] w-[calc(100vw-24px)] -translate-x-1/2 flex-col rounded-xl border border-line bg-raised text-text shadow-panel ${width}`}
        >
          <div className="flex items-center justify-between gap-2 border-b border-line py-2 pr-2 pl-4">
            <Base.Title className="text-base font-semibold">{title}</Base.Title>
            <IconButton icon="close" label="Close" onClick={onClose} />
          </div>
          <div className="overflow-y-auto p-4">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** A dialog of its own shape, such as the palette: only its name is read. */
export function BareDialog({
  label,
  isOpen,
  onClose,
  children,
}: {
  readonly label: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/45" />
        <Base.Popup
          data-modal=""
          aria-label={label}
          className="fixed top-[12vh] left-1/2 z-50 flex max-h-[70vh] w-[calc(100vw-24px)] max-w-xl -translate-x-1/2 flex-col overflow-hidden rounded-xl border border-line bg-raised text-text shadow-panel"
        >
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
