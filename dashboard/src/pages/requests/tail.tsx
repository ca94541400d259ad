import type { ReactElement } from 'react';
import type { Tail } from '../../api/live/tail.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { formatCount } from '../../parts/money.ts';
import { formatClock } from '../../parts/time.ts';

/** `p` begins the tail, pauses it, and goes on. */
export function TailButtons({
  isTailing,
  isPaused,
  waiting,
  onToggle,
  onEnd,
}: {
  readonly isTailing: boolean;
  readonly isPaused: boolean;
  readonly waiting: number;
  readonly onToggle: () => void;
  readonly onEnd: () => void;
}): ReactElement {
  return (
    <>
      <Button
        icon={isTailing && !isPaused ? 'pause' : 'play'}
        hotkey="p"
        aria-pressed={isTailing && !isPaused}
        onClick={onToggle}
      >
        {!isTailing ? 'Tail' : isPaused ? `Show ${formatCount(waiting)} waiting` : 'Pause'}
      </Button>
      {isTailing && <IconButton icon="close" label="End the tail" onClick={onEnd} />}
    </>
  );
}

/** What a tail lacks: nothing of it is silent. */
export function TailNotes({
  tail,
  onReadAgain,
}: {
  readonly tail: Tail;
  readonly onReadAgain: () => void;
}): ReactElement {
  const { isLive, awaySinceMs, isSampled, missed, isGapOpen } = tail;
  const notes = [
    ...(awaySinceMs === undefined
      ? []
      : [`The live view is away since ${formatClock(new Date(awaySinceMs))}; it is opened again.`]),
    ...(isSampled ? ['More than 1,000 requests a second: some are not shown here. Sums and lists have all.'] : []),
    ...(missed > 0 ? [`Missed ${formatCount(missed)} ${missed === 1 ? 'row' : 'rows'}.`] : []),
    ...(isGapOpen ? ['Rows are missing since this page was not looked at, or its connection broke.'] : []),
  ];
  return (
    <div aria-live="polite">
      {notes.length > 0 && (
        <div className="flex flex-wrap items-center gap-3 border-b border-line bg-warn-soft px-4 py-1 text-warn">
          <span>{notes.join(' ')}</span>
          {(missed > 0 || isGapOpen) && <Button onClick={onReadAgain}>Read the list again</Button>}
        </div>
      )}
      <span className="sr-only">{isLive ? 'The tail is live.' : ''}</span>
    </div>
  );
}
