import { useState, type FormEvent, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useChange } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { TextField } from '../../parts/field.tsx';
import { isFormValid, issueFor } from '../../parts/form.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { parseNumber } from '../../parts/number-text.ts';

export interface MadeKey {
  readonly name: string;
  readonly hash: string;
  readonly key: string;
}

/** A key of its own for one program; it is shown once, and forgotten when the page is left. */
export function KeyStep({
  made,
  onMade,
}: {
  readonly made: MadeKey | undefined;
  readonly onMade: (key: MadeKey) => void;
}): ReactElement {
  const [name, setName] = useState('my laptop');
  const [limit, setLimit] = useState('10');
  const create = useChange(
    (body: Schemas['CreateKeyRequest']) => client.POST('/keys', { body }),
    (response) =>
      response !== undefined && onMade({ name: response.data.name, hash: response.data.hash, key: response.key }),
  );
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    if (!isFormValid(event.currentTarget)) return;
    const usd = parseNumber(limit);
    create.mutate({ name, ...(usd !== undefined && { limit: usd, limit_reset: 'monthly' as const }) });
  };
  if (made !== undefined)
    return (
      <div className="flex flex-col gap-2">
        <p>This is the only time that it is shown. The settings below hold it until you leave this page.</p>
        <CodeBlock label="The new key" text={made.key} isWrapped />
      </div>
    );
  return (
    <form noValidate onSubmit={send} className="grid items-start gap-3 sm:grid-cols-[200px_200px_auto]">
      <TextField
        label="Name"
        value={name}
        error={issueFor(create.error, 'name') ?? create.error?.message}
        onChange={(event) => setName(event.target.value)}
      />
      <NumberField
        label="Limit in USD a month"
        placeholder="no limit"
        value={limit}
        error={issueFor(create.error, 'limit')}
        onChange={setLimit}
      />
      <div className="sm:pt-5">
        <Button type="submit" look="primary" disabled={create.isPending}>
          Make key
        </Button>
      </div>
    </form>
  );
}
