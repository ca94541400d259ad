import { Menu as Base } from '@base-ui/react/menu';
import type { ReactElement, ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  readonly onChoose: () => void;
}

/** Actions of a row or a page. */
export function Menu({
  label,
  children,
  items,
}: {
  readonly label: string;
  readonly children: ReactNode;
  readonly items: readonly MenuItem[];
}): ReactElement {
  return (
    <Base.Root>
      <Base.Trigger
        aria-label={label}
        title={label}
        onClick={(event) => event.stopPropagation()}
        className="inline-flex h-7 min-w-7 items-center justify-center gap-1 rounded-md px-1 text-dim hover:bg-hover hover:text-text data-popup-open:bg-hover"
      >
        {children}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner sideOffset={4} align="end" className="z-50">
          <Base.Popup className="min-w-40 rounded-lg border border-line bg-raised p-1 text-text shadow-panel outline-none">
            {items.map(({ label: name, icon, isDangerous = false, isDisabled = false, onChoose }) => (
              <Base.Item
                key={name}
                disabled={isDisabled}
                onClick={(event) => {
                  event.stopPropagation();
                  onChoose();
                }}
                className={`flex h-7 cursor-default items-center gap-2 rounded px-2 outline-none data-disabled:opacity-50 data-highlighted:bg-hover ${isDangerous ? 'text-bad' : ''}`}
              >
                {icon !== undefined && <Icon name={icon} size={14} />}
                {name}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
