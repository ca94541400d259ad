import type { ReactElement } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { Kbd } from '../parts/button.tsx';

const KEYS: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'find anything'],
  ['/', 'filter this page'],
  ['j k', 'next row, previous row'],
  ['Enter', 'open the row'],
  ['Space', 'peek at the row'],
  ['[ ]', 'previous and next of the filtered list'],
  ['n', 'new'],
  ['c', 'copy the link to what you see'],
  ['t', 'dark or light'],
  ['p', 'pause or go on with the tail'],
  ['Esc', 'close the topmost'],
  ['?', 'this list'],
];

export function Help({
  isOpen,
  onClose,
  pages,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly pages: readonly (readonly [string, string])[];
}): ReactElement {
  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={onClose} width="max-w-2xl">
      <div className="grid gap-x-8 gap-y-1 sm:grid-cols-2">
        <List of={KEYS} title="Everywhere" />
        <List of={pages.map(([key, title]) => [`g ${key}`, title] as const)} title="Go to" />
      </div>
      <p className="mt-4 text-xs text-dim">
        Single letters do nothing inside fields. Settings turns them off as a whole.
      </p>
    </Dialog>
  );
}

function List({
  of,
  title,
}: {
  readonly of: readonly (readonly [string, string])[];
  readonly title: string;
}): ReactElement {
  return (
    <div>
      <h3 className="mb-1 text-xs font-semibold text-dim uppercase">{title}</h3>
      <dl>
        {of.map(([key, what]) => (
          <div key={key} className="flex min-h-7 items-center justify-between gap-4 border-b border-line">
            <dd>{what}</dd>
            <dt>
              <Kbd>{key}</Kbd>
            </dt>
          </div>
        ))}
      </dl>
    </div>
  );
}
