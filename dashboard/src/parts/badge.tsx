import type { ReactElement, ReactNode } from 'react';

export type Tone = 'good' | 'warn' | 'bad' | 'dim' | 'accent';

const SOFT: Readonly<Record<Tone, string>> = {
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  dim: 'bg-hover text-dim',
  accent: 'bg-chosen text-accent',
};
const TEXT: Readonly<Record<Tone, string>> = {
  good: 'text-good',
  warn: 'text-warn',
  bad: 'text-bad',
  dim: 'text-dim',
  accent: 'text-accent',
};

/** A state: always a word, the colour only underlines it. */
export function Badge({
  tone = 'dim',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <span
      className={`inline-flex items-center gap-1 rounded px-1.5 text-xs leading-[18px] font-medium whitespace-nowrap ${SOFT[tone]}`}
    >
      {children}
    </span>
  );
}

/** A dot before a word. */
export function Dot({ tone, isLive = false }: { readonly tone: Tone; readonly isLive?: boolean }): ReactElement {
  return (
    <span aria-hidden="true" className={`${TEXT[tone]} inline-block`}>
      <span
        className={`mr-1.5 inline-block size-1.5 rounded-full bg-current align-middle ${isLive ? 'animate-[pulse-dot_2s_infinite]' : ''}`}
      />
    </span>
  );
}

/** An HTTP status in its colour. */
export function Status({ status }: { readonly status: number | null | undefined }): ReactElement {
  if (status === null || status === undefined) return <span className="text-dim">–</span>;
  const tone: Tone = status < 400 ? 'good' : status === 429 || status < 500 ? 'warn' : 'bad';
  return <span className={`font-mono text-xs font-semibold ${TEXT[tone]}`}>{status}</span>;
}

/** How much of a limit is used, as a bar with its text beside it. */
export function Meter({
  used,
  limit,
  label,
  isProgress = false,
}: {
  readonly used: number;
  readonly limit: number;
  readonly label: string;
  /** Its end is what is wanted, and no warning. */
  readonly isProgress?: boolean;
}): ReactElement {
  const share = limit <= 0 ? 1 : Math.min(1, used / limit);
  const tone: Tone = isProgress || share < 0.8 ? 'accent' : share >= 1 ? 'bad' : 'warn';
  return (
    <span
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={limit}
      aria-valuenow={Math.min(used, limit)}
      className={`inline-block h-1.5 w-20 overflow-hidden rounded-full bg-line align-middle ${TEXT[tone]}`}
    >
      <svg width="100%" height="100%" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect width={share * 100} height="4" fill="currentColor" />
      </svg>
    </span>
  );
}
