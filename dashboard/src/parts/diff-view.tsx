import { diffLines } from 'diff';
import type { ReactElement } from 'react';

/** The lines that went and came: each has a sign, so that the colour only underlines it. */
export function DiffView({
  before,
  after,
  label,
}: {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}): ReactElement {
  const changes = diffLines(before, after);
  const lines = changes.flatMap(({ value, added, removed }) =>
    value
      .replace(/\n$/, '')
      .split('\n')
      .map((text) => ({ text, sign: added ? '+' : removed ? '-' : ' ' })),
  );
  return (
    <pre
      tabIndex={0}
      aria-label={label}
      className="max-h-96 overflow-auto rounded-md border border-line bg-page py-2 font-mono text-xs leading-[18px]"
    >
      {lines.map(({ text, sign }, at) => (
        <span
          key={at}
          className={`block px-3 ${sign === '+' ? 'bg-good-soft text-good' : sign === '-' ? 'bg-bad-soft text-bad' : ''}`}
        >
          {sign} {text}
        </span>
      ))}
    </pre>
  );
}
