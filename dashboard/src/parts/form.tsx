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

/** One change of the gateway, as `useChange` makes it. */
interface Change<Input> {
  readonly mutate: (input: Input, options?: { readonly onSettled?: () => void }) => void;
  readonly isPending: boolean;
  readonly error: ApiError | null;
}

/** Whether every field of a form is valid; the first that is not gets the focus. */
export function isFormValid(form: HTMLFormElement): boolean {
  if (form.checkValidity()) return true;
  form.querySelector<HTMLElement>('input:invalid, select:invalid, textarea:invalid')?.focus();
  return false;
}

/**
 * A form in a dialog: native fields, errors beside them, the first wrong one in focus, and the request that it will send behind
 * `</>`.
 */
export function FormDialog<Input>({
  title,
  isOpen,
  onClose,
  change,
  input,
  submit,
  isReady = true,
  request,
  children,
  look = 'primary',
}: {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** What the form does, with `input`, once every field is valid. */
  readonly change: Change<Input>;
  readonly input: Input;
  readonly submit: string;
  /** Whether there is anything to send. */
  readonly isReady?: boolean;
  /** As the API gets it. */
  readonly request?: { readonly method: string; readonly path: string; readonly body?: unknown };
  readonly children: ReactNode;
  readonly look?: 'primary' | 'danger';
}): ReactElement {
  const { error, isPending } = change;
  const form = useRef<HTMLFormElement>(null);
  /** Known at once, also to a second Enter before the button is drawn anew. */
  const isSending = useRef(false);
  useEffect(() => {
    if (error !== null) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    if (isSending.current || !isReady || !isFormValid(event.currentTarget)) return;
    isSending.current = true;
    change.mutate(input, { onSettled: () => void (isSending.current = false) });
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
          <Button type="submit" look={look} disabled={isPending || !isReady}>
            {isPending ? 'Sending …' : submit}
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
  change,
  children,
}: {
  readonly what: string;
  readonly name: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly change: Change<undefined>;
  readonly children?: ReactNode;
}): ReactElement {
  const [typed, setTyped] = useState('');
  return (
    <FormDialog
      title={`Delete ${what}`}
      isOpen={isOpen}
      onClose={onClose}
      change={change}
      input={undefined}
      submit={`Delete ${what}`}
      isReady={typed === name}
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
