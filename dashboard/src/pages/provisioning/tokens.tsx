import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useChange } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { Select, TextField } from '../../parts/field.tsx';
import { DeleteDialog, FormDialog, issueFor } from '../../parts/form.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import type { Token } from './columns.tsx';

const LIVES = [
  { value: '365', label: 'in a year' },
  { value: '90', label: 'in 90 days' },
  { value: 'never', label: 'never' },
] as const;
type Life = (typeof LIVES)[number]['value'];
const DAY_MS = 86_400_000;

/** Tokens without what they are; each can be revoked. */
export function Tokens({ of }: { readonly of: readonly Token[] }): ReactElement {
  const [chosen, setChosen] = useState<Token>();
  const remove = useChange(
    () => client.DELETE('/scim/tokens/{id}', { params: { path: { id: chosen?.id ?? '' } } }),
    () => setChosen(undefined),
  );
  return (
    <>
      {of.length === 0 && (
        <p className="text-dim">None. A provider sends one with each request; at most 5 are valid.</p>
      )}
      <ul className="divide-y divide-line">
        {of.map((token) => (
          <li key={token.id} className="flex min-h-9 flex-wrap items-center gap-x-4 gap-y-0.5 py-1">
            <span className="min-w-32 flex-1">
              <span className="font-medium">
                <Name>{token.name}</Name>
              </span>{' '}
              <span className="font-mono text-xs text-dim">{token.label}</span>
            </span>
            <span className="text-dim">
              {token.last_used_at === null ? (
                'not used yet'
              ) : (
                <>
                  used <Ago at={token.last_used_at} />
                  {token.last_used_from !== null && ` from ${token.last_used_from}`}
                </>
              )}
            </span>
            <span className="text-dim">
              {token.expires_at === null ? (
                'never ends'
              ) : (
                <>
                  ends <Ago at={token.expires_at} />
                </>
              )}
            </span>
            <Button aria-label={`Revoke ${token.name}`} onClick={() => setChosen(token)}>
              Revoke
            </Button>
          </li>
        ))}
      </ul>
      <DeleteDialog
        key={chosen?.id ?? ''}
        what="token"
        name={chosen?.name ?? ''}
        isOpen={chosen !== undefined}
        onClose={() => setChosen(undefined)}
        change={remove}
      >
        The provider that sends it changes nothing here any more: users that it deactivates stay active.
      </DeleteDialog>
    </>
  );
}

/** Makes a token, which is shown once. */
export function TokenForm({
  isOpen,
  onToken,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onToken: (token: string) => void;
  readonly onClose: () => void;
}): ReactElement {
  const [name, setName] = useState('');
  const [life, setLife] = useState<Life>('365');
  const body = { name, expires_at: endOf(life) };
  const create = useChange(async (input: Schemas['CreateScimTokenRequest']) => {
    const { data } = await client.POST('/scim/tokens', { body: input });
    if (data !== undefined) onToken(data.token);
    // What is returned is kept until the page is left: not the token.
    return {};
  }, onClose);
  return (
    <FormDialog
      title="New token"
      isOpen={isOpen}
      onClose={onClose}
      change={create}
      input={body}
      submit="Make token"
      request={{ method: 'POST', path: '/scim/tokens', body }}
    >
      <TextField
        label="Name"
        value={name}
        required
        autoFocus
        maxLength={100}
        placeholder="Entra ID"
        hint="Of the provider that is to send it."
        error={issueFor(create.error, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
      <Select label="It ends" options={LIVES} value={life} onChange={setLife} />
    </FormDialog>
  );
}

/** To the day, so that the request that is shown is the one that is sent. */
function endOf(life: Life): string | null {
  if (life === 'never') return null;
  return `${new Date(Date.now() + Number(life) * DAY_MS).toISOString().slice(0, 10)}T00:00:00.000Z`;
}
