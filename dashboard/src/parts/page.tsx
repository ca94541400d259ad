import type { ReactElement, ReactNode } from 'react';
import { useEffect, useRef } from 'react';
import { ApiCalls } from './api-calls.tsx';

/** The frame of a page: title with its actions, a bar of filters, the content. The focus lands on the title after navigation. */
export function Page({
  title,
  documentTitle,
  lead,
  actions,
  bar,
  children,
  isFilled = false,
}: {
  readonly title: ReactNode;
  /** Of the tab, where the title is more than a text. */
  readonly documentTitle?: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly bar?: ReactNode;
  readonly children: ReactNode;
  /** The content is a grid that scrolls itself. */
  readonly isFilled?: boolean;
}): ReactElement {
  const heading = useRef<HTMLHeadingElement>(null);
  const name = documentTitle ?? (typeof title === 'string' ? title : 'Model Gateway');
  useEffect(() => {
    document.title = `${name} · Model Gateway`;
  }, [name]);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <div className={`flex min-h-0 flex-col ${isFilled ? 'h-full' : 'min-h-full'}`}>
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-surface px-4 py-2">
        <div className="flex min-w-0 flex-1 basis-48 flex-wrap items-baseline gap-x-3">
          <h1 ref={heading} tabIndex={-1} className="flex min-w-0 items-center gap-2 text-base font-semibold">
            {title}
          </h1>
          {lead !== undefined && <div className="min-w-0 text-dim">{lead}</div>}
        </div>
        <div className="flex flex-wrap items-center gap-1.5">
          {actions}
          <ApiCalls />
        </div>
      </header>
      {bar !== undefined && (
        <div className="flex flex-wrap items-center gap-2 border-b border-line bg-surface px-4 py-1.5">{bar}</div>
      )}
      <div className={isFilled ? 'flex min-h-0 flex-1 flex-col' : 'flex-1'}>{children}</div>
    </div>
  );
}

/** A part of a page under a heading of its own. */
export function Section({
  title,
  actions,
  children,
  isFlush = false,
}: {
  readonly title: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly isFlush?: boolean;
}): ReactElement {
  return (
    <section className="min-w-0 border-b border-line bg-surface">
      <div className="flex min-h-9 flex-wrap items-center justify-between gap-2 px-4 pt-2">
        <h2 className="text-xs font-semibold tracking-wide text-dim uppercase">{title}</h2>
        <div className="flex items-center gap-1.5">{actions}</div>
      </div>
      <div className={isFlush ? 'pb-1' : 'px-4 pt-1 pb-3'}>{children}</div>
    </section>
  );
}

/** One figure with what it means. */
export function Stat({
  label,
  children,
  hint,
}: {
  readonly label: string;
  readonly children: ReactNode;
  readonly hint?: ReactNode;
}): ReactElement {
  return (
    <div className="flex min-w-28 flex-col gap-0.5 px-4 py-2.5">
      <dt className="text-xs text-dim">{label}</dt>
      <dd className="text-[19px] leading-6 font-semibold tracking-tight">{children}</dd>
      {hint !== undefined && <dd className="text-xs text-dim">{hint}</dd>}
    </div>
  );
}

export function Stats({ children }: { readonly children: ReactNode }): ReactElement {
  return (
    <dl className="grid grid-cols-2 border-b border-line bg-surface sm:flex sm:flex-wrap sm:divide-x sm:divide-line">
      {children}
    </dl>
  );
}

/** Names and values, two columns. */
export function Facts({ of }: { readonly of: readonly (readonly [string, ReactNode])[] }): ReactElement {
  return (
    <dl className="grid grid-cols-[minmax(96px,max-content)_minmax(0,1fr)] gap-x-4 gap-y-1">
      {of.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-dim">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
