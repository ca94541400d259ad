import { Link } from '@tanstack/react-router';
import type { ButtonHTMLAttributes, ReactElement, ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

type Look = 'plain' | 'primary' | 'danger' | 'quiet';

const LOOKS: Readonly<Record<Look, string>> = {
  plain: 'border border-line bg-surface hover:bg-hover text-text',
  primary: 'border border-transparent bg-accent-solid text-white hover:brightness-110',
  danger: 'border border-transparent bg-bad-solid text-white hover:brightness-110',
  quiet: 'border border-transparent text-dim hover:bg-hover hover:text-text',
};
const SHAPE =
  'inline-flex h-7 items-center justify-center gap-1.5 whitespace-nowrap rounded-md px-2.5 text-sm font-medium disabled:opacity-50 disabled:pointer-events-none';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: Look;
  readonly icon?: IconName;
  /** The key that does the same, shown beside. */
  readonly hotkey?: string;
  readonly children?: ReactNode;
}

export function Button({ look = 'plain', icon, hotkey, children, className = '', ...rest }: ButtonProps): ReactElement {
  return (
    <button type="button" {...rest} className={`${SHAPE} ${LOOKS[look]} ${className}`}>
      {icon !== undefined && <Icon name={icon} size={14} />}
      {children}
      {hotkey !== undefined && <Kbd>{hotkey}</Kbd>}
    </button>
  );
}

/** A button that shows a picture alone: its name is read aloud and shown on hover. */
export function IconButton({
  icon,
  label,
  look = 'quiet',
  className = '',
  ...rest
}: Omit<ButtonProps, 'children'> & { readonly icon: IconName; readonly label: string }): ReactElement {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      className={`inline-flex size-7 shrink-0 items-center justify-center rounded-md ${LOOKS[look]} ${className}`}
    >
      <Icon name={icon} />
    </button>
  );
}

/** A link that looks like a button. */
export function LinkButton({
  to,
  search = {},
  look = 'plain',
  icon,
  children,
}: {
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly look?: Look;
  readonly icon?: IconName;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <Link to={to} search={search} className={`${SHAPE} ${LOOKS[look]}`}>
      {icon !== undefined && <Icon name={icon} size={14} />}
      {children}
    </Link>
  );
}

/** A link inside the dashboard. */
export function To({
  to,
  search = {},
  children,
  className = 'text-accent underline decoration-current/40 underline-offset-2 hover:decoration-current',
}: {
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly children: ReactNode;
  readonly className?: string;
}): ReactElement {
  return (
    <Link to={to} search={search} className={className}>
      {children}
    </Link>
  );
}

export function Kbd({ children }: { readonly children: ReactNode }): ReactElement {
  return (
    <kbd className="hidden rounded border border-current/30 px-1 font-sans text-[10.5px] leading-4 font-normal sm:inline-block">
      {children}
    </kbd>
  );
}
