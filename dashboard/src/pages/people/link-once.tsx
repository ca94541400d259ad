import type { ReactElement } from 'react';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Button } from '../../parts/button.tsx';
import { Name } from '../../parts/text.tsx';

export interface ShownLink {
  readonly email: string;
  /** Below the address of the dashboard. */
  readonly link: string;
  readonly days: number;
}

/** A link is shown once: the gateway keeps a digest of it. */
export function LinkOnce({
  shown,
  onClose,
}: {
  readonly shown: ShownLink | undefined;
  readonly onClose: () => void;
}): ReactElement {
  return (
    <Dialog title="Hand this link over" isOpen={shown !== undefined} onClose={onClose}>
      {shown !== undefined && (
        <div className="flex flex-col gap-3">
          <p>
            For <Name>{shown.email}</Name>. It works once, within {shown.days === 1 ? 'a day' : `${shown.days} days`},
            for anyone that has it: the gateway sends no mail, and does not show it again.
          </p>
          <CodeBlock label="Link" text={location.origin + shown.link} isWrapped />
          <div className="flex justify-end">
            <Button look="primary" onClick={onClose}>
              I have it
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}
