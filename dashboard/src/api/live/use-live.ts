import { useCallback, useEffect, useRef, useState } from 'react';
import { useConsole } from '../session.ts';
import { canFilterLive, COUNTS_ALONE } from './filters.ts';
import type { LiveCounts, LiveFilters } from './messages.ts';
import { forgetGap, NO_TAIL, resumeTail, takeMessage, type Tail } from './tail.ts';
import { canWatchLive, watchLive } from './watch.ts';

export interface LiveTail {
  /** `undefined`: this browser, or these filters, allow no live view. */
  readonly tail: Tail | undefined;
  readonly resume: () => void;
  readonly forgetGap: () => void;
}

/** Rows as they happen, while it is on. */
export function useLiveTail(filters: LiveFilters, isOn: boolean, isPaused: boolean): LiveTail {
  const [tail, setTail] = useState(NO_TAIL);
  const paused = useRef(isPaused);
  useEffect(() => void (paused.current = isPaused), [isPaused]);
  const isPossible = canWatchLive() && canFilterLive(filters);
  const text = JSON.stringify(filters);
  const sessionId = useConsole().session?.id;
  useEffect(() => {
    setTail(NO_TAIL);
    if (!isOn || !isPossible) return undefined;
    // eslint-disable-next-line typescript/no-unsafe-type-assertion
    return watchLive(JSON.parse(text) as LiveFilters, (message) =>
      setTail((before) => takeMessage(before, message, paused.current, Date.now())),
    );
  }, [isOn, isPossible, text, sessionId]);
  return {
    tail: isOn && isPossible ? tail : undefined,
    resume: useCallback(() => setTail(resumeTail), []),
    forgetGap: useCallback(() => setTail(forgetGap), []),
  };
}

/** Rates over the last seconds. */
export interface LiveRates {
  readonly requests: number;
  readonly errors: number;
  readonly usd: number;
  /** More happened than was counted. */
  readonly isSampled: boolean;
}

const SECONDS = 10;

/** How much happens each second; `undefined`: it is not known. Of all that the session sees. */
export function useLiveRates(isOn: boolean): LiveRates | undefined {
  const [counts, setCounts] = useState<readonly LiveCounts[]>([]);
  const sessionId = useConsole().session?.id;
  useEffect(() => {
    setCounts([]);
    if (!isOn || !canWatchLive()) return undefined;
    return watchLive(COUNTS_ALONE, (message) => {
      if (message.kind === 'counts') setCounts((before) => [...before, message.counts].slice(-SECONDS));
      else if (message.kind === 'state' && !message.isLive) setCounts([]);
    });
  }, [isOn, sessionId]);
  if (counts.length === 0) return undefined;
  const mean = (of: (one: LiveCounts) => number): number =>
    counts.reduce((sum, one) => sum + of(one), 0) / counts.length;
  return {
    requests: mean((one) => one.requests),
    errors: mean((one) => one.errors),
    usd: mean((one) => one.cost),
    isSampled: counts.some(({ sampled }) => sampled),
  };
}
