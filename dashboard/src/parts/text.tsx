import { useEffect, useState, type ReactElement, type ReactNode } from 'react';
import { formatNanoUsd, formatUsd } from './money.ts';
import { formatRelative, formatMoment } from './time.ts';

const TICK_MS = 15_000;

/** Money: six decimals, all nine on hover. */
export function Money({
  usd,
  atLeast = false,
  places,
}: {
  readonly usd: number | null | undefined;
  readonly atLeast?: boolean;
  readonly places?: number;
}): ReactElement {
  if (usd === null || usd === undefined) return <span className="text-dim">unknown</span>;
  return (
    <span className="font-mono text-xs" title={`${formatNanoUsd(usd)} USD`}>
      {formatUsd(usd, { atLeast, ...(places !== undefined && { places }) })}
    </span>
  );
}

/** A moment: relative, the moment itself on hover. */
export function Ago({ at }: { readonly at: string | number | null | undefined }): ReactElement {
  const nowMs = useNow();
  if (at === null || at === undefined) return <span className="text-dim">never</span>;
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <span className="text-dim">–</span>;
  return (
    <time dateTime={date.toISOString()} title={formatMoment(date)} className="whitespace-nowrap">
      {formatRelative(date, nowMs)}
    </time>
  );
}

/** The clock, a few times a minute. */
export function useNow(): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}

/** Characters that reorder or hide text, shown as what they are. */
const HIDDEN = /[\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u061C\u00AD]/u;

/** A name, id or title from outside: hidden characters become marks, so that no name looks like another. */
export function Name({ children }: { readonly children: string }): ReactNode {
  if (!HIDDEN.test(children)) return children;
  return Array.from(children, (character, at) =>
    HIDDEN.test(character) ? (
      <span key={at} className="rounded bg-warn-soft px-0.5 font-mono text-[10px] text-warn">
        U+{character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}
      </span>
    ) : (
      character
    ),
  );
}
