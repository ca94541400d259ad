import { useEffect, useRef, useState, type FormEvent, type ReactElement, type ReactNode } from 'react';
import type { ApiError } from '../api/errors.ts';
import { Button } from './button.tsx';
import { CodeBlock } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { TextField } from './field.tsx';

/** The sentence for a field, from the refusal of the call: `limit` also for `limit.usd`. */
export function issueFor(error: ApiError | null | undefined, field: string): string | undefined {
  return error?.issues.find(({ path }) => path === field || path.startsWith(`${field}.`) || path.endsWith(`.${field}`))
    ?.message;
}

/**
 * A form in a dialog: native fields, errors beside them, the first wrong one in focus, and the request that it will send behind
 * `</>`.
 */
export function FormDialog({
  title,
  isOpen,
  onClose,
  onSubmit,
  submit,
  isBusy,
  error,
  request,
  children,
  look = 'primary',
}: {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onSubmit: () => void;
  readonly submit: string;
  readonly isBusy: boolean;
  readonly error: ApiError | null;
  /** As the API gets it. */
  readonly request?: { readonly method: string; readonly path: string; readonly body?: unknown };
  readonly children: ReactNode;
  readonly look?: 'primary' | 'danger';
}): ReactElement {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error !== null) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <form ref={form} onSubmit={send} noValidate className="flex flex-col gap-3">
        {children}
        {error !== null && (
          <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
            {error.message}
          </p>
        )}
        <div className="mt-1 flex items-center justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={look} disabled={isBusy}>
            {isBusy ? 'Sending …' : submit}
          </Button>
        </div>
        {request !== undefined && (
          <details>
            <summary className="inline-flex h-7 items-center text-xs text-dim hover:text-text">
              The request that this sends
            </summary>
            <CodeBlock
              label="Request"
              text={`${request.method} /v1${request.path}${request.body === undefined ? '' : `\n${JSON.stringify(request.body, undefined, 2)}`}`}
            />
          </details>
        )}
      </form>
    </Dialog>
  );
}

/** What cannot be undone wants a name typed. */
export function DeleteDialog({
  what,
  name,
  isOpen,
  onClose,
  onDelete,
  isBusy,
  error,
  children,
}: {
  readonly what: string;
  readonly name: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onDelete: () => void;
  readonly isBusy: boolean;
  readonly error: ApiError | null;
  readonly children?: ReactNode;
}): ReactElement {
  const [typed, setTyped] = useState('');
  return (
    <FormDialog
      title={`Delete ${what}`}
      isOpen={isOpen}
      onClose={onClose}
      onSubmit={() => typed === name && onDelete()}
      submit={`Delete ${what}`}
      isBusy={isBusy || typed !== name}
      error={error}
      look="danger"
    >
      <p>This cannot be undone. {children}</p>
      <TextField
        label={`Type “${name}” to delete it`}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        autoFocus
      />
    </FormDialog>
  );
}
